"""Equality of two published values, by type, structure and content."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np


def same(first: Any, second: Any) -> bool:
    """Return whether both have one type and equal contents; NaN equals NaN, 0.0 differs from -0.0 and 1 from 1.0.

    >>> same(np.arange(5000), np.arange(5000)), same([1.0], [1])
    (True, False)
    """
    if type(first) is not type(second):
        return False
    if isinstance(first, np.ndarray):
        return _same_arrays(first, second)
    if is_dataclass(first) and not isinstance(first, type):
        return all(same(getattr(first, entry.name), getattr(second, entry.name)) for entry in fields(first))
    if isinstance(first, Mapping):
        return list(first) == list(second) and all(same(first[key], second[key]) for key in first)
    if isinstance(first, Sequence) and not isinstance(first, str | bytes):
        return len(first) == len(second) and all(same(a, b) for a, b in zip(first, second, strict=True))
    if isinstance(first, float):
        equal = first == second and math.copysign(1.0, first) == math.copysign(1.0, second)
        return bool(equal or (math.isnan(first) and math.isnan(second)))
    if isinstance(first, np.floating):
        return _same_arrays(np.asarray(first), np.asarray(second))
    return bool(first == second)


def _same_arrays(first: np.ndarray[Any, Any], second: np.ndarray[Any, Any]) -> bool:
    """Return whether two arrays agree in shape, type and every entry; bits decide for floats, except among NaN."""
    if first.shape != second.shape or first.dtype != second.dtype:
        return False
    if first.dtype == object:
        return all(same(a, b) for a, b in zip(first.reshape(-1), second.reshape(-1), strict=True))
    if first.dtype.kind in "fc":
        not_nan = ~np.isnan(first)
        return bool(np.array_equal(first, second, equal_nan=True)) and np.array_equal(
            np.signbit(first.real)[not_nan], np.signbit(second.real)[not_nan]
        )
    return bool(np.array_equal(first, second))
