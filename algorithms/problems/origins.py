"""The origin of each problem: source, licence, records, persons, and whether its users are real or simulated.

Licences are those that the files of statsmodels state. A law that was fitted to records must count as public beside a
claim about runs on simulated users; where the same records are protected, fitting it spends budget too.
"""

from dataclasses import dataclass
from typing import Literal

from algorithms.problems.health_insurance import MOST_YEARS
from dpaudit.checks import count

Users = Literal["simulated", "real"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Origin:
    """Where the law of a problem comes from.

    `rows` are the records that it was fitted to, `persons` the people behind them, and `units_per_person` the most
    units of one of them; None where that is not known, or where there are no records. `law_from_records` says that the
    law of contexts and rewards was read off the records.
    Raises: ValueError: a count below 1.
    """

    source: str
    licence: str
    users: Users = "simulated"
    rows: int | None = None
    persons: int | None = None
    units_per_person: int | None = None
    law_from_records: bool = False

    def __post_init__(self) -> None:
        for name in ("rows", "persons", "units_per_person"):
            value = getattr(self, name)
            if value is not None:
                count(name, value)

    @property
    def words(self) -> str:
        """The origin in one line."""
        rows = f", {self.rows:,} rows" if self.rows is not None else ""
        most = self.units_per_person
        units = "" if most is None else ", one unit a person" if most == 1 else f", up to {most} units of one person"
        law = "; their law was read off these records" if self.law_from_records and self.users == "simulated" else ""
        return f"{self.source}{rows}{units}; {self.licence}; {self.users} users{law}"


_DRAWN = Origin(source="drawn by the project", licence="no data")
_FIXED = Origin(source="written down by the project", licence="no data")
_RAND = Origin(
    source="RAND Health Insurance Experiment (statsmodels randhie)",
    licence="public domain",
    rows=20_190,
    units_per_person=MOST_YEARS,
    law_from_records=True,
)
_FILE = Origin(source="a file of the user", licence="the file's own", law_from_records=True)

ORIGINS: dict[str, Origin] = {
    "rand_hie": _RAND,
    "linear_rand_hie": _RAND,
    "anes96": Origin(
        source="American National Election Study of 1996 (statsmodels anes96)",
        licence="public domain",
        rows=944,
        persons=944,
        units_per_person=1,
        law_from_records=True,
    ),
    "affairs": Origin(
        source="Fair (1978), a magazine's survey (statsmodels fair)",
        licence="with permission of the author",
        users="real",
        rows=6_366,
        persons=6_366,
        units_per_person=1,
    ),
    "modechoice": Origin(
        source="Greene and Hensher (1997) (statsmodels modechoice)",
        licence="public domain",
        rows=840,
        persons=210,
        units_per_person=1,
        law_from_records=True,
    ),
    "preflib": _FILE,
    "comparison_log": _FILE,
    **dict.fromkeys(
        ("grid", "zipf", "sphere", "circle", "rare_direction", "random_atoms", "random_mixture", "tabular_mixture",
         "low_rank", "delayed_low_rank", "tabular_mdp"),
        _DRAWN,
    ),
    **dict.fromkeys(
        ("bradley_terry", "preference_matrix", "audit_domain", "hard_family", "ill_conditioned", "river_swim",
         "river_swim_table", "chain", "grid_world", "hardest_duels", "hardest_bandit", "hardest_linear",
         "hardest_process", "hardest_mixture"),
        _FIXED,
    ),
}  # fmt: skip
"""The origin of every bundled problem by name; a file given by `path` has an origin of its own."""


def origin_of(name: str, *, has_path: bool = False) -> Origin | None:
    """Return the origin of the problem called `name`, or None of a plug-in; with a path, that of the user's file."""
    return _FILE if has_path and name in ORIGINS else ORIGINS.get(name)
