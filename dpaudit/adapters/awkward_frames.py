"""Awkward neighbours of tables: pandas frames, and features with labels as models take them.

Each is a pair of neighbours in the relation of the release. pandas is not imported: a new frame is made by the class of
the given one.
"""

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from dpaudit.adapters.awkward import COUNT, FAR, NEW, AwkwardPair
from dpaudit.checks import one_of
from dpaudit.model.claim import NEIGHBOURS, Neighbours


def awkward_frames(pair: tuple[Any, Any], neighbours: Neighbours) -> tuple[AwkwardPair, ...]:
    """Return pairs of frames that differ in one row, which is awkward in one column.

    Under add-remove the row is added to the frame of `pair` with fewer rows, and once to no rows; under replace-one it
    takes the place of the last row of the first frame. Numbers: an extreme one, and NaN where the column has floats;
    texts: a category on one side.
    Edge cases: nothing for other objects, and for frames without a row.

    >>> import pandas
    >>> frame = pandas.DataFrame({"shop": ["a", "b"], "paid": [1.0, 2.0]})
    >>> [name for name, _, _ in awkward_frames((frame.iloc[:1], frame), "add_remove")]
    ['empty', 'shop: category on one side', 'paid: extreme', 'paid: not a number']
    """
    one_of("neighbours", neighbours, NEIGHBOURS)
    if not all(_is_frame(data) for data in pair) or not max(len(data) for data in pair):
        return ()
    base = min(pair, key=len) if neighbours == "add_remove" else pair[0]
    usual = next(data for data in pair if len(data)).to_dict("list")
    row = {name: values[0] for name, values in usual.items()}
    columns = base.to_dict("list")
    shared_columns = columns if neighbours == "add_remove" else {name: values[:-1] for name, values in columns.items()}
    pairs: list[AwkwardPair] = []
    if neighbours == "add_remove":
        nothing: dict[str, list[Any]] = {name: [] for name in usual}
        pairs.append(("empty", _made(pair, nothing, None), _made(pair, nothing, row)))
    for name, value in row.items():
        for what, odd in _odd(value):
            second = _made(pair, shared_columns, row | {name: odd})
            pairs.append((f"{name}: {what}", base, second))
    return tuple(pairs)


def awkward_labelled(pair: tuple[Any, Any], neighbours: Neighbours) -> tuple[AwkwardPair, ...]:
    """Return pairs of data (features,) or (features, labels) that differ in one row: an extreme one, and a new class.

    Shape: features (n, columns), labels (n,). The row is added, or takes the place of the last one. There is no row of
    NaN: models refuse NaN by contract.
    Edge cases: nothing for data of another form, or without a row. A new class only for whole or textual labels.

    >>> data = np.zeros((3, 2)), np.array([0, 0, 1])
    >>> [name for name, _, _ in awkward_labelled((data, data), "replace_one")]
    ['extreme row', 'class on one side']
    """
    one_of("neighbours", neighbours, NEIGHBOURS)
    base = min(pair, key=lambda data: len(data[0]) if _is_labelled(data) else 0)
    if not all(_is_labelled(data) for data in pair) or not len(base[0]):
        return ()
    features, labels = np.asarray(base[0], dtype=float), [np.asarray(column) for column in base[1:]]
    shared_rows = slice(None) if neighbours == "add_remove" else slice(0, -1)

    def with_row(row: Any, label: Any) -> tuple[Any, ...]:
        longer = [np.append(column[shared_rows], np.array([label], dtype=_wide(column, label))) for column in labels]
        return (np.vstack([features[shared_rows], row]), *longer)

    usual = labels[0][-1] if labels else None
    pairs: list[AwkwardPair] = [("extreme row", base, with_row(np.full(features.shape[1], FAR), usual))]
    if labels and labels[0].dtype.kind in "iuU":
        new: Any = NEW if labels[0].dtype.kind == "U" else int(labels[0].max()) + 1
        pairs.append(("class on one side", base, with_row(features[-1], new)))
    return tuple(pairs)


def _odd(value: Any) -> Iterator[tuple[str, Any]]:
    """Yield what is awkward about a cell, and the awkward cell."""
    if isinstance(value, str):
        yield "category on one side", NEW
    elif isinstance(value, bool | np.bool_):
        return
    elif isinstance(value, int | np.integer):
        yield "extreme", COUNT
    elif isinstance(value, float):
        yield "extreme", FAR
        yield "not a number", math.nan


def _made(pair: tuple[Any, Any], columns: dict[str, list[Any]], row: dict[str, Any] | None) -> Any:
    """Return a frame of the kind of `pair`, with one row more where there is one; an empty one keeps its types."""
    if row is None:
        return next(data for data in pair if len(data)).iloc[:0]
    return type(pair[0])({name: [*values, row[name]] for name, values in columns.items()})


def _is_frame(data: Any) -> bool:
    """Return whether data is a frame: columns, rows by place, and a mapping of lists."""
    return all(hasattr(data, name) for name in ("columns", "iloc", "to_dict"))


def _is_labelled(data: Any) -> bool:
    """Return whether data is a tuple of features and at most one column of labels, of equal lengths."""
    if not isinstance(data, tuple) or not 1 <= len(data) <= 2 or np.ndim(data[0]) != 2:
        return False
    return all(np.ndim(column) == 1 and len(column) == len(data[0]) for column in data[1:])


def _wide(column: Any, label: Any) -> Any:
    """Return a type that holds the column and the label."""
    return np.result_type(column.dtype, np.asarray(label).dtype) if isinstance(label, str) else column.dtype
