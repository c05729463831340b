"""Checks of single numbers, each returning the number it accepts.

Integers come back as floats, so that an integer and a float parameter can never be two different objects.
Every check rejects NaN, booleans and strings, and its message names the value, the rule and the field.
"""

import math
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, fields
from decimal import Decimal
from fractions import Fraction
from functools import cache, lru_cache, partial
from numbers import Integral, Real
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

Text = TypeVar("Text", bound=str)
_LARGEST_COUNT = 2**63 - 1
_DIGITS = 30


@dataclass(frozen=True, slots=True)
class OneOf:
    """Which texts an annotated field accepts: `Annotated[str, OneOf(KERNELS)]`.

    Schemas and references read the annotation, and `settle` checks it.

    >>> OneOf(("paper", "tight")).values
    ('paper', 'tight')
    """

    values: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Spelled:
    """Which texts an annotated field accepts: those that a regular expression matches from end to end.

    Schemas read the annotation, and `settle` checks it.

    >>> Spelled("[0-9]+").pattern
    '[0-9]+'
    """

    pattern: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Within:
    """Which numbers an annotated field accepts: `Annotated[int, Within(at_least=4)]`.

    Schemas and references read the annotation, and `settle` checks it. An absent end is open, and infinity is
    accepted where `infinite` says so. A field may have further rules, such as one that relates it to another field.

    >>> print(Within(above=0, below=1)), print(Within(at_least=4), "or", Within())
    above 0, below 1
    at least 4 or any number
    (None, None)
    >>> print(Within(at_least=0, infinite=True))
    at least 0, may be inf
    """

    at_least: float | None = None
    above: float | None = None
    at_most: float | None = None
    below: float | None = None
    infinite: bool = False

    def hold(self, number: float) -> bool:
        """Return whether a number that is not NaN lies within the limits."""
        if math.isinf(number):
            return self.infinite and number > 0
        return (
            (self.at_least is None or number >= self.at_least)
            and (self.above is None or number > self.above)
            and (self.at_most is None or number <= self.at_most)
            and (self.below is None or number < self.below)
        )

    def __str__(self) -> str:
        ends = (("at least", self.at_least), ("above", self.above), ("at most", self.at_most), ("below", self.below))
        told = [f"{word} {end:g}" for word, end in ends if end is not None] or ["any number"]
        return ", ".join([*told, "may be inf"] if self.infinite else told)


_POSITIVE = Within(above=0)
Positive = Annotated[float, _POSITIVE]
"""What `positive` accepts."""
_NON_NEGATIVE = Within(at_least=0)
NonNegative = Annotated[float, _NON_NEGATIVE]
"""What `non_negative` accepts."""
_OR_INFINITE = Within(at_least=0, infinite=True)
NonNegativeOrInfinite = Annotated[float, _OR_INFINITE]
"""Zero, a positive number, or infinity."""
_BELOW_ONE = Within(at_least=0, below=1)
ProbabilityBelowOne = Annotated[float, _BELOW_ONE]
"""What `probability_below_one` accepts."""
_SIZE = Within(at_least=1e-140, at_most=1e140)
Size = Annotated[float, _SIZE]
"""What `size` accepts."""
_OPEN = Within(above=0, below=1)
OpenProbability = Annotated[float, _OPEN]
"""What `open_probability` accepts."""
PositiveShare = Annotated[float, Within(above=0, at_most=1)]
"""A share of records that is not empty: above 0 and at most 1."""
_SHARE = Within(at_least=0, at_most=1)
Share = Annotated[float, _SHARE]
"""A part of a whole: from 0 to 1."""
Count = Annotated[int, Within(at_least=1)]
"""What `count` accepts."""
TwoOrMore = Annotated[int, Within(at_least=2)]
"""What `count` accepts with `at_least=2`."""
Natural = Annotated[int, Within(at_least=0)]
"""What `count` accepts with `at_least=0`."""


class FieldError(ValueError):
    """A value that a field does not take; `field` is the field's name.

    >>> FieldError("epsilon", "Expected epsilon=-1 to be positive.").field
    'epsilon'
    """

    def __init__(self, field: str, message: str) -> None:
        super().__init__(field, message)

    def __str__(self) -> str:
        return str(self.args[1])

    @property
    def field(self) -> str:
        """Return the name of the field."""
        return str(self.args[0])


def field_of(error: Exception, fields: Iterable[str]) -> str | None:
    """Return which of `fields` an error is about: what a `FieldError` says, or None.

    A plain error raised by a user's own class is about the field that its message expects first, if any.

    >>> field_of(ValueError("Expected rows=0 to be positive."), ("rows", "columns"))
    'rows'
    """
    if isinstance(error, FieldError):
        return error.field if error.field in fields else None
    message = str(error)
    return next((name for name in fields if message.startswith((f"Expected {name}=", f"Expected {name} "))), None)


def _real(name: str, value: object) -> float:
    """Return `value` as a float, or say that it is no number."""
    if not isinstance(value, float) and (isinstance(value, bool) or not isinstance(value, Real)):
        raise FieldError(name, f"Expected {name}={value!r} to be a number.")
    try:
        number = float(value)
    except OverflowError:
        message = f"Expected {name} to be a number that floating point can hold; it is too large."
        raise FieldError(name, message) from None
    if math.isnan(number):
        raise FieldError(name, f"Expected {name}=nan to be a number; check where the NaN came from.")
    return number


_EXPECTED: dict[Within, str] = {
    _POSITIVE: "to be positive and finite",
    _NON_NEGATIVE: "to be zero or positive, and finite",
    _OR_INFINITE: "to be zero or positive",
    _BELOW_ONE: "in [0, 1)",
    _SIZE: "in [1e-140, 1e140]; state sizes in another unit",
    _OPEN: "strictly between 0 and 1",
    Within(above=0, at_most=1): "in (0, 1]",
    _SHARE: "in [0, 1]",
}
"""How a message names the limits that many fields have."""

_OF_ONE = (_BELOW_ONE, _OPEN, _SHARE, Within(above=0, at_most=1))
_PERCENT = (2, 100)
"""Whole numbers that are given for a part of one are read as percent, in the message alone."""


def within(name: str, value: object, limits: Within) -> float:
    """Return `value` as a float within `limits`; it is finite unless these accept infinity.

    Raises: ValueError: not a number, NaN, or outside the limits.

    >>> within("width", 3, Within(at_least=2))
    3.0
    >>> within("rate", 10, Within(at_least=0, at_most=1))
    Traceback (most recent call last):
    ...
    dpaudit.checks.FieldError: Expected rate=10 in [0, 1]; 10 percent is 0.1.
    """
    number = _real(name, value)
    if not limits.hold(number):
        missed = _POSITIVE if number <= 0 < (limits.at_least or 0) else limits  # the first rule that it breaks
        share = missed in _OF_ONE and _PERCENT[0] <= number <= _PERCENT[1] and number.is_integer()
        remedy = f"; {number:g} percent is {number / 100:g}" if share else ""
        raise FieldError(name, f"Expected {name}={value!r} {_EXPECTED.get(missed, f'to be {missed}')}{remedy}.")
    return number


def positive(name: str, value: object) -> float:
    """Return `value` as a float that is finite and above zero.

    Raises: ValueError: not a number, NaN, infinite, zero or negative.

    >>> positive("stddev", 3)
    3.0
    """
    return within(name, value, _POSITIVE)


def size(name: str, value: object) -> float:
    """Return `value` as a float from 1e-140 to 1e140: the size of a noise, a sensitivity or a bound of data.

    Ratios of two sizes, and squares of sizes, are then numbers that floating point holds with all its digits.
    Raises: ValueError: not a number, NaN, or outside that range.

    >>> size("l2_sensitivity", 3)
    3.0
    >>> size("feature_bound", 2.7205e-162)
    Traceback (most recent call last):
    ...
    dpaudit.checks.FieldError: Expected feature_bound=2.7205e-162 in [1e-140, 1e140]; state sizes in another unit.
    """
    return within(name, value, _SIZE)


def size_or_zero(name: str, value: object) -> float:
    """Return `value` as a float that is 0, or what `size` accepts.

    >>> size_or_zero("l2_sensitivity", 0)
    0.0
    """
    return size(name, value) if non_negative(name, value) else 0.0


NOTHING_HIDDEN = "A part that hides nothing is the mechanism 'finite' with first=(1, 0) and second=(0, 1)."
"""What to write for no noise."""


def noise_size(name: str, value: object) -> float:
    """Return `value` as the size of a noise, which `size` accepts.

    Raises: ValueError: as for `size`; for 0 the message says how a release without noise is written.

    >>> noise_size("stddev", 3)
    3.0
    """
    number = _real(name, value)
    if number == 0:
        raise FieldError(name, f"Expected {name}={value!r} to be positive and finite. {NOTHING_HIDDEN}")
    return size(name, value)


@lru_cache(maxsize=1 << 14)
def meant(value: float) -> Fraction:
    """Return the number that a float stands for: its shortest decimal.

    >>> meant(0.1), 10 * meant(0.2) == 2
    (Fraction(1, 10), True)
    """
    return Fraction(Decimal(repr(float(value))))  # sooner than by the pattern of a text


def float_above(exact: Fraction) -> float:
    """Return the float next to a ratio that is not below it.

    >>> float_above(Fraction(1, 10)) >= Fraction(1, 10), float_above(Fraction(1, 2))
    (True, 0.5)
    """
    near = float(exact)
    return near if Fraction(near) >= exact else math.nextafter(near, math.inf)


def ratio(above: float, below: float) -> Fraction:
    """Return `above` over `below`, two sizes, as the ratio of the decimals that they stand for.

    >>> ratio(1.0, 10.0)
    Fraction(1, 10)
    """
    return meant(above) / meant(below)


def non_negative(name: str, value: object) -> float:
    """Return `value` as a finite float that is zero or above.

    Raises: ValueError: not a number, NaN, infinite or negative.
    """
    return within(name, value, _NON_NEGATIVE)


def probability_below_one(name: str, value: object) -> float:
    """Return `value` as a float in [0, 1).

    Raises: ValueError: not a number, NaN, or outside [0, 1).

    >>> probability_below_one("delta", 1.5)
    Traceback (most recent call last):
    ...
    dpaudit.checks.FieldError: Expected delta=1.5 in [0, 1).
    """
    return within(name, value, _BELOW_ONE)


def open_probability(name: str, value: object) -> float:
    """Return `value` as a float strictly between 0 and 1.

    Raises: ValueError: not a number, NaN, or outside (0, 1).
    """
    return within(name, value, _OPEN)


def count(name: str, value: object, *, at_least: int = 1, at_most: int | None = None) -> int:
    """Return `value` as an int from `at_least` to `at_most` that fits in 63 bits.

    Raises: ValueError: not a whole number, too small or too large.
    """
    if isinstance(value, bool) or not isinstance(value, Integral) or int(value) < at_least:
        remedy = ""
        if isinstance(value, float) and value.is_integer() and at_least <= value < _LARGEST_COUNT:
            remedy = f"; write {int(value)}"
        raise FieldError(name, f"Expected {name}={value!r} to be a whole number of at least {at_least}{remedy}.")
    if int(value) > _LARGEST_COUNT:
        shown = str(value) if len(str(value)) <= _DIGITS else f"{str(value)[:_DIGITS]}..."
        raise FieldError(name, f"Expected {name}={shown} to be below 2^63; runs count in 64 bits.")
    if at_most is not None and int(value) > at_most:
        raise FieldError(name, f"Expected {name}={value} to be at most {at_most:,}.")
    return int(value)


def one_of(name: str, value: object, allowed: tuple[Text, ...]) -> Text:
    """Return the member of `allowed` that equals `value`.

    Raises: ValueError: no member equals it.
    """
    for member in allowed:
        if member == value:
            return member
    raise FieldError(name, f"Expected {name}={value!r} to be one of: {', '.join(allowed)}.")


NoiseSize = Annotated[float, Within(at_least=1e-140, at_most=1e140), noise_size]
"""What `noise_size` accepts."""
SizeOrZero = Annotated[float, Within(at_least=0, at_most=1e140), size_or_zero]
"""What `size_or_zero` accepts."""

Check = Callable[[str, Any], Any]


def settle(value: Any) -> None:
    """Check every field of a frozen dataclass by its annotation, and store what the check returns.

    An annotation says what a field accepts: a mark of this module, or a `Literal`; None passes where the annotation
    names it. A field without a mark is left alone. Call it first in `__post_init__`.
    Raises: FieldError: the first field whose value its annotation does not take.

    >>> @dataclass(frozen=True, kw_only=True)
    ... class Sample:
    ...     rate: Share
    ...     records: Count | None = None
    ...     def __post_init__(self) -> None:
    ...         settle(self)
    >>> Sample(rate=1, records=3)
    Sample(rate=1.0, records=3)
    >>> Sample(rate=2)
    Traceback (most recent call last):
    ...
    dpaudit.checks.FieldError: Expected rate=2 in [0, 1]; 2 percent is 0.02.
    """
    kind: Any = type(value)
    for name, check in _checks_of(kind):
        object.__setattr__(value, name, check(name, getattr(value, name)))


@cache
def _checks_of(kind: type) -> tuple[tuple[str, Check], ...]:
    """Return the fields of a dataclass whose annotations say what they accept, each with its check."""
    hints = get_type_hints(kind, include_extras=True)
    checks = ((field.name, _check_of(hints[field.name])) for field in fields(kind))
    return tuple((name, check) for name, check in checks if check is not None)


def _check_of(hint: Any) -> Check | None:
    """Return what checks a value by an annotation, or None where the annotation sets no limit."""
    for mark in getattr(hint, "__metadata__", ()):
        if isinstance(mark, OneOf):
            return partial(one_of, allowed=mark.values)
        if isinstance(mark, Spelled):
            return partial(_spelled, mark.pattern)
        if isinstance(mark, Within) and hint.__origin__ is int:
            most = None if mark.at_most is None else int(mark.at_most)
            return partial(count, at_least=int(mark.at_least or 0), at_most=most)
        if callable(mark):
            check: Check = mark
            return check
    limits = [mark for mark in getattr(hint, "__metadata__", ()) if isinstance(mark, Within)]
    if limits:
        return partial(within, limits=limits[0])
    if get_origin(hint) is Literal:
        return partial(one_of, allowed=get_args(hint))
    if get_origin(hint) is tuple and Ellipsis in get_args(hint):
        item = _check_of(get_args(hint)[0])
        return None if item is None else partial(_of_each, item)
    if get_origin(hint) is tuple:
        places = [part_check for part in get_args(hint) if (part_check := _check_of(part)) is not None]
        return partial(_of_places, tuple(places)) if len(places) == len(get_args(hint)) else None
    if get_origin(hint) in (Union, UnionType) and NoneType in get_args(hint):
        inner_checks = [inner for part in get_args(hint) if (inner := _check_of(part)) is not None]
        return partial(_unless_absent, inner_checks[0]) if len(inner_checks) == 1 else None
    return None


def _spelled(pattern: str, name: str, value: Any) -> str:
    """Return a text that a pattern matches from end to end."""
    if isinstance(value, str) and re.fullmatch(pattern, value):
        return value
    raise FieldError(name, f"Expected {name}={value!r:.80} to be a text of the form {pattern}.")


def _of_each(check: Check, name: str, value: Any) -> Any:
    """Return the values of a list as their check returns them."""
    return tuple(check(name, item) for item in value)


def _of_places(checks: tuple[Check, ...], name: str, value: Any) -> Any:
    """Return the values of a tuple as the checks of their places return them."""
    if len(value) != len(checks):
        raise FieldError(name, f"Expected {name}={value!r:.80} to be a list of {len(checks)}.")
    return tuple(check(name, item) for check, item in zip(checks, value, strict=True))


def _unless_absent(check: Check, name: str, value: Any) -> Any:
    """Return None for a field that is absent, and otherwise what its check returns."""
    return None if value is None else check(name, value)
