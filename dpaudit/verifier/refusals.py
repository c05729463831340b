"""What the checker refuses and reads: complaints that end a check, its limits, JSON tables and arrays, and numbers."""

import math
from fractions import Fraction
from typing import Any

import numpy as np

Table = dict[str, Any]
Array = np.ndarray[Any, Any]
_NOISE = ("scale", "stddev", "matrix_stddev", "vector_stddev")


class Rejection(Exception):  # noqa: N818  # its text is a complaint, and it is no defect of ours
    """A complaint that makes further checks pointless."""


class Unfollowed(Rejection):
    """A limit of this checker: its numbers cannot follow the declaration, which may be as stated."""


def follow(holds: object, limit: str) -> None:
    """Stop at a limit of this checker unless it holds."""
    if not holds:
        raise Unfollowed(limit)


def require(holds: object, complaint: str) -> None:
    """Stop with `complaint` unless it holds."""
    if not holds:
        raise Rejection(complaint)


def positive(fields: Table, key: str) -> float:
    """Return a positive finite field."""
    value = float(fields[key])
    require(value > 0, f"{key}={value} is not positive")
    return value


def require_sizes(fields: Table) -> None:
    """Reject a mechanism with a scale, a sensitivity or a bound that is neither 0 nor from 1e-140 to 1e140."""
    for key, value in fields.items():
        if key in _NOISE or key.endswith(("_sensitivity", "_bound")):
            require(value == 0 or 1e-140 <= value <= 1e140, f"{key}={value} is outside 1e-140 to 1e140")


def exact_ratio(fields: Table, above: str, below: str) -> Fraction:
    """Return a ratio of two positive fields, each read as its shortest decimal."""
    return Fraction(repr(positive(fields, above))) / Fraction(repr(positive(fields, below)))


def float_above(exact: Fraction) -> float:
    """Return the float that stands for a ratio, or the next one where its shortest decimal is below."""
    near = float(exact)
    return near if Fraction(repr(near)) >= exact else math.nextafter(near, math.inf)


def ratio(fields: Table, above: str, below: str) -> float:
    """Return the float that stands for such a ratio."""
    return float(exact_ratio(fields, above, below))
