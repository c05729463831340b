"""The output of one run, of any Python type, as named numbers."""

import datetime
import decimal
import enum
import fractions
import ipaddress
import math
import numbers
import pathlib
import re
import uuid
from collections import UserString, deque
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import fields as dataclass_fields
from dataclasses import is_dataclass
from typing import Any

import numpy as np

from audits.outputs.arrays import NUMERIC, array_fields
from audits.outputs.beside import beside, layout
from audits.outputs.fields import KIND, MARK, MOMENT, NUMBER, kind_of
from audits.outputs.foreign import native
from audits.outputs.text import bytes_entries, text_entries
from dpaudit import UnsupportedError

Entries = Iterator[tuple[str, float]]

_DEEPEST, _MOST_ENTRIES = 32, 256
_EPOCH = datetime.datetime(1970, 1, 1)  # noqa: DTZ001 - compared with naive moments only
_WRITTEN = (UserString, uuid.UUID, pathlib.PurePath, ipaddress.IPv4Address, ipaddress.IPv6Address)
_TEXT = kind_of("builtins.str")
_FLOAT, _INT = kind_of("builtins.float"), kind_of("builtins.int")
_NUMBERS: dict[type, float] = {bool: kind_of("builtins.bool"), int: _INT, float: _FLOAT, np.float64: _FLOAT}
_WHOLE = 2**53
_NAME = re.compile(r"(?:[^\d#.\[\]]|(?<!\d)(?:\d{1,3}|(?:19|20)\d\d)(?!\d))+")
"""A key that names a part: its numbers are short, or years. A key with a longer number may hold a published one."""

_EMPTY = (type(None), type(Ellipsis), type(NotImplemented))


def record(value: Any, path: str = "") -> dict[str, float]:
    """Return the output of one run as numbers by name; each name begins with `path` after its first word.

    Guarantee: equal outputs give equal numbers, in every process. Unequal ones give unequal numbers up to the 52 bits
    of a digest; of a sequence, entries after the 256th count as one category.
    Raises: UnsupportedError: a part whose type has no reading, by its name and place; nesting deeper than 32.
    """
    return dict(_entries(value, path, 0))


def _entries(value: Any, path: str, depth: int) -> Entries:
    """Yield (column, value) for a value and all its parts."""
    if depth > _DEEPEST:
        raise UnsupportedError(f"Expected outputs nested at most {_DEEPEST} deep, at {path[:60]!r}; return them flat.")
    if plain := tuple(_plain(value, path)):
        yield from plain
        return
    carried, value = _opened(value, path)
    for name, part in carried.items():
        yield from _entries(part, f"{path}!{name}", depth + 1)
    yield f"{KIND}{path}", kind_of(described(value))
    if isinstance(value, _EMPTY):
        return
    if isinstance(value, enum.Enum):
        yield f"{KIND}{path} member", kind_of(value.name or "")
        yield from _entries(value.value, f"{path}.value", depth + 1)
    elif isinstance(value, np.ndarray | np.void):
        yield from _array(np.asanyarray(value), path, depth)
    elif isinstance(value, str):
        yield from text_entries(value, path)
    elif isinstance(value, bytes | bytearray | memoryview):
        yield from bytes_entries(bytes(value), path)
    elif isinstance(value, _WRITTEN):
        yield from text_entries(str(value), path)
    elif isinstance(value, numbers.Number | np.generic):
        yield from _number(value, path)
    elif isinstance(value, datetime.date | datetime.time | datetime.timedelta):
        yield from _moment(value, path)
    else:
        yield from _composed(value, path, depth)


def _plain(value: Any, path: str) -> Entries:
    """Yield the entries of a text, or of a number that a double holds: most parts of outputs, which carry nothing."""
    kind = type(value)
    if kind is str:
        yield f"{KIND}{path}", _TEXT
        yield from text_entries(value, path)
    elif kind in _NUMBERS and abs(value) < _WHOLE and (value or kind in (bool, int)):  # zeros of floats have signs
        yield f"{KIND}{path}", _NUMBERS[kind]
        yield f"{NUMBER}{path}", float(value)


def _opened(value: Any, path: str) -> tuple[dict[str, Any], Any]:
    """Return what a value carries beside its contents, and the value as one of Python or numpy."""
    try:
        return beside(value) | layout(value), native(value)
    except UnsupportedError:
        raise
    except Exception as error:
        raise _unreadable(value, path) from error


def _number(value: Any, path: str) -> Entries:
    """Yield a number as a double, with the sign of zero, the bits of NaN and the rest that the double leaves out."""
    if isinstance(value, np.generic):
        row = array_fields(np.asarray(value)[None], path)
        yield from ((name, float(column[0, 0])) for name, column in row.items())
    elif isinstance(value, float):
        yield from _number(np.float64(value), path)
    elif isinstance(value, complex):
        yield from _number(np.complex128(value), path)
    elif isinstance(value, decimal.Decimal):
        sign, digits, exponent = value.as_tuple()
        yield f"{MARK}{path} sign", float(sign)
        yield f"{MARK}{path} digits", float(len(digits))
        yield f"{KIND}{path} exponent", kind_of(str(exponent))
        if value.is_nan():
            yield f"{KIND}{path} payload", kind_of(str(digits))
        yield from _exact(value, path) if value.is_finite() else ((f"{NUMBER}{path}", _without_end(value)),)
    elif isinstance(value, numbers.Rational):
        yield from _exact(value, path)
    else:
        raise _unreadable(value, path)


def _without_end(value: decimal.Decimal) -> float:
    """Return an infinite decimal as a double, NaN for one that is no number."""
    return math.nan if value.is_nan() else math.copysign(math.inf, value)


def _exact(value: Any, path: str) -> Entries:
    """Yield an exact number as the nearest double and the difference; beyond the doubles, its size and a digest."""
    exact = value if isinstance(value, int) else fractions.Fraction(value)
    try:
        nearest = float(exact)
    except OverflowError:
        size = abs(exact.numerator).bit_length() - exact.denominator.bit_length()
        yield f"{NUMBER}{path}", math.inf if exact > 0 else -math.inf
        yield f"{MARK}{path} size", float(size)
        yield f"{KIND}{path} digits", kind_of(f"{exact.numerator:x}/{exact.denominator:x}")
        return
    yield f"{NUMBER}{path}", nearest
    if exact != nearest:
        yield f"{MARK}{path} rest", float(exact - fractions.Fraction(nearest))


def _moment(value: Any, path: str) -> Entries:
    """Yield a date, a time or a duration in microseconds, and its time zone; nothing for one that is no time."""
    if value != value:
        return
    if isinstance(value, datetime.timedelta):
        yield from _exact(value // datetime.timedelta(microseconds=1), path)
        return
    if isinstance(value, datetime.time):
        value = datetime.datetime.combine(_EPOCH.date(), value)
    elif not isinstance(value, datetime.datetime):
        value = datetime.datetime.combine(value, datetime.time())
    yield f"{KIND}{path} zone", kind_of(f"{value.tzinfo} {value.fold}")
    since = (value.replace(tzinfo=None) - _EPOCH) // datetime.timedelta(microseconds=1)
    yield from _exact(since, f"{path}{MOMENT}")


def _array(value: Any, path: str, depth: int) -> Entries:
    """Yield the entries of an array: numbers at once, structured fields by name, objects and texts one by one."""
    if value.dtype.names is not None:
        for name in value.dtype.names:
            yield from _entries(value[name], f"{path}.{name}", depth + 1)
    elif value.dtype.kind in NUMERIC and value.size <= _MOST_ENTRIES:
        for name, column in array_fields(value[None], path).items():
            yield from ((f"{name}[{index}]", float(entry)) for index, entry in enumerate(column[0]))
    elif value.dtype.kind in NUMERIC:  # a data set may hold millions: those after the first ones as one category
        flat = value.reshape(-1)
        yield from _array(flat[:_MOST_ENTRIES], path, depth)
        beyond = array_fields(flat[None, _MOST_ENTRIES:], path)
        yield f"{KIND}{path} rest", kind_of(b"".join(name.encode() + beyond[name].tobytes() for name in sorted(beyond)))
    else:
        yield from _sequence(value.reshape(-1).tolist(), path, depth)


def _composed(value: Any, path: str, depth: int) -> Entries:
    """Yield the parts of a value that has parts."""
    if is_dataclass(value) and not isinstance(value, type):
        for part in dataclass_fields(value):
            yield from _entries(getattr(value, part.name), f"{path}.{part.name}", depth + 1)
    elif isinstance(value, Mapping):
        yield from _mapping(value, path, depth)
    elif isinstance(value, tuple) and (names := getattr(value, "_fields", ())):
        for name in names:
            yield from _entries(getattr(value, name), f"{path}.{name}", depth + 1)
    elif isinstance(value, AbstractSet):
        yield from _sequence(sorted(value, key=_order), path, depth)
    elif isinstance(value, BaseException):
        yield from _sequence(value.args, path, depth)
    elif isinstance(value, type):
        yield f"{KIND}{path} class", kind_of(f"{value.__module__}.{value.__qualname__}")
    elif isinstance(value, Sequence | deque):
        yield from _sequence(value, path, depth)
    else:
        raise _unreadable(value, path)


def _mapping(value: Mapping[Any, Any], path: str, depth: int) -> Entries:
    """Yield a mapping: the order of its keys, then each value by its key; keys that are no names are values too."""
    keys = list(value)
    if _are_names(keys):
        yield f"{MARK}{path} length", float(len(keys))
        yield f"{KIND}{path} keys", kind_of("\0".join(key if isinstance(key, str) else f"\0{key}" for key in keys))
        for key in keys:
            yield from _entries(value[key], f"{path}.{key}", depth + 1)
    else:
        yield from _sequence([part for key in keys for part in (key, value[key])], path, depth)


def _are_names(keys: Sequence[Any]) -> bool:
    """Return whether keys are texts and whole numbers that name parts, each another one; of those with numbers, few.

    >>> _are_names(["q1", "age 10-19"]), _are_names([2024, 2025]), _are_names(["sum 17.2"]), _are_names([1, "1"])
    (True, True, False, False)
    """
    names = {str(key) for key in keys if isinstance(key, str) or type(key) is int}
    numbered = [name for name in names if any(letter.isdigit() for letter in name)]
    few = not numbered or len(keys) <= _MOST_ENTRIES
    return len(names) == len(keys) and few and all(map(_NAME.fullmatch, numbered))


def _sequence(parts: Sequence[Any] | deque[Any], path: str, depth: int) -> Entries:
    """Yield the length of a sequence and its entries; those after the 256th as one category."""
    yield f"{MARK}{path} length", float(len(parts))
    beyond = []
    for index, part in enumerate(parts):
        inside = _entries(part, f"{path}[{index}]", depth + 1)
        if index < _MOST_ENTRIES:
            yield from inside
        else:
            beyond += [f"{name}={entry!r}" for name, entry in inside]
    if beyond:
        yield f"{KIND}{path} rest", kind_of("\n".join(beyond))


def _order(value: Any) -> tuple[str, float, str]:
    """Return a key that sorts the members of a set in the same order in every process."""
    exact = isinstance(value, int | float | decimal.Decimal | fractions.Fraction) and value == value
    return described(value), float(value) if exact else 0.0, repr(sorted(record(value).items()))


def described(value: Any) -> str:
    """Return the type of a value, with dtype and shape for an array; `numpy.float64`, a subclass of `float`, is one.

    Python's sum of no numbers is a float and of some a `numpy.float64`; what is printed or written as JSON is equal.
    """
    kind = float if type(value) is np.float64 else type(value)
    array = (
        f" {value.dtype.str} {value.shape}" if isinstance(value, np.ndarray | np.generic) and kind is not float else ""
    )
    return f"{kind.__module__}.{kind.__qualname__}{array}"


def _unreadable(value: Any, path: str) -> UnsupportedError:
    """Return the refusal of a type that has no reading."""
    kind = type(value)
    where = f" at {path[:60]!r}" if path else ""
    return UnsupportedError(
        f"Cannot read an output of type {kind.__module__}.{kind.__qualname__}{where}: what it holds is unknown. Return "
        "its contents as numbers, texts, arrays, a dict or a dataclass, for example through vars(output)."
    )
