"""Bisection on numbers and on whole numbers."""

from collections.abc import Callable


def bisected(holds: Callable[[float], bool], low: float, high: float, steps: int) -> tuple[float, float]:
    """Return the interval that `steps` halvings leave of [low, high]: `holds` at the lower end, not at the upper end.

    `holds` must be true at `low`, false at `high`, and change once; the ends themselves are not evaluated.

    >>> bisected(lambda x: x * x < 2, 0.0, 2.0, 20)[0].__round__(5)
    1.41421
    """
    for _ in range(steps):
        middle = (low + high) / 2
        low, high = (middle, high) if holds(middle) else (low, middle)
    return low, high


def largest_refuted(refuted: Callable[[float], bool], limit: float, steps: int) -> float:
    """Return the upper end, up to `limit`, of the refuted numbers from 0, rounded down by `steps` halvings, or 0.

    >>> round(largest_refuted(lambda number: number < 2, 8.0, 30), 6)
    2.0
    """
    return bisected(refuted, 0.0, limit, steps)[0] if refuted(0.0) else 0.0


def least_count(accepts: Callable[[int], bool], low: int, high: int) -> int:
    """Return the smallest whole number above `low` that is accepted, or `high` where none below `high` is.

    `accepts` must change once, from false to true; the ends themselves are not evaluated.

    >>> least_count(lambda k: k * k >= 10, -1, 100)
    4
    """
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if accepts(middle) else (middle, high)
    return high
