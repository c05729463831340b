"""The values of one column of a data set: numbers, categories, missing ones, and values that do not occur."""

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Any

import numpy as np

CATEGORIES, _MOST_SPECIAL = 20, 2
UNSEEN = "an unseen category"


def strange_values(values: Sequence[Any]) -> Iterator[tuple[str, Any]]:
    """Yield (words, value) for values of the same type that do not occur."""
    numbers = numbers_of(values)
    if numbers is None:
        if all(isinstance(value, str) for value in values):
            yield UNSEEN, f"{values[-1]}?"
            yield "an empty text", ""
        return
    integers = all(isinstance(value, bool | int) for value in values)
    if not integers:
        if not np.isnan(numbers).any():
            yield "NaN", float("nan")
        yield "infinity", float("inf")
    if not np.isfinite(numbers).any() or all(isinstance(value, bool) for value in values):
        return
    low, high = float(np.nanmin(numbers)), float(np.nanmax(numbers))
    if low > 0:
        yield "zero", type(values[0])(0)  # what divides or takes a logarithm ends there
    if integers and len(set(values)) <= CATEGORIES and 0 <= low <= high <= CATEGORIES:
        yield UNSEEN, int(high) + 1
        return
    yield "a value far above the others", type(values[0])(high + 1000 * (high - low + 1))
    if low >= 0:
        yield "a negative value", type(values[0])(-max(high, 1.0))


def numbers_of(values: Sequence[Any]) -> Any:
    """Return values as an array of numbers with NaN for missing ones; None where some are neither."""
    plain = [value for value in values if not is_missing(value)]
    if not plain or not all(isinstance(value, bool | int | float | np.number) for value in plain):
        return None
    with suppress(OverflowError):
        return np.array([np.nan if is_missing(value) else float(value) for value in values])
    return None


def is_missing(value: Any) -> bool:
    """Return whether a value is None, NaN or pandas' NA."""
    return (
        value is None or type(value).__name__ in ("NAType", "NaTType") or (isinstance(value, float) and value != value)
    )


def categories_of(values: Sequence[Any]) -> dict[Any, int]:
    """Return the categories with the number of their records, rarest first; none for continuous values."""
    with suppress(TypeError):
        counts = Counter(value for value in values if not is_missing(value))
        if len(counts) <= max(CATEGORIES, len(values) // 3) or any(isinstance(value, str) for value in counts):
            return dict(sorted(counts.items(), key=lambda item: item[1]))
    return {}


def special_of(categories: dict[Any, int]) -> dict[Any, int]:
    """Return the two rarest categories and the most common one."""
    names = list(categories)
    return {name: categories[name] for name in (*names[:_MOST_SPECIAL], *names[-1:])}


def special_values(values: Sequence[Any]) -> Iterator[Any]:
    """Yield a missing value, the ends of numbers, and rare and common categories, of a column."""
    yield from [value for value in values if is_missing(value)][:1]
    numbers = numbers_of(values)
    if numbers is not None and np.isfinite(numbers).any():
        yield from (values[int(np.nanargmin(numbers))], values[int(np.nanargmax(numbers))])
    else:
        yield from special_of(categories_of(values))


def same(first: Any, second: Any) -> bool:
    """Return whether two values are one category."""
    return type(first) is type(second) and first == second


def index_of(values: Sequence[Any], value: Any) -> int:
    """Return the row of the last record of a category."""
    return max(row for row, cell in enumerate(values) if same(cell, value))


def shown(value: Any) -> str:
    """Return a value as it stands in a sentence."""
    return repr(str(value) if isinstance(value, str) else value)[:40]
