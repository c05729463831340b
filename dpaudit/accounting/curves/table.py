"""A curve as a table: named columns of numbers, a few numbers that sum it up, and remarks."""

from dataclasses import dataclass
from typing import Literal

CurveKind = Literal["tradeoff", "gdp", "renyi", "zcdp", "tail", "group"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Range:
    """A number that sums up a curve, between `lower` and `upper`; infinity is possible on both sides."""

    name: str
    lower: float
    upper: float


@dataclass(frozen=True, slots=True, kw_only=True)
class CurveTable:
    """One curve of a declaration: `rows` under `columns`, of which the first is the argument.

    Guarantee: what a column named "lower" holds is not above the truth, and what one named "upper" holds not below it;
    `meaning` says of which quantity. Bounds from above hold for every pair of neighbours under the certificate's
    conditions; those from below are attained by some pair.
    """

    kind: CurveKind
    meaning: str
    columns: tuple[str, ...]
    rows: tuple[tuple[float, ...], ...]
    ranges: tuple[Range, ...] = ()
    notes: tuple[str, ...] = ()

    def column(self, name: str) -> tuple[float, ...]:
        """Return the numbers of one column.

        Raises: ValueError: no such column.
        """
        index = self.columns.index(name)
        return tuple(row[index] for row in self.rows)
