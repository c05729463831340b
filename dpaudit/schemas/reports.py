"""Reports, accounts of a ledger, and privacy curves."""

from typing import Annotated, Any, Literal, NotRequired, TypedDict

from dpaudit.accounting.curves.table import CurveKind
from dpaudit.checks import (
    Count,
    Natural,
    NonNegative,
    NonNegativeOrInfinite,
    OpenProbability,
    ProbabilityBelowOne,
    Share,
)
from dpaudit.json_schema import Digest, Keywords, Text
from dpaudit.ledger.account import Rule
from dpaudit.model.audit_result import AuditVerdict
from dpaudit.model.declaration import Printed
from dpaudit.model.readings import Tight
from dpaudit.model.trace import Finding
from dpaudit.report.compliance.fields import Section, Status
from dpaudit.report.cover_lines import CoverLine
from dpaudit.report.curves import Gain
from dpaudit.report.marks import Mark
from dpaudit.report.not_assessed import NotAssessed
from dpaudit.report.verdicts import Word
from dpaudit.schemas.audits import AuditDocument, PlanDocument, ScoresFile
from dpaudit.schemas.certificate import CertificateDocument
from dpaudit.schemas.values import AnyClaim, Bracket, Claim, Day, Extended, MeasuredEnds
from dpaudit.training import Training
from dpaudit.wording.references import Reference

StatedBy = Annotated[Status, "Computed or measured here; said by a person; nobody looked; does not apply."]
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
    """One row a node; with `ends` where the claim has another measure than epsilon and delta, else with `delta`."""

    path: str
    depth: Natural
    node: str
    name: str
    rule: str
    alike: Count
    sensitivity: str
    noise: str
    printed: NotRequired[Printed]
    delta: NotRequired[ProbabilityBelowOne]
    epsilon: NotRequired[Bracket]
    conditions: list[Natural]
    theorems: Annotated[
        list[Reference], "What each rule that is used at the node rests on; empty for a row that stands for others."
    ]
    ends: NotRequired[MeasuredEnds]


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
    """What one theorem has counted of a budget."""

    theorem: str
    delta: NotRequired[ProbabilityBelowOne]
    spent: NonNegativeOrInfinite
    limit: NonNegativeOrInfinite
    mass_spent: NonNegativeOrInfinite
    mass_limit: NonNegativeOrInfinite
    share: NonNegativeOrInfinite
    epsilon_so_far: NotRequired[NonNegativeOrInfinite]
    source: str
    on_trust: Annotated[NonNegative, "What of the amount somebody else states."]
    rho_so_far: NotRequired[NonNegativeOrInfinite]
    mu_so_far: NotRequired[NonNegativeOrInfinite]


class Booking(TypedDict):
    """One booking of an account."""

    sequence: Count
    label: str
    created: str
    certificate: str
    claim: AnyClaim
    on_trust: bool
    counted: NotRequired[Annotated[dict[str, str], "By which rule each theorem counts the booking."]]


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
    """Bounds on the tail of the privacy loss L = ln(dP/dQ) of the declaration."""

    probability_above_epsilon: Annotated[
        Share,
        "An upper bound on P(L > epsilon) of the claim's epsilon, for both orders and for whatever is computed from "
        "the outputs.",
    ]
    epsilon_exceeded_with_delta: Annotated[
        NonNegativeOrInfinite, "An epsilon that the privacy loss exceeds with probability at most the claim's delta."
    ]
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
    """A certificate and the audits that go with it, with all that is derived from them."""

    schema: Literal["urn:dpaudit:schema:report:10"]
    title: str
    created: Day
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
    derivation: Annotated[
        list[Annotated[NodeRow, Keywords({"oneOf": [{"required": ["delta"]}, {"required": ["ends"]}]})]],
        "One row a node, equal siblings told once; `conditions` are places in the certificate's list.",
    ]
    curve: ProfileCurve
    trade_off: list[TradeOff]
    gains: list[Gain]
    not_assessed: list[NotAssessed]
    notes: list[str]
    command: str
    config: str
    disclaimer: Text
    sections: Annotated[
        list[Section],
        Keywords({"minItems": 15, "maxItems": 17}),
        "Sections 0 to 13, 9a (privacy and usefulness), A, and 7a (membership scores) where there are scores: every "
        "field with what its value rests on.",
    ]
    ledger: Annotated[Nothing | AccountAt, "An account of a budget ledger; empty where none was given."]
    code: str
    environment: dict[str, str]
    proved: str
    cover: Annotated[
        list[CoverLine], "The lines of the cover: what is claimed, proved, measured, not assessed and left to confirm."
    ]
    glossary: list[GlossaryEntry]
    word: Annotated[Word | Literal["PROVED", "PROVED WITH CAVEATS"], "The word of the verdict as the page prints it."]
    tail: Tail | Nothing
    person: Person | Nothing
    own_unit: Annotated[str, "What the algorithm calls a unit, where the owner calls it otherwise."]
    number_of_units: Annotated[Count | None, "What the algorithm knows of its number of units."]
    units_per_person: Annotated[Count | None, "What the problem knows of the units of one person."]
    marks: Annotated[list[MarkedCondition], "The mark of each condition of the certificate, in order."]
    digest_to_sign: Annotated[
        Digest, "SHA-256 of this report without title, date, command, environment, times of audits and itself."
    ]
    void: Annotated[str, "Why no upper bound is known of the code; empty where one is."]
    plan: NotRequired[PlanDocument]


class Complaint(TypedDict):
    """What is wrong with the chain of a ledger."""

    rule: Annotated[str, Keywords({"pattern": "^DPA5[0-9]{2}$"})]
    sequence: Count
    message: Text


class LedgerDocument(TypedDict):
    """What a budget ledger says: every account with what each theorem has counted, and whether the chain is intact."""

    entries: Natural
    head: Annotated[str, Keywords({"pattern": "^([0-9a-f]{64}|unknown)$"})]
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


LoopVerdict = AuditVerdict | Literal["more_noise"]


class LoopCheck(TypedDict):
    """One check of a training loop."""

    name: str
    verdict: LoopVerdict
    epsilon_lower: Extended
    noise_caught: Annotated[
        NonNegative, "The largest factor of missing noise that the check would have found; 0 if none."
    ]
    sentence: str


class LoopAudit(TypedDict):
    """The audit of a training loop."""

    verdict: LoopVerdict
    significance: OpenProbability
    watched: list[str]
    not_observed: list[str]
    not_trained: list[str]
    findings: list[Finding]
    checks: list[LoopCheck]


class ModelAttack(TypedDict):
    """One attack on the trained model."""

    name: str
    verdict: LoopVerdict
    epsilon_lower: Extended
    significance: OpenProbability


class TrainingDocument(TypedDict):
    """The certificate of a declared training run, the audit of its loop, attacks on the model, and the rest."""

    schema: Literal["urn:dpaudit:schema:training:1"]
    name: str
    verdict: Literal["CERTIFIED", "CERTIFIED WITH CAVEATS", "STATED", "NOT PROVED", "REFUTED", "VIOLATION"]
    training: Training
    loop: LoopAudit
    attacks: list[ModelAttack]
    not_covered: list[str]
    certificate: CertificateDocument
    digest: Annotated[Digest, "SHA-256 of everything else in canonical JSON."]
