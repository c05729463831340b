"""Audits: of code, of scores and of a synthesizer, and the plan that binds them."""

from typing import Literal, NotRequired, TypedDict

from dpaudit.checks import NonNegativeOrInfinite, Share
from dpaudit.configuration.audit_plan import AuditPlan
from dpaudit.json_schema import Digest
from dpaudit.model.audit_result import AuditResult
from dpaudit.model.scores_result import DeclaredTradeOff, ScoresResult
from dpaudit.model.synthesizer_result import DisclosureRisk, SynthesizerResult
from dpaudit.schemas import values
from dpaudit.schemas.tables import Tables
from dpaudit.schemas.values import FiniteClaim, MeasuredClaim


class Against(TypedDict):
    """What the bound was compared with."""

    claim: FiniteClaim | MeasuredClaim
    certificate: NonNegativeOrInfinite


class AuditDocument(TypedDict):
    """A lower bound on the epsilon that an implementation delivers, and how far the audit could have seen.

    `ceiling`: the most that any attack could show with so many runs; `blind_delta`: a leak of this probability is
    missing from the counted runs with probability `significance`.
    """

    schema: Literal["urn:dpaudit:schema:audit:6"]
    blind_delta: Share
    against: Against


class ScoresAgainst(TypedDict):
    """What the scores were compared with."""

    claim: FiniteClaim
    declared: NotRequired[DeclaredTradeOff]


class ScoresDocument(TypedDict):
    """What membership-inference scores show against a claim, under a stated sampling.

    `ceiling`: the most that any scores could show with so many by this rule; `rule`: what was counted.
    """

    schema: Literal["urn:dpaudit:schema:scores:4"]
    against: ScoresAgainst


class ScoresFile(TypedDict):
    """An audit of membership scores of the same claim; 'digest' is the file's SHA-256."""

    file: str
    digest: Digest
    result: ScoresDocument


class PlanDocument(TypedDict):
    """What binds a list of audits before they run; its digest is published beforehand.

    `configuration`: SHA-256 of the text of the configuration; empty where there is none; `significance`: probability
    that any audit of the list flags right code.
    """

    schema: Literal["urn:dpaudit:schema:plan:2"]
    claim: FiniteClaim | MeasuredClaim
    digest: Digest


class Risk(TypedDict):
    """One disclosure risk of a table, beside the rate on records that it was not made from."""

    above_base: bool


class Disclosure(TypedDict):
    """Rates of attacks on one table; no verdict rests on them, and they bound no epsilon.

    `unmeasured`: why there are no risks; empty where there are.
    """


class SynthesizerDocument(TypedDict):
    """The audit of a synthesizer's claim, and beside it the disclosure risks of one synthetic table."""

    schema: Literal["urn:dpaudit:schema:synthesizer:1"]
    audit: AuditDocument
    disclosure: Disclosure


TABLES = values.TABLES | Tables(
    documents={
        "audit": AuditDocument,
        "plan": PlanDocument,
        "scores": ScoresDocument,
        "synthesizer": SynthesizerDocument,
    },
    sources={
        AuditDocument: (AuditResult, ("claim", "certified")),
        Disclosure: (SynthesizerResult, ("audit",)),
        PlanDocument: (AuditPlan, ()),
        Risk: (DisclosureRisk, ()),
        ScoresDocument: (ScoresResult, ("claim", "declared")),
    },
    written_as={DisclosureRisk: Risk},
)
