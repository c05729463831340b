"""The law of a mechanism by its own density: samples of single numbers against the integral of exp(log_density)."""

from typing import Any

import numpy as np

from audits.checks.laws.departures import departures, worst
from audits.testing.check import Check
from dpaudit import Mechanism
from dpaudit.model.mechanism import Array

_SAMPLES = 40_000
_ALARM = 1e-9
_POINTS = 400_001
_REACH = 4.0
_MASS = 1e-3
_MOST_WHOLE = 1_000_000


def law_check(mechanism: Mechanism, answer: Any, rng: np.random.Generator) -> Check:
    """Return whether samples around a number follow exp(log_density), and whether that has mass 1.

    Outputs that are whole numbers are read as a law on whole numbers, others as one with a density. The density is
    integrated on a grid that reaches four times beyond the samples. False alarm: 1e-9 for a density that is smooth on
    the grid; a size of the noise that is off by 4 % is found. Outputs of more than one number are not looked at.
    """
    value = np.asarray(answer)
    output = np.asarray(mechanism.release(np.broadcast_to(value, (_SAMPLES, *value.shape)), rng))
    if value.ndim or output.shape != (_SAMPLES,) or output.dtype.kind not in "biuf":
        return Check(what="law", outcome="not looked at", says="only outputs of one number have a law check here")
    if not np.isfinite(output.astype(np.float64)).all():
        return Check(what="law", outcome="failed", says="some samples are not finite")
    whole = output.dtype.kind in "biu"
    placed = _whole_numbers(mechanism, output, value, rng) if whole else _real_numbers(mechanism, output, value)
    if isinstance(placed, str):
        return Check(what="law", outcome="failed", says=placed)
    departure = worst(list(departures(placed[:, None])))
    if departure.probability < _ALARM:
        return Check(what="law", outcome="failed", says=f"samples do not follow log_density: {departure.says}")
    repeated = len(output) - len(np.unique(output))
    if not whole and repeated > 2:
        return Check(what="law", outcome="failed", says=f"{repeated} of {len(output)} continuous samples are repeated")
    return Check(what="law", outcome="ok", says=f"{len(output):,} samples follow log_density")


def _real_numbers(mechanism: Mechanism, output: Array, value: Array) -> Array | str:
    """Return the distribution function at each sample, by the trapezoidal rule; a sentence where the mass is not 1."""
    low, high = float(output.min()), float(output.max())
    reach = _REACH * max(high - low, 1e-300)
    grid = np.linspace(low - reach, high + reach, _POINTS)
    with np.errstate(over="ignore", under="ignore"):
        density = np.exp(np.asarray(mechanism.log_density(grid, np.broadcast_to(value, grid.shape)), dtype=np.float64))
    below = np.concatenate([[0.0], np.cumsum((density[1:] + density[:-1]) / 2 * (grid[1] - grid[0]))])
    return _placed(below, np.interp(output, grid, below))


def _whole_numbers(mechanism: Mechanism, output: Array, value: Array, rng: np.random.Generator) -> Array | str:
    """Return a random place in the step of each sample; a sentence where the mass is not 1."""
    low, high = int(output.min()), int(output.max())
    reach = min(int(_REACH * (high - low + 8)), _MOST_WHOLE)
    grid = np.arange(low - reach, high + reach + 1)
    with np.errstate(over="ignore", under="ignore"):
        mass = np.exp(np.asarray(mechanism.log_density(grid, np.broadcast_to(value, grid.shape)), dtype=np.float64))
    below, at = np.concatenate([[0.0], np.cumsum(mass)]), output.astype(np.int64) - grid[0]
    return _placed(below, below[at] + mass[at] * rng.random(len(output)))


def _placed(below: Array, at: Array) -> Array | str:
    """Return places over the whole mass, or that the mass is not 1."""
    total = float(below[-1])
    if not abs(total - 1) <= _MASS:
        return f"exp(log_density) has mass {total:.6g} and not 1"
    placed: Array = np.asarray(at / total)
    return placed
