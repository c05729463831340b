"""Controls of an audit: what stretches the audited code's own behaviour, which the audit should accuse.

If the code is (epsilon, delta)-private, a pair k times as far apart is (k epsilon, ...)-private by group privacy, and k
independent runs that count as one are at most k epsilon by composition: a control that is flagged flags nobody.
"""

from typing import Any

import numpy as np

from dpaudit import Claim
from dpaudit.model.mechanism import Array

_LARGEST_FACTOR = 10


def gross(epsilon: float) -> float:
    """Return the size of a gross violation: twice the claim, or one nat above it if that is more."""
    return max(2 * epsilon, epsilon + 1)


def factor_of(claim: Claim) -> int:
    """Return how many times a control stretches the code's behaviour: at least 2, at most 10, to the gross size."""
    if claim.epsilon == 0:
        return 2
    return min(_LARGEST_FACTOR, max(2, int(gross(claim.epsilon) / claim.epsilon)))


def far_pair(pair: tuple[Any, Any], factor: int) -> tuple[Any, Any] | None:
    """Return a pair `factor` times as far apart, or None where the difference is no number and no added record.

    Entries that differ move from x0 to x0 + factor (x1 - x0); a record that one side has more stands there `factor`
    times.

    >>> far_pair((0.0, 1.0), 3)
    (0.0, 3.0)
    """
    try:
        with np.errstate(all="ignore"):
            first, second = _stretched(pair[0], pair[1], factor)
    except (TypeError, ValueError, OverflowError):
        return None
    return (first, second) if _finite(first) and _finite(second) else None


def _finite(value: Any) -> bool:
    """Return whether all numbers of a stretched data set are finite."""
    return bool(np.isfinite(np.asarray(value, dtype=float)).all())


def _stretched(first: Any, second: Any, factor: int) -> tuple[Any, Any]:
    """Return a pair of values `factor` times as far apart. Raises: TypeError, ValueError: there is no such pair."""
    if type(first) in (int, float) and type(second) in (int, float) and first != second:
        return first, first + factor * (second - first)
    if isinstance(first, np.ndarray) and isinstance(second, np.ndarray):
        return _stretched_arrays(first, second, factor)
    alike = isinstance(first, list | tuple) and type(first) is type(second)
    if alike and all(type(entry) in (int, float) for entry in (*first, *second)):
        far = _stretched_arrays(np.array(first), np.array(second), factor)
        return type(first)(far[0].tolist()), type(first)(far[1].tolist())
    raise TypeError("no number differs")


def _stretched_arrays(first: Array, second: Array, factor: int) -> tuple[Array, Array]:
    """Return the same for two arrays of one shape, or with one record more on one side."""
    if first.dtype.kind not in "iuf" or second.dtype.kind not in "iuf":
        raise TypeError("no numbers")
    if first.shape == second.shape and not np.array_equal(first, second):
        far = first + factor * (second - first)
        return first, far.astype(second.dtype)
    if first.shape[1:] == second.shape[1:] and len(second) == len(first) + 1:
        return first, _with_copies(first, second, factor)
    if first.shape[1:] == second.shape[1:] and len(first) == len(second) + 1:
        return _with_copies(second, first, factor), second
    raise ValueError("no difference that can be stretched")


def _with_copies(fewer: Array, more: Array, factor: int) -> Array:
    """Return `more` with the record that `fewer` lacks `factor` times. Raises: ValueError: there is no such record."""
    differing = (fewer != more[: len(fewer)]).any(axis=tuple(range(1, fewer.ndim)))
    row = int(np.argmax(differing)) if differing.any() else len(fewer)
    if not np.array_equal(np.delete(more, row, axis=0), fewer):
        raise ValueError("no single record differs")
    return np.concatenate([more, np.repeat(more[row : row + 1], factor - 1, axis=0)])
