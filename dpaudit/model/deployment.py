"""Facts about a deployment that only a person can declare: purpose, people, places and promises, each optional.

Nothing here is checked beyond its form; reports print it as *declared*, and print what is absent as *not assessed*.
"""

from dataclasses import dataclass, field
from datetime import date
from typing import Any, ClassVar, Literal, TypeAlias

from dpaudit.model.condition_kinds import ConditionKind

_STRICT: dict[str, Any] = {"extra": "forbid", "str_strip_whitespace": True}


@dataclass(frozen=True, slots=True, kw_only=True)
class Identity:
    """Which system, and who answers for the report."""

    __pydantic_config__: ClassVar[dict[str, Any]] = _STRICT
    version: str = ""
    commit: str = ""
    author: str = ""
    reviewer: str = ""
    valid_until: date | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """What the system is for, about whom, and how its outputs are used."""

    __pydantic_config__: ClassVar[dict[str, Any]] = _STRICT
    purpose: str = ""
    data_subjects: str = ""
    number_of_units: int | None = None
    sector: str = ""
    region: str = ""
    data_product: str = ""
    release_type: str = ""
    access: str = ""
    static_or_dynamic: str = ""
    out_of_scope: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Scenario:
    """Two data sets in plain words, whether they are neighbours, and whether the guarantee covers the difference."""

    __pydantic_config__: ClassVar[dict[str, Any]] = _STRICT
    a: str
    b: str
    neighbours: bool
    covered: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Contributions:
    """How much one person contributes, how that is enforced, and what is not protected at all."""

    __pydantic_config__: ClassVar[dict[str, Any]] = _STRICT
    units_per_person: int | None = None
    bound: str = ""
    enforcement: str = ""
    unprotected: tuple[str, ...] = ()
    scenarios: tuple[Scenario, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Actor:
    """Who sees what, is trusted for what, and with whom they may collude."""

    __pydantic_config__: ClassVar[dict[str, Any]] = _STRICT
    name: str
    sees: str
    trusted_for: str = ""
    colluding: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class MechanismNotes:
    """Why a release's sensitivity is what it is, where its code is, and where its parameters come from.

    `label` is the release's; "*" speaks of every release without notes of its own.
    """

    __pydantic_config__: ClassVar[dict[str, Any]] = _STRICT
    label: str
    sensitivity_because: str = ""
    code: str = ""
    parameters_from: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Assertion:
    """Why conditions of one kind hold that only a person can know of; `kind` is as in the certificate."""

    __pydantic_config__: ClassVar[dict[str, Any]] = _STRICT
    kind: ConditionKind
    because: str

    def __post_init__(self) -> None:
        if not self.because.strip():
            raise ValueError(f"Expected because to say why the condition of kind={self.kind!r} holds; it is empty.")


@dataclass(frozen=True, slots=True, kw_only=True)
class Period:
    """Over which time the claim holds, and when the budget begins anew."""

    __pydantic_config__: ClassVar[dict[str, Any]] = _STRICT
    per: str = ""
    period: str = ""
    refresh: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class HazardNote:
    """What is done about one hazard, in the owner's words; `hazard` is its number, as in "H7"."""

    __pydantic_config__: ClassVar[dict[str, Any]] = _STRICT
    hazard: str
    answer: str


@dataclass(frozen=True, slots=True, kw_only=True)
class UtilityResult:
    """One measure of usefulness for one group, with its interval, beside a non-private and a random baseline."""

    __pydantic_config__: ClassVar[dict[str, Any]] = _STRICT
    measure: str
    group: str = "all"
    size: int | None = None
    value: float
    lower: float | None = None
    upper: float | None = None
    non_private: float | None = None
    random: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Governance:
    """Who is responsible, and what makes somebody look again."""

    __pydantic_config__: ClassVar[dict[str, Any]] = _STRICT
    officer: str = ""
    approver: str = ""
    assessment: str = ""
    incident_contact: str = ""
    triggers: tuple[str, ...] = ()
    expiry: date | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """Another deployment, to stand beside this one if its unit and model are the same."""

    __pydantic_config__: ClassVar[dict[str, Any]] = _STRICT
    name: str
    unit: str
    model: str
    epsilon: float
    delta: float = 0.0
    source: str


RegistryStatus: TypeAlias = Literal[
    "Converted",
    "Draft",
    "Pending",
    "Changes Required",
    "Approved",
    "Approved (Update Requested)",
    "Approved (Pending)",
]
DataProductType: TypeAlias = Literal[
    "",
    "Summary statistics",
    "Machine learning model",
    "Dataset",
    "Synthetic data",
    "Interactive API",
    "SQL queries",
]
Sector: TypeAlias = Literal["", "Technology", "Healthcare", "Education", "Government", "Energy", "Finance"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Registry:
    """What a record in a public registry of deployments needs beside the proof; the lists are the registry's own."""

    __pydantic_config__: ClassVar[dict[str, Any]] = _STRICT
    url_slug: str = ""
    status: RegistryStatus = "Draft"
    curators: tuple[str, ...] = ()
    description: str = ""
    data_product_type: DataProductType = ""
    data_product_sector: Sector = ""
    release_type: Literal["", "One release", "Many releases"] = ""
    release_type_details: str = ""
    data_source_type: Literal["", "Static", "Dynamic"] = ""
    data_source_type_details: str = ""
    access_type: Literal["", "Interactive", "Non-interactive"] = ""
    access_type_details: str = ""
    preprocessing_and_hyperparameter_tuning: str = ""
    sources: str = ""
    publication_date: date | None = None
    authors: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Reproduction:
    """Where the data and the environment can be found again."""

    __pydantic_config__: ClassVar[dict[str, Any]] = _STRICT
    data: str = ""
    container: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Deployment:
    """Everything declared about a deployment; the empty one declares nothing."""

    __pydantic_config__: ClassVar[dict[str, Any]] = _STRICT
    identity: Identity = field(default_factory=Identity)
    scope: Scope = field(default_factory=Scope)
    contributions: Contributions = field(default_factory=Contributions)
    actors: tuple[Actor, ...] = ()
    mechanisms: tuple[MechanismNotes, ...] = ()
    assertions: tuple[Assertion, ...] = ()
    period: Period = field(default_factory=Period)
    hazards: tuple[HazardNote, ...] = ()
    utility: tuple[UtilityResult, ...] = ()
    governance: Governance = field(default_factory=Governance)
    comparisons: tuple[Comparison, ...] = ()
    registry: Registry = field(default_factory=Registry)
    reproduction: Reproduction = field(default_factory=Reproduction)

    def notes_on(self, label: str) -> MechanismNotes:
        """Return the notes on one release: its own, else those on all, else empty ones."""
        own = [held for held in self.mechanisms if held.label in (label, "*")]
        return min(own, key=lambda held: held.label == "*", default=MechanismNotes(label=label))


@dataclass(frozen=True, slots=True, kw_only=True)
class System:
    """The system, one person's contribution to it and what it does, in the owner's words; any may be left empty.

    Parameters: `name` of the system; `unit`, what one person contributes; `description` of what the system does.

    >>> System(name="weekly sales figures", unit="one customer's week").unit
    "one customer's week"
    """

    name: str = ""
    unit: str = ""
    description: str = ""
