"""Reading the JSON: numbers, and complaints that end the reading."""

import math
from typing import Any

Table = dict[str, Any]


class Rejection(Exception):  # noqa: N818  # its text is a complaint, and it is no defect of ours
    """A complaint that makes further checks pointless."""


def require(holds: object, complaint: str) -> None:
    """Stop with `complaint` unless it holds."""
    if not holds:
        raise Rejection(complaint)


def number(value: Any, name: str) -> float:
    """Return a JSON number, or infinity for its string."""
    if value == "inf":
        return math.inf
    require(isinstance(value, int | float) and not isinstance(value, bool), f"{name}={value!r} is no number")
    require(not math.isnan(value), f"{name} is NaN")
    return float(value)


def positive(fields: Table, key: str) -> float:
    """Return a positive finite field."""
    value = number(fields[key], key)
    require(0 < value < math.inf, f"{key}={value} is not positive and finite")
    return value


def whole(fields: Table, key: str) -> int:
    """Return a positive whole field."""
    value = fields[key]
    require(isinstance(value, int) and not isinstance(value, bool) and value >= 1, f"{key}={value!r} is no count")
    return int(value)
