"""Facts about a deployment that only a person can declare: purpose, people, places and promises, each optional.

Nothing here is checked beyond its form; reports print it as *declared*, and print what is absent as *not assessed*.
"""

from dataclasses import dataclass, field
from datetime import date
from typing import Any, Literal, TypeAlias

from dpaudit.model.condition_kinds import ConditionKind

PRINTED = "printed"
"""The key, in the metadata of a field, of the name that a report prints beside its value."""


def _printed(name: str, default: Any = "") -> Any:
    """Return a field that need not be declared, with the name that a report prints."""
    return field(default=default, metadata={PRINTED: name})


@dataclass(frozen=True, slots=True, kw_only=True)
class Identity:
    """Which system, and who answers for the report."""

    version: str = _printed("Version")
    commit: str = _printed("Commit")
    author: str = _printed("Author")
    reviewer: str = _printed("Reviewer")
    valid_until: date | None = _printed("Valid until", None)  # noqa: RUF009 - it makes a field


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """What the system is for, about whom, and how its outputs are used."""

    purpose: str = _printed("Purpose")
    data_subjects: str = _printed("Data subjects")
    number_of_units: int | None = _printed("Number of units", None)
    sector: str = _printed("Sector")
    region: str = _printed("Region")
    data_product: str = _printed("Data product")
    release_type: str = _printed("Release type")
    access: str = _printed("Access")
    static_or_dynamic: str = _printed("Static or dynamic data")
    out_of_scope: tuple[str, ...] = _printed("Out of scope", ())


@dataclass(frozen=True, slots=True, kw_only=True)
class Scenario:
    """Two data sets in plain words, whether they are neighbours, and whether the guarantee covers the difference."""

    a: str
    b: str
    neighbours: bool
    covered: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Contributions:
    """How much one person contributes, how that is enforced, and what is not protected at all."""

    units_per_person: int | None = _printed("Units that one person contributes", None)
    bound: str = _printed("Contribution bound")
    enforcement: str = _printed("How the bound is enforced")
    unprotected: tuple[str, ...] = _printed("Not protected, and invariants", ())
    scenarios: tuple[Scenario, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Actor:
    """Who sees what, is trusted for what, and with whom they may collude."""

    name: str
    sees: str
    trusted_for: str = ""
    colluding: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class MechanismNotes:
    """Why a release's sensitivity is what it is, where its code is, and where its parameters come from.

    `label` is the release's; "*" speaks of every release without notes of its own.
    """

    label: str
    sensitivity_because: str = ""
    code: str = ""
    parameters_from: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Assertion:
    """Why conditions of one kind hold that only a person can know of; `kind` is as in the certificate."""

    kind: ConditionKind
    because: str

    def __post_init__(self) -> None:
        if not self.because.strip():
            raise ValueError(f"Expected because to say why the condition of kind={self.kind!r} holds; it is empty.")


@dataclass(frozen=True, slots=True, kw_only=True)
class Period:
    """Over which time the claim holds, and when the budget begins anew."""

    per: str = _printed("Each release, or all together")
    period: str = _printed("Period")
    refresh: str = _printed("When the budget begins anew")


@dataclass(frozen=True, slots=True, kw_only=True)
class HazardNote:
    """What is done about one hazard, in the owner's words; `hazard` is its number, as in "H7"."""

    hazard: str
    answer: str


@dataclass(frozen=True, slots=True, kw_only=True)
class UtilityResult:
    """One measure of usefulness for one group, with its interval, beside a non-private and a random baseline."""

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

    officer: str = _printed("Privacy officer")
    approver: str = _printed("Approved by")
    assessment: str = _printed("Impact assessment")
    incident_contact: str = _printed("Incident contact")
    triggers: tuple[str, ...] = _printed("What makes somebody look again", ())
    expiry: date | None = _printed("Expires", None)  # noqa: RUF009 - it makes a field


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """Another deployment, to stand beside this one if its unit and model are the same."""

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

    data: str = _printed("Data")
    container: str = _printed("Container")


@dataclass(frozen=True, slots=True, kw_only=True)
class Deployment:
    """Everything declared about a deployment; the empty one declares nothing."""

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
        own = [notes for notes in self.mechanisms if notes.label in (label, "*")]
        return min(own, key=lambda notes: notes.label == "*", default=MechanismNotes(label=label))


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
