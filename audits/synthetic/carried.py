"""What a synthetic table carries beside its values: names, types and domains of columns, labels and order of rows."""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any


def carried(table: Any, values_of: Mapping[str, Sequence[Any]], apart: frozenset[Any]) -> dict[str, Any]:
    """Return statistics of what a table carries beside its values, by name.

    `values_of` has the values of its columns, and `apart` the labels of rows that one data set alone has.

    >>> carried([[2], [1]], {"place 0": [2, 1]}, frozenset())
    {'form': 'place 0', "form of 'place 0'": 'int', "rows below the one before in 'place 0'": 1.0}
    """
    dtypes = list(getattr(table, "dtypes", [getattr(table, "dtype", "")] * len(values_of)))
    statistics: dict[str, Any] = {"form": "; ".join([*values_of, *_attributes(table)])}
    for (name, values), dtype in zip(values_of.items(), dtypes, strict=False):
        kinds = ", ".join(sorted({type(value).__name__ for value in values}))
        statistics[f"form of {name!r}"] = " ".join(filter(None, (kinds, *_domain(dtype))))
        statistics[f"rows below the one before in {name!r}"] = _falls(values)
    if apart:
        statistics["rows with the label of a record that one data set alone has"] = float(
            sum(label in apart for label in labels_of(table))
        )
    return statistics


def labels_of(table: Any) -> list[Any]:
    """Return the labels of the rows of a frame; none for other tables.

    >>> labels_of([[1], [2]])
    []
    """
    return table.index.tolist() if hasattr(table, "iloc") else []


def _attributes(table: Any) -> list[str]:
    """Return what a frame says of itself."""
    attributes = getattr(table, "attrs", None)
    return [repr(attributes)] if attributes else []


def _domain(dtype: Any) -> list[str]:
    """Return the name of a type of values, with its categories where it lists them."""
    categories = getattr(dtype, "categories", None)
    return [str(dtype), *([] if categories is None else [repr(list(categories))])]


def _falls(values: Sequence[Any]) -> float:
    """Return how often a value is smaller than the one before it; 0 for values without an order."""
    try:
        return float(sum(bool(second < first) for first, second in pairwise(values)))
    except (TypeError, ValueError):
        return 0.0
