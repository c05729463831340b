"""Views: what an adversary sees of many runs, as an array, a dict of arrays or a list, runs axis first."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from audits.outputs.fields import Fields, stacked, taken
from dpaudit.errors import OutputError
from dpaudit.model.mechanism import Array


def length(view: Any) -> int:
    """Return how many runs `view` holds.

    Raises: OutputError: the arrays of a dict disagree, or `view` has no first axis.
    """
    if isinstance(view, Fields):
        return view.runs
    if isinstance(view, Mapping):
        lengths = {name: length(part) for name, part in view.items()}
        if len(set(lengths.values())) != 1:
            raise OutputError(f"Expected every array of a view to have one entry a run; their lengths are {lengths}.")
        return next(iter(lengths.values()))
    if not isinstance(view, Sequence) and np.ndim(view) == 0:
        raise OutputError(f"Expected the outputs of many runs, runs axis first, got the single value {view!r:.80}.")
    return len(view)


def interleave(first: Any, second: Any, chosen: Array) -> Any:
    """Return one view whose runs come from `second` where `chosen` is true and from `first` elsewhere.

    The runs keep their order inside each source. Arrays whose rows differ in shape become lists of rows.
    """
    if isinstance(first, Fields):
        return stacked([first, second], [~chosen, chosen])
    if isinstance(first, Mapping) and isinstance(second, Mapping):
        if first.keys() != second.keys():
            raise ValueError(
                f"Expected the same arrays on both neighbours, got {sorted(first)} and {sorted(second)}; "
                "which arrays exist must not depend on the data."
            )
        return {name: interleave(first[name], second[name], chosen) for name in first}
    left, right = _regular(first), _regular(second)
    if left is not None and right is not None and left.shape[1:] == right.shape[1:]:
        merged = np.empty((len(chosen), *left.shape[1:]), dtype=np.result_type(left, right))
        merged[~chosen], merged[chosen] = left, right
        return merged
    sources = (iter(first), iter(second))
    return [next(sources[int(bit)]) for bit in chosen]


def concatenate(views: Sequence[Any]) -> Any:
    """Return the runs of several views after one another."""
    if isinstance(views[0], Fields):
        return stacked(views)
    if isinstance(views[0], Mapping):
        return {name: concatenate([view[name] for view in views]) for name in views[0]}
    if all(isinstance(view, np.ndarray) and view.shape[1:] == views[0].shape[1:] for view in views):
        return np.concatenate(views)
    return [row for view in views for row in view]


def take(view: Any, index: Array) -> Any:
    """Return the runs of `view` at the whole numbers `index`."""
    if isinstance(view, Fields):
        return taken(view, index)
    if isinstance(view, Mapping):
        return {name: take(part, index) for name, part in view.items()}
    return view[index] if isinstance(view, np.ndarray) else [view[int(i)] for i in index]


def _regular(view: Any) -> Array | None:
    """Return `view` if it is an array of rows of equal shape."""
    return view if isinstance(view, np.ndarray) and view.dtype != object else None
