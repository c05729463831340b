"""The origin of each problem: source, licence, records, persons, and whether its users are real or simulated.

Licences are those that the files of statsmodels state. A law that was fitted to records must count as public beside a
claim about runs on simulated users; where the same records are protected, fitting it spends budget too.
"""

from dataclasses import dataclass
from typing import Literal

from dpaudit.checks import count
from dpaudit.runtime.tables import table_of

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


def origin_of(name: str) -> Origin:
    """Return the origin called `name` in the table of problems."""
    return Origin(**table_of("algorithms.problems", "names.toml")["origins"][name])
