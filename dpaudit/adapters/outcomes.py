"""Outputs of any kind as columns that an attack reads: what kind of outcome, its numbers, and their lowest bits.

An adversary sees a refusal: an exception is an outcome, by its class. Floating-point noise leaks through bits that no
threshold on the value shows, so that the place of the lowest set bit is a column of its own.
"""

from collections.abc import Callable, Mapping, Sequence
from numbers import Real
from typing import Any

import numpy as np

from dpaudit.model.mechanism import Array

_NO_BIT = 2000.0
_LONGEST = 80
_MOST_NUMBERS = 64


def outcome_columns(outputs: Sequence[Any]) -> dict[str, Any]:
    """Return the columns of many outputs: always "outcome", "value", "lowest_bit" and "row", one entry a run.

    An outcome is the name of a type, of an exception, of a category, or the keys of a mapping in their order. `value`
    is the first number (NaN where there is none), `row` all numbers and categories after it. The numbers of up to eight
    bytes are their bits. Edge cases: the lowest bit of 0, of infinity and of NaN is 2000; the other's is the exponent
    of two of their lowest set bit.

    >>> columns = outcome_columns([0.5, ValueError("no"), {"a": 3}])
    >>> columns["outcome"], columns["value"].tolist(), columns["lowest_bit"].tolist()
    (['float', 'raises ValueError', "dict 'a'"], [0.5, nan, 3.0], [-1.0, 2000.0, 0.0])
    """
    parsed = [_parsed(output) for output in outputs]
    first = np.array([_first(cells) for _, cells in parsed], dtype=float)
    return {
        "outcome": [outcome for outcome, _ in parsed],
        "value": first,
        "lowest_bit": lowest_bits(first),
        "row": [tuple(cells[1:] if cells and isinstance(cells[0], float) else cells) for _, cells in parsed],
    }


def lowest_bits(numbers: Array) -> Array:
    """Return the exponent of two of the lowest set bit of each number; 2000 for 0, infinity and NaN.

    >>> lowest_bits(np.array([1.0, 6.0, 0.75, 0.0])).tolist()
    [0.0, 1.0, -2.0, 2000.0]
    """
    known = np.isfinite(numbers) & (numbers != 0)
    fraction, exponent = np.frexp(np.where(known, numbers, 1.0))
    whole = np.abs(fraction * 2.0**53).astype(np.int64)
    trailing = np.log2((whole & -whole).astype(float))
    bits: Array = np.where(known, exponent - 53 + trailing, _NO_BIT)
    return bits


def one_by_one(call: Callable[[], Any], n_runs: int) -> list[Any]:
    """Return the outputs of `n_runs` calls; an exception, an exit or a lack of memory is the output of its call."""
    outputs: list[Any] = []
    for _ in range(n_runs):
        try:
            outputs.append(call())
        except (Exception, SystemExit) as error:
            outputs.append(error)
    return outputs


def _first(cells: tuple[Any, ...]) -> float:
    """Return the first cell if it is a number, or NaN."""
    return cells[0] if cells and isinstance(cells[0], float) else np.nan


def _parsed(output: Any) -> tuple[str, tuple[Any, ...]]:
    """Return the outcome of one output and its cells."""
    if isinstance(output, BaseException):
        return f"raises {type(output).__name__}", ()
    if isinstance(output, bytes) and 8 * len(output) <= _MOST_NUMBERS:
        return f"{len(output)} bytes", tuple(np.unpackbits(np.frombuffer(output, np.uint8)).astype(float).tolist())
    if isinstance(output, bool | np.bool_ | str | bytes) or output is None:
        return f"{type(output).__name__} {output!r}"[:_LONGEST], ()
    if isinstance(output, Real):
        return type(output).__name__, (_number(output),)
    if isinstance(output, Mapping):
        keys = " ".join(repr(key) for key in output)
        return f"dict {keys}"[:_LONGEST], _cells(list(output.values()))
    converted = output.tolist() if hasattr(output, "tolist") else output
    if isinstance(converted, Sequence):
        return type(output).__name__, _cells(converted)
    if isinstance(converted, Real):
        return type(output).__name__, (_number(converted),)
    return f"{type(output).__name__} {output!r}"[:_LONGEST], ()


def _cells(values: Sequence[Any]) -> tuple[Any, ...]:
    """Return numbers as floats and everything else as text, nested sequences one after another."""
    cells: list[Any] = []
    for value in values:
        converted = value.tolist() if hasattr(value, "tolist") else value
        if isinstance(converted, Sequence) and not isinstance(converted, str | bytes):
            cells += _cells(converted)
        elif type(converted) is bool or not isinstance(converted, Real):
            cells.append(f"{type(value).__name__} {value!r}"[:_LONGEST])
        else:
            cells.append(_number(converted))
        if len(cells) >= _MOST_NUMBERS:
            break
    return tuple(cells[:_MOST_NUMBERS])


def _number(value: Any) -> float:
    """Return a number as a float; one too large for it is infinite."""
    try:
        return float(value)
    except OverflowError:
        return np.inf if value > 0 else -np.inf
