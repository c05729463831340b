"""The numbers of a certificate in its own measure: its ends, in words."""

import math

from dpaudit.model.measures.ends import End, Ends
from dpaudit.wording.numerals import at_least, at_most


def measured_rows(ends: Ends) -> tuple[tuple[str, str], ...]:
    """Return the name of each number of the claim, and its bounds rounded outwards."""
    return tuple((_name(ends, row), _between(row)) for row in ends.rows)


def _name(ends: Ends, row: End) -> str:
    """Return the name of one number of the claim."""
    if row.at is None:
        return ends.measure
    return f"order {row.at:g}" if ends.measure == "renyi" else f"delta at epsilon {row.at:g}"


def _between(row: End) -> str:
    """Return the bounds in words, rounded outwards."""
    if row.lower == math.inf:
        return "infinite"
    if row.upper == math.inf:
        return f"at least {at_least(row.lower)}, with no upper bound" if row.lower else "not bounded by what is known"
    return f"between {at_least(row.lower)} and {at_most(row.upper)}" if row.lower else f"at most {at_most(row.upper)}"
