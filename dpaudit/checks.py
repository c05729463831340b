"""Checks of single numbers, each returning the number it accepts.

Integers come back as floats, so that an integer and a float parameter can never be two different objects.
Every check rejects NaN, booleans and strings, and its message names the value, the rule and the field.
"""

import math
from numbers import Integral, Real
from typing import TypeVar

Text = TypeVar("Text", bound=str)
_LARGEST_COUNT = 2**63 - 1


def _real(name: str, value: object) -> float:
    """Return `value` as a float, or say that it is no number."""
    if isinstance(value, bool) or not isinstance(value, Real):
        raise ValueError(f"Expected {name}={value!r} to be a number.")
    try:
        number = float(value)
    except OverflowError:
        raise ValueError(f"Expected {name} to be a number that floating point can hold; it is too large.") from None
    if math.isnan(number):
        raise ValueError(f"Expected {name}=nan to be a number; check where the NaN came from.")
    return number


def positive(name: str, value: object) -> float:
    """Return `value` as a float that is finite and above zero.

    Raises: ValueError: not a number, NaN, infinite, zero or negative.

    >>> positive("stddev", 3)
    3.0
    """
    number = _real(name, value)
    if not 0 < number < math.inf:
        raise ValueError(f"Expected {name}={value!r} to be positive and finite.")
    return number


def non_negative(name: str, value: object) -> float:
    """Return `value` as a finite float that is zero or above.

    Raises: ValueError: not a number, NaN, infinite or negative.
    """
    number = _real(name, value)
    if not 0 <= number < math.inf:
        raise ValueError(f"Expected {name}={value!r} to be zero or positive, and finite.")
    return number


def probability_below_one(name: str, value: object) -> float:
    """Return `value` as a float in [0, 1).

    Raises: ValueError: not a number, NaN, or outside [0, 1).

    >>> probability_below_one("delta", 1.5)
    Traceback (most recent call last):
    ...
    ValueError: Expected delta=1.5 in [0, 1).
    """
    number = _real(name, value)
    if not 0 <= number < 1:
        raise ValueError(f"Expected {name}={value!r} in [0, 1).")
    return number


def open_probability(name: str, value: object) -> float:
    """Return `value` as a float strictly between 0 and 1.

    Raises: ValueError: not a number, NaN, or outside (0, 1).
    """
    number = _real(name, value)
    if not 0 < number < 1:
        raise ValueError(f"Expected {name}={value!r} strictly between 0 and 1.")
    return number


def count(name: str, value: object, *, at_least: int = 1) -> int:
    """Return `value` as an int that is `at_least` or more and fits in 63 bits.

    Raises: ValueError: not a whole number, too small or too large.
    """
    if isinstance(value, bool) or not isinstance(value, Integral) or int(value) < at_least:
        raise ValueError(f"Expected {name}={value!r} to be a whole number of at least {at_least}.")
    if int(value) > _LARGEST_COUNT:
        raise ValueError(f"Expected {name} to be below 2^63.")
    return int(value)


def one_of(name: str, value: object, allowed: tuple[Text, ...]) -> Text:
    """Return the member of `allowed` that equals `value`.

    Raises: ValueError: no member equals it.
    """
    for member in allowed:
        if member == value:
            return member
    raise ValueError(f"Expected {name}={value!r} to be one of: {', '.join(allowed)}.")
