"""Audits: of code, of scores and of a synthesizer, and the plan that binds them."""

from typing import Annotated, Literal, NotRequired, TypedDict

from dpaudit.checks import (
    Count,
    Natural,
    NonNegative,
    NonNegativeOrInfinite,
    OpenProbability,
    ProbabilityBelowOne,
    Share,
)
from dpaudit.configuration.audit_plan import PlannedAudit
from dpaudit.json_schema import Digest
from dpaudit.model.audit_result import AuditVerdict, Counts, FollowedPlan, LowerBound, MeasureTest, Power
from dpaudit.model.case import AuditCoverage
from dpaudit.model.scores_result import (
    AreaUnderRoc,
    DeclaredTradeOff,
    RateAt,
    RawEpsilon,
    RocPoint,
    Sampling,
    ScoresVerdict,
)
from dpaudit.model.synthesizer_result import AttackRate, RiskName
from dpaudit.schemas.values import FalseAlarm, FiniteClaim, MeasuredBounds, MeasuredClaim, Rates, TradeOffCurve

Score = Annotated[float | Literal["inf", "-inf"], "A score; infinite ones are strings."]


class Against(TypedDict):
    """What the bound was compared with."""

    claim: FiniteClaim | MeasuredClaim
    certificate: NonNegativeOrInfinite


class AuditDocument(TypedDict):
    """A lower bound on the epsilon that an implementation delivers, and how far the audit could have seen."""

    schema: Literal["urn:dpaudit:schema:audit:5"]
    name: str
    verdict: AuditVerdict
    epsilon_lower: NonNegative
    delta: ProbabilityBelowOne
    significance: FalseAlarm
    runs: Count
    ceiling: Annotated[NonNegativeOrInfinite, "The most that any attack could show with so many runs."]
    power: Power
    blind_delta: Annotated[
        Share, "A leak of this probability is missing from the counted runs with probability `significance`."
    ]
    remarks: list[str]
    coverage: NotRequired[AuditCoverage]
    view: str
    attack: str
    bound: str
    bounds: list[LowerBound]
    counts: Counts
    seed: NotRequired[int]
    against: Against
    description: str
    seconds: NonNegative
    roc: list[Rates]
    measured: MeasuredBounds
    curve: TradeOffCurve
    plan: NotRequired[FollowedPlan]
    tested: NotRequired[MeasureTest]


class ScoresAgainst(TypedDict):
    """What the scores were compared with."""

    claim: FiniteClaim
    declared: NotRequired[DeclaredTradeOff]


class ScoresDocument(TypedDict):
    """What membership-inference scores show against a claim, under a stated sampling."""

    schema: Literal["urn:dpaudit:schema:scores:3"]
    verdict: ScoresVerdict
    sampling: Sampling
    epsilon_lower: NonNegative
    delta: ProbabilityBelowOne
    significance: FalseAlarm
    members: Count
    others: Count
    ceiling: Annotated[NonNegativeOrInfinite, "The most that any scores could show with so many by this rule."]
    rule: Annotated[str, "What was counted."]
    bound: str
    bounds: list[LowerBound]
    counts: Counts
    against: ScoresAgainst
    auroc: AreaUnderRoc
    rates: list[RateAt]
    raw: RawEpsilon
    roc: list[RocPoint]
    measured: MeasuredBounds
    curve: TradeOffCurve


class ScoresFile(TypedDict):
    """An audit of membership scores of the same claim; 'digest' is the file's SHA-256."""

    file: str
    digest: Digest
    result: ScoresDocument


class PlanDocument(TypedDict):
    """What binds a list of audits before they run; its digest is published beforehand."""

    schema: Literal["urn:dpaudit:schema:plan:1"]
    claim: FiniteClaim
    configuration: Annotated[str, "SHA-256 of the text of the configuration; empty where there is none."]
    significance: Annotated[OpenProbability, "Probability that any audit of the list flags right code."]
    salt: str
    audits: list[PlannedAudit]
    digest: Digest


class Risk(TypedDict):
    """One disclosure risk of a table, beside the rate on records that it was not made from."""

    name: RiskName
    rate: AttackRate
    base: AttackRate
    significance: OpenProbability
    above_base: bool


class Disclosure(TypedDict):
    """Rates of attacks on one table; no verdict rests on them, and they bound no epsilon."""

    records: Natural
    controls: Natural
    unmeasured: Annotated[str, "Why there are no risks; empty where there are."]
    risks: list[Risk]


class SynthesizerDocument(TypedDict):
    """The audit of a synthesizer's claim, and beside it the disclosure risks of one synthetic table."""

    schema: Literal["urn:dpaudit:schema:synthesizer:1"]
    audit: AuditDocument
    disclosure: Disclosure
