"""Functions for an audit from a library's calls: the outputs as the library returned them, and their lowest bits.

Floating-point noise leaks through bits that no threshold on the value shows, so that the place of the lowest set bit
is a column of its own.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any, TypeAlias

import numpy as np

from dpaudit.model.mechanism import Array

_NO_BIT = 2000.0
_Of: TypeAlias = Callable[[Any], Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Calls:
    """Runs of `call(data)`, whose noise is the library's own: the generator of the audit is not used.

    `released` picks what is published of an output, which is all of it without.
    """

    call: _Of
    released: _Of | None = None

    def __call__(self, data: Any, rng: np.random.Generator, n_runs: int) -> dict[str, Any]:
        """Return the outputs of `n_runs` calls and their lowest bits."""
        del rng
        return _columns(self.call, self.released, data, n_runs)


@dataclass(frozen=True, slots=True, kw_only=True)
class SeededCalls:
    """The same of `prepare(seed)(data)`: one prepared call for each batch, seeded by the audit's generator."""

    prepare: Callable[[int], _Of]
    released: _Of | None = None

    def __call__(self, data: Any, rng: np.random.Generator, n_runs: int) -> dict[str, Any]:
        """Return the outputs of `n_runs` calls and their lowest bits."""
        call = self.prepare(int(rng.integers(2**32)))
        return _columns(call, self.released, data, n_runs)


def number_or_nan(value: Any) -> float:
    """Return a number that a library states as a double; NaN for what is none.

    >>> number_or_nan("0.5"), number_or_nan(None)
    (0.5, nan)
    """
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):
        return math.nan


def lowest_bits(numbers: Array) -> Array:
    """Return the exponent of two of the lowest set bit of each number; 2000 for 0, infinity and NaN.

    >>> lowest_bits(np.array([1.0, 6.0, 0.75, 0.0])).tolist()
    [0.0, 1.0, -2.0, 2000.0]
    """
    has_bits = np.isfinite(numbers) & (numbers != 0)
    fraction, exponent = np.frexp(np.where(has_bits, numbers, 1.0))
    significand = np.abs(fraction * 2.0**53).astype(np.int64)
    trailing = np.log2((significand & -significand).astype(float))
    return np.where(has_bits, exponent - 53 + trailing, _NO_BIT)


def _columns(call: _Of, released: _Of | None, data: Any, n_runs: int) -> dict[str, Any]:
    """Return the outputs of many calls, and the lowest bit of the first number of each."""
    # A learner of thresholds needs far more runs to find a leak in last bits than one who is shown their place.
    outputs = [_outcome(call, released, data) for _ in range(n_runs)]
    return {"output": outputs, "lowest_bit": lowest_bits(np.array([_first_number(output) for output in outputs]))}


def _outcome(call: _Of, released: _Of | None, data: Any) -> Any:
    """Return the output of one call; a refusal is one too: an exception, an exit or a lack of memory is returned."""
    try:
        output = call(data)
        return output if released is None else released(output)
    except (Exception, SystemExit) as error:
        return error


def _first_number(output: Any) -> float:
    """Return what an output begins with where that is a number, or NaN; one too large for a float is infinite."""
    content = list(output.values()) if isinstance(output, Mapping) else output
    content = content.tolist() if hasattr(content, "tolist") else content
    if isinstance(content, Sequence) and not isinstance(content, str | bytes):
        return _first_number(content[0]) if content else np.nan
    if isinstance(content, bool) or not isinstance(content, Real):
        return np.nan
    try:
        return float(content)
    except OverflowError:
        return np.inf
