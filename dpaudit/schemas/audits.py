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
from dpaudit.json_schema import Keywords
from dpaudit.model.audit_result import AuditVerdict, PowerKind
from dpaudit.model.scores_result import Sampling, ScoresVerdict
from dpaudit.model.synthesizer_result import RiskName
from dpaudit.schemas.values import (
    AnyMeasure,
    Counts,
    Digest,
    FalseAlarm,
    FiniteClaim,
    MeasuredBounds,
    MeasuredClaim,
    NamedBound,
    Rates,
    TradeOffCurve,
)

Score = Annotated[float | Literal["inf", "-inf"], "A score; infinite ones are strings."]


class Power(TypedDict):
    """What the audit would have caught, as far as it was measured."""

    epsilon: NonNegativeOrInfinite
    probability: Share
    error: Annotated[Share, "Probability that this statement is wrong."]
    kind: PowerKind
    repetitions: Natural


class Coverage(TypedDict):
    """What the audit saw of the program that it belongs to; absent where it belongs to none."""

    declared: Annotated[list[str], "The labels of all declared releases."]
    attacked: Annotated[list[str], "Those whose exact answer differs between the neighbours of the audit."]
    recorded: Annotated[bool, "Whether the code of the audit records its releases; without, nothing is known of them."]
    lines: Annotated[Natural, "Lines of the program's own modules that an ordinary run executes."]
    missed: Annotated[list[str], "Those that the audit did not execute, as file:first-last."]


class Against(TypedDict):
    """What the bound was compared with."""

    claim: FiniteClaim | MeasuredClaim
    certificate: NonNegativeOrInfinite


class FollowedPlan(TypedDict):
    """The plan that the audit was bound to before it ran; absent where there was none."""

    digest: Digest
    departures: Annotated[list[str], "Everything in which the audit departed from the plan."]


class TestedNumber(TypedDict):
    """One number of a claim, and what was measured of it."""

    at: NotRequired[Annotated[NonNegative, "The order of a Renyi divergence, or the epsilon of a point."]]
    claimed: NonNegativeOrInfinite
    lower: NonNegativeOrInfinite


class Tested(TypedDict):
    """The test of a claim in its own measure: limits of one event's rates, and what they show of every number."""

    measure: AnyMeasure
    numbers: Annotated[list[TestedNumber], Keywords({"minItems": 1})]
    true_positive_rate: Share
    false_positive_rate: Share
    significance: OpenProbability
    implied_epsilon: Annotated[NonNegativeOrInfinite, "The epsilon that follows from the claim at the audit's delta."]


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
    coverage: NotRequired[Coverage]
    view: str
    attack: str
    bound: str
    bounds: list[NamedBound]
    counts: Counts
    seed: NotRequired[int]
    against: Against
    description: str
    seconds: NonNegative
    roc: list[Rates]
    measured: MeasuredBounds
    curve: TradeOffCurve
    plan: NotRequired[FollowedPlan]
    tested: NotRequired[Tested]


class DeclaredRule(TypedDict):
    """The rule that was stated before the scores were read."""

    text: str
    refuted: bool
    significance: FalseAlarm


class ScoresAgainst(TypedDict):
    """What the scores were compared with."""

    claim: FiniteClaim
    declared: NotRequired[DeclaredRule]


class AreaUnderCurve(TypedDict):
    """The area under the curve of false and true positive rates, and the most that the claim allows."""

    value: Share
    allowed: Share
    lower: NotRequired[Share]
    upper: NotRequired[Share]
    delong: NotRequired[Annotated[tuple[Share, Share], "Asymptotic; decides nothing."]]


class RateAt(TypedDict):
    """The true positive rate at one false positive rate, and the most that the claim allows."""

    false_positive_rate: Share
    measured: Share
    randomised: Share
    allowed: Share
    lower: NotRequired[Share]
    upper: NotRequired[Share]


class RawEstimate(TypedDict):
    """An estimate from raw counts; no bound."""

    epsilon: NonNegativeOrInfinite
    least: Natural
    threshold: NotRequired[Score]


class Threshold(TypedDict):
    """A threshold, its counts, and limits that hold at all thresholds together."""

    threshold: Score
    false_positives: Natural
    true_positives: Natural
    false_positive_rate: NotRequired[tuple[Share, Share]]
    true_positive_rate: NotRequired[tuple[Share, Share]]


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
    bounds: list[NamedBound]
    counts: Counts
    against: ScoresAgainst
    auroc: AreaUnderCurve
    rates: list[RateAt]
    raw: RawEstimate
    roc: list[Threshold]
    measured: MeasuredBounds
    curve: TradeOffCurve


class ScoresFile(TypedDict):
    """An audit of membership scores of the same claim; 'digest' is the file's SHA-256."""

    file: str
    digest: Digest
    result: ScoresDocument


class PlannedAudit(TypedDict):
    """One audit of a plan."""

    number: Natural
    name: str
    view: str
    pair: Annotated[Digest, "Content address of code, data sets and versions."]
    attack: str
    bounds: Annotated[list[str], "The bounds that may decide."]
    measured: Annotated[list[str], "Statistics in other measures, which decide nothing."]
    runs: Count
    significance: OpenProbability
    seed: Annotated[Digest, "SHA-256 of salt, seed and number."]


class PlanDocument(TypedDict):
    """What binds a list of audits before they run; its digest is published beforehand."""

    schema: Literal["urn:dpaudit:schema:plan:1"]
    claim: FiniteClaim
    configuration: Annotated[str, "SHA-256 of the text of the configuration; empty where there is none."]
    significance: Annotated[OpenProbability, "Probability that any audit of the list flags right code."]
    salt: str
    audits: list[PlannedAudit]
    digest: Digest


class RiskRate(TypedDict):
    """How often an attack was right."""

    attacks: Count
    right: Natural
    limits: Annotated[
        list[Share],
        Keywords({"minItems": 2, "maxItems": 2}),
        "Exact limits (Clopper and Pearson), each wrong with half of the significance.",
    ]


class Risk(TypedDict):
    """One disclosure risk of a table, beside the rate on records that it was not made from."""

    name: RiskName
    rate: RiskRate
    base: RiskRate
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
