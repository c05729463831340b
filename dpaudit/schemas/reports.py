"""Reports, accounts of a ledger, and privacy curves."""

from datetime import date
from typing import Annotated, Any, Literal, NotRequired, TypedDict

from dpaudit.accounting.curves.table import CurveKind
from dpaudit.checks import (
    Count,
    Natural,
    NonNegative,
    NonNegativeOrInfinite,
    ProbabilityBelowOne,
    Share,
    Spelled,
)
from dpaudit.json_schema import Digest, Keywords, Text
from dpaudit.ledger.account import Rule
from dpaudit.model.readings import Tight
from dpaudit.report.compliance.fields import Section
from dpaudit.report.cover_lines import CoverLine
from dpaudit.report.curves import Gain
from dpaudit.report.derivation import Row
from dpaudit.report.marks import Mark
from dpaudit.report.not_assessed import NotAssessed
from dpaudit.report.verdicts import Word
from dpaudit.schemas import audits, certificate
from dpaudit.schemas.audits import AuditDocument, PlanDocument, ScoresFile
from dpaudit.schemas.certificate import CertificateDocument
from dpaudit.schemas.tables import Tables
from dpaudit.schemas.values import AnyClaim, Bracket, Claim, Extended
from dpaudit.training import Training
from dpaudit.training.evidence import LoopAudit, ModelAttack

Nothing = Annotated[dict[str, Any], Keywords({"maxProperties": 0})]


class SystemOfReport(TypedDict):
    """The system that the report is about."""

    name: str
    unit: Text
    description: str


class Reading(TypedDict):
    """What follows in epsilon and delta from a claim in another measure; absent for other claims."""

    claim: Claim
    tight: Tight


class NodeRow(TypedDict):
    """One row a node; with `ends` where the claim has another measure than epsilon and delta, else with `delta`.

    `theorems`: what each rule that is used at the node rests on; empty for a row that stands for others.
    """

    delta: NotRequired[ProbabilityBelowOne]


class CurvePoint(TypedDict):
    """A bracket on delta at one epsilon."""

    epsilon: NonNegative
    delta: Bracket


class ProfileCurve(TypedDict):
    """The points of the privacy profile, or why there are none."""

    points: list[CurvePoint]
    unavailable: str


class TradeOff(TypedDict):
    """The highest true positive rate that any test can reach, under the claim and under the certificate."""

    false_positive_rate: Share
    claim: Share
    certificate: Share


class TheoremCount(TypedDict):
    """What one theorem has counted of a budget.

    `on_trust`: what of the amount somebody else states.
    """

    theorem: str
    delta: NotRequired[ProbabilityBelowOne]
    spent: NonNegativeOrInfinite
    limit: NonNegativeOrInfinite
    mass_spent: NonNegativeOrInfinite
    mass_limit: NonNegativeOrInfinite
    share: NonNegativeOrInfinite
    epsilon_so_far: NotRequired[NonNegativeOrInfinite]
    source: str
    on_trust: NonNegative
    rho_so_far: NotRequired[NonNegativeOrInfinite]
    mu_so_far: NotRequired[NonNegativeOrInfinite]
    renyi_so_far: NotRequired[NonNegativeOrInfinite]


class Booking(TypedDict):
    """One booking of an account.

    `counted`: by which rule each theorem counts the booking.
    """

    sequence: Count
    label: str
    created: str
    certificate: str
    claim: AnyClaim
    on_trust: bool
    counted: NotRequired[dict[str, str]]


class Account(TypedDict):
    """An account of a budget ledger, with what each theorem has counted."""

    name: Text
    budget: AnyClaim
    rule: Rule
    refresh: str
    counts: list[TheoremCount]
    stopped: list[str]
    bookings: list[Booking]


class AccountAt(Account):
    """An account of a budget ledger, with the head of the ledger that it was read from."""

    head: Digest


class GlossaryEntry(TypedDict):
    """A word and its sense."""

    word: str
    sense: str


class TailInReleases(TypedDict):
    """The same for somebody who sees the noisy release itself; null where no closed form is known."""

    probability_above_epsilon: Share | None
    epsilon_exceeded_with_delta: NonNegativeOrInfinite | None


class Tail(TypedDict):
    """Bounds on the tail of the privacy loss L = ln(dP/dQ) of the declaration.

    `probability_above_epsilon`: an upper bound on P(L > epsilon) of the claim's epsilon, for both orders and for
    whatever is computed from the outputs; `epsilon_exceeded_with_delta`: an epsilon that the privacy loss exceeds with
    probability at most the claim's delta.
    """

    probability_above_epsilon: Share
    epsilon_exceeded_with_delta: NonNegativeOrInfinite
    in_releases: TailInReleases


class Person(TypedDict):
    """The epsilon of all units of one person together, at the claim's delta; null where no rule covers them."""

    units: Count
    epsilon: NonNegativeOrInfinite | None


class MarkedCondition(TypedDict):
    """The mark of a condition of the certificate."""

    number: Count
    mark: Mark
    because: str


class ReportDocument(TypedDict):
    """A certificate and the audits that go with it, with all that is derived from them.

    `derivation`: one row a node, equal siblings told once; `conditions` are places in the certificate's list;
    `sections`: sections 0 to 13, 9a (privacy and usefulness), A, and 7a (membership scores) where there are scores:
    every field with what its value rests on; `ledger`: an account of a budget ledger; empty where none was given;
    `cover`: the lines of the cover: what is claimed, proved, measured, not assessed and left to confirm; `word`: the
    word of the verdict as the page prints it; `own_unit`: what the algorithm calls a unit, where the owner calls it
    otherwise; `number_of_units`: what the algorithm knows of its number of units; `units_per_person`: what the problem
    knows of the units of one person; `marks`: the mark of each condition of the certificate, in order;
    `digest_to_sign`: SHA-256 of this report without title, date, command, environment, times of audits and itself;
    `void`: why no upper bound is known of the code; empty where one is.
    """

    schema: Literal["urn:dpaudit:schema:report:10"]
    title: str
    created: date
    system: SystemOfReport
    verdict: Word
    sentence: str
    reasons: list[str]
    caveats: list[str]
    meaning: str
    certificate: CertificateDocument
    reading: NotRequired[Reading]
    audits: list[AuditDocument]
    scores: list[ScoresFile]
    derivation: list[Annotated[NodeRow, Keywords({"oneOf": [{"required": ["delta"]}, {"required": ["ends"]}]})]]
    curve: ProfileCurve
    trade_off: list[TradeOff]
    gains: list[Gain]
    not_assessed: list[NotAssessed]
    notes: list[str]
    command: str
    config: str
    disclaimer: Text
    sections: Annotated[list[Section], Keywords({"minItems": 15, "maxItems": 17})]
    ledger: Nothing | AccountAt
    code: str
    environment: dict[str, str]
    proved: str
    cover: list[CoverLine]
    glossary: list[GlossaryEntry]
    word: Word | Literal["PROVED", "PROVED WITH CAVEATS"]
    tail: Tail | Nothing
    person: Person | Nothing
    own_unit: str
    number_of_units: Count | None
    units_per_person: Count | None
    marks: list[MarkedCondition]
    digest_to_sign: Digest
    void: str
    plan: NotRequired[PlanDocument]


class Complaint(TypedDict):
    """What is wrong with the chain of a ledger."""

    rule: Annotated[str, Spelled("DPA5[0-9]{2}")]
    sequence: Count
    message: Text


class LedgerDocument(TypedDict):
    """What a budget ledger says: every account with what each theorem has counted, and whether the chain is intact."""

    entries: Natural
    head: Annotated[str, Spelled("([0-9a-f]{64}|unknown)")]
    intact: bool
    complaints: list[Complaint]
    accounts: list[Account]


class NamedRange(TypedDict):
    """A number of the curve that is known between two ends."""

    name: str
    lower: Extended
    upper: Extended


class CurveDocument(TypedDict):
    """A privacy curve of a declaration: columns named lower are not above the truth, columns named upper not below."""

    schema: Literal["urn:dpaudit:schema:curve:1"]
    kind: CurveKind
    meaning: str
    claim: Claim
    certificate: Digest
    columns: list[str]
    rows: list[list[Extended]]
    ranges: list[NamedRange]
    notes: list[str]


class TrainingDocument(TypedDict):
    """The certificate of a declared training run, the audit of its loop, attacks on the model, and the rest.

    `digest`: SHA-256 of everything else in canonical JSON.
    """

    schema: Literal["urn:dpaudit:schema:training:2"]
    name: str
    verdict: Literal["CERTIFIED", "CERTIFIED WITH CAVEATS", "STATED", "NOT PROVED", "REFUTED", "VIOLATION"]
    training: Training
    loop: LoopAudit
    attacks: list[ModelAttack]
    not_covered: list[str]
    certificate: CertificateDocument
    digest: Digest


TABLES = (
    audits.TABLES
    | certificate.TABLES
    | Tables(
        documents={
            "curve": CurveDocument,
            "ledger": LedgerDocument,
            "report": ReportDocument,
            "training": TrainingDocument,
        },
        sources={NodeRow: (Row, ())},
    )
)
