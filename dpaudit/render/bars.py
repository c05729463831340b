"""Claimed, proved and attacked epsilon as bars on one axis."""

import math

from dpaudit.documents.document import Bar, Bars
from dpaudit.wording.numerals import at_least, at_most


def bars(rows: list[tuple[str, float]]) -> Bars:
    """Return one bar for each row, on one axis; an infinite value has no bar, and a stated one is hatched."""
    finite = [(name, value) for name, value in rows if value < math.inf]
    longest = max((value for _, value in finite), default=0.0)
    if longest == 0:
        return Bars(())
    return Bars(
        tuple(
            Bar(
                name,
                value / longest,
                at_least(value) if name == "attacked" else at_most(value),
                hatched=name == "stated",
            )
            for name, value in finite
        )
    )
