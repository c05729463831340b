"""Studies: usefulness by contender, epsilon and horizon."""

from typing import Annotated, Any, Literal, TypedDict

from dpaudit.json_schema import Keywords
from dpaudit.model.claim import Model, Neighbours
from dpaudit.model.readings import Verdict
from dpaudit.schemas.tables import Tables
from dpaudit.study.contrasts import Visible
from dpaudit.study.study import Role

Number = float | Literal["inf", "-inf"] | None


class Contender(TypedDict):
    """One contender."""

    label: str
    role: Role
    algorithm: dict[str, Any]
    tune: dict[str, Any]


class Interval(TypedDict):
    """A mean with its interval."""

    mean: Number
    error: Number
    lower: Number
    upper: Number
    count: int


class RegretLowerBound(TypedDict):
    """What no algorithm can beat on a family of problems."""

    regret: float
    instances: int
    family: str
    source: str
    worst: Interval | None
    ratio: Number


class RegretUpperBound(TypedDict):
    """What the paper promises."""

    regret: float
    most: float
    log10_from: Number
    source: str


class InformationGain(TypedDict):
    """The information gain of a kernel."""

    lower: float
    upper: float
    without_kernel: float


class Row(TypedDict):
    """One contender at one epsilon and one horizon."""

    label: str
    algorithm: str
    family: str
    role: Role
    model: Literal[""] | Model
    claim: Number
    epsilon: Number
    person_epsilon: Number
    unit: str
    certificate: str
    verdict: Literal[""] | Verdict
    remark: str
    config: str
    T: int
    regret: Interval
    uniform: Number
    myopic: Number
    share: Number
    lost: Number
    floor: str | None
    minus_floor: Interval | None
    visible: Visible | None
    lower_bound: RegretLowerBound | None
    upper_bound: RegretUpperBound | None
    information_gain: InformationGain | None


class Dominance(TypedDict):
    """One contender that is better than another one."""

    better: str
    better_claim: Number
    worse: str
    worse_claim: Number
    T: int
    difference: Interval


class Exponent(TypedDict):
    """A fitted exponent, or why there is none."""

    label: str
    epsilon: Number
    variable: Literal["horizon", "epsilon"]
    fit: str
    horizon: Number
    slope: Number
    lower: Number
    upper: Number
    points: list[float]
    root: Number
    offset: Number
    why: str


class Trial(TypedDict):
    """One trial of tuning."""

    label: str
    settings: dict[str, Any]
    T: int
    problem: int
    regret: Number


class Chosen(TypedDict):
    """What tuning chose."""

    label: str
    settings: dict[str, Any]
    T: int


class Tuning(TypedDict):
    """How the contenders were tuned."""

    seeds: list[int]
    trials: list[Trial]
    chosen: list[Chosen]


class Failure(TypedDict):
    """A cell that raised an error."""

    label: str
    epsilon: Number
    horizon: int
    problem: int
    gap_factor: float
    tuning: list[Any]
    error: str


class StudyDocument(TypedDict):
    """What a study found; a number that is not defined is null, and infinity is the text inf."""

    schema: Literal["urn:dpaudit:schema:study:3"]
    name: str
    seed: int
    alpha: float
    delta: float
    relation: Neighbours
    runs: int
    problems: list[int]
    horizons: list[int]
    gap_factors: list[float]
    problem: Annotated[dict[str, Any], Keywords({"required": ["name", "description", "units_per_person", "users"]})]
    contenders: list[Contender]
    rows: list[Row]
    dominance: list[Dominance]
    exponents: list[Exponent]
    tuning: Tuning
    failed: list[Failure]
    versions: dict[str, str]
    source_digest: str


TABLES = Tables(documents={"study": StudyDocument})
