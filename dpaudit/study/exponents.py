"""Exponents of regret: in the horizon, by the worst-gap envelope where there is one, and in epsilon."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from dpaudit.model.mechanism import Array
from dpaudit.study.intervals import Interval, student
from dpaudit.study.measured import Measured
from dpaudit.study.rows import VISIBLE_SHARE, Row
from dpaudit.study.study import LENGTH, Study

_LEAST_HORIZONS = 4
_LEAST_DECADES = 2.0
_LEAST_EPSILONS = 3
_LEAST_ERROR = 1e-6
"""The smallest error that a weight takes for true, as a share of the mean."""

_CLEAR = 4.0
"""A difference counts from so many standard errors on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Exponent:
    """A fitted power; `variable` is "horizon" or "epsilon", `fit` says which regret was fitted.

    `why` says why there is none; then the numbers are NaN. `points` are the values of the variable that the fit used.
    `root` and `offset` are a and b of a sqrt(T) + b, where that was fitted too.
    """

    label: str
    epsilon: float | None
    variable: str
    fit: str
    horizon: int | None = None
    slope: float = math.nan
    lower: float = math.nan
    upper: float = math.nan
    points: tuple[float, ...] = ()
    root: float = math.nan
    offset: float = math.nan
    why: str = ""


def slope_of(variable: Sequence[float], regret: Sequence[float]) -> float:
    """Return the least-squares slope of ln regret on ln variable; NaN where a regret is not positive.

    >>> round(slope_of([1.0, 10.0, 100.0], [2.0, 20.0, 200.0]), 12)
    1.0
    """
    if min(regret) <= 0:
        return math.nan
    return float(np.polyfit(np.log(variable), np.log(regret), 1)[0])


def root_and_offset(horizons: Sequence[float], regret: Sequence[float], errors: Sequence[float]) -> tuple[float, float]:
    """Return a and b of a sqrt(T) + b with a, b >= 0, by least squares with weights 1 / error^2.

    >>> root_and_offset([1.0, 4.0, 9.0], [3.0, 4.0, 5.0], [1.0, 1.0, 1.0])
    (1.0, 2.0)
    """
    from scipy.optimize import nnls  # noqa: PLC0415  # optimisers load slowly

    weights = 1 / np.asarray(errors, dtype=np.float64)
    design = np.column_stack([np.sqrt(horizons), np.ones(len(horizons))])
    target = np.asarray(regret, dtype=np.float64)
    root, offset = nnls(design * weights[:, None], target * weights)[0]
    return round(float(root), 12), round(float(offset), 12)


def horizon_exponents(study: Study, rows: tuple[Row, ...], measured: tuple[Measured, ...]) -> tuple[Exponent, ...]:
    """Return the power of the horizon for each contender and epsilon, with a Student interval over problems.

    Only horizons in the learning range count: a share of at most one half. With gap factors the regret is the
    worst-gap envelope, the largest mean regret over the factors for each horizon and problem. One fixed problem has a
    power only where it changes with the horizon, as the family of a lower bound does; the interval is then over runs.
    """
    keys = dict.fromkeys((row.label, row.epsilon) for row in rows if row.role != "floor")
    enveloped = len(study.settings.gap_factors) > 1
    return tuple(_of_horizon(study, label, epsilon, rows, measured if enveloped else ()) for label, epsilon in keys)


def _of_horizon(
    study: Study, label: str, epsilon: float | None, rows: tuple[Row, ...], measured: tuple[Measured, ...]
) -> Exponent:
    """Return the power of the horizon of one contender at one epsilon."""
    fit = "worst-gap envelope" if measured else "regret"
    own = [row for row in rows if (row.label, row.epsilon) == (label, epsilon)]
    learning = sorted((row for row in own if row.share <= VISIBLE_SHARE), key=lambda row: row.horizon)
    horizons = tuple(float(row.horizon) for row in learning)
    stub = Exponent(label=label, epsilon=epsilon, variable="horizon", fit=fit, points=horizons)
    if len(horizons) < _LEAST_HORIZONS or math.log10(horizons[-1] / horizons[0]) < _LEAST_DECADES - 1e-9:
        return _without(stub, "not in range: fewer than 4 horizons or 2 decades at which learning shows")
    fades = LENGTH in study.problem.values()
    if len(study.settings.problems) < 2 and not fades:
        return _without(stub, "one fixed problem: its gaps say nothing about a minimax theorem")
    curves = (
        [_envelope(measured, label, epsilon, horizons, seed) for seed in study.settings.problems]
        if measured
        else [[row.samples[number] for row in learning] for number in range(len(learning[0].samples))]
    )
    table = np.array(curves)
    single = len(study.settings.problems) < 2
    if (table.mean(axis=0) if single else table).min() <= 0:
        return _without(stub, "a regret of 0 has no logarithm")
    slopes = [slope_of(horizons, curve) for curve in curves]
    interval = jackknife(horizons, table, study.settings.alpha) if single else student(slopes, study.settings.alpha)
    means = table.mean(axis=0)
    errors = np.maximum(table.std(axis=0, ddof=1) / math.sqrt(len(table)), _LEAST_ERROR * means)
    root, offset = root_and_offset(horizons, list(means), list(errors))
    return replace(stub, slope=interval.mean, lower=interval.lower, upper=interval.upper, root=root, offset=offset)


def jackknife(variable: Sequence[float], curves: Array, alpha: float) -> Interval:
    """Return the slope of the mean curve with a Student interval over the jackknife's pseudo-values.

    For runs of one problem, whose single curves may touch 0. Shape: curves (runs, points).

    >>> interval = jackknife([1.0, 10.0, 100.0], np.array([[0.5, 15.0, 100.0], [1.5, 5.0, 100.0]]), 0.05)
    >>> round(interval.mean, 12)
    1.0
    """
    number = len(curves)
    mean_curve_slope = slope_of(variable, curves.mean(axis=0))
    left = [slope_of(variable, np.delete(curves, run, axis=0).mean(axis=0)) for run in range(number)]
    interval = student([number * mean_curve_slope - (number - 1) * slope for slope in left], alpha)
    shift = mean_curve_slope - interval.mean
    return replace(interval, mean=mean_curve_slope, lower=interval.lower + shift, upper=interval.upper + shift)


def _without(stub: Exponent, why: str) -> Exponent:
    """Return the exponent that there is not, with the reason."""
    return replace(stub, points=(), why=why)


def _envelope(
    measured: tuple[Measured, ...], label: str, epsilon: float | None, horizons: tuple[float, ...], seed: int
) -> list[float]:
    """Return the largest mean regret over gap factors at each horizon, on one problem."""
    return [
        max(cell.mean for cell in measured if (*cell.cell.key, cell.cell.problem) == (label, epsilon, horizon, seed))
        for horizon in horizons
    ]


def epsilon_exponents(study: Study, rows: tuple[Row, ...]) -> tuple[Exponent, ...]:
    """Return the power of certified epsilon in the extra regret over the ceiling, for each contender and horizon.

    The ceiling is the contender's own algorithm without noise at that horizon. Points count where the paired
    difference is above 4 standard errors and the share at most one half. The interval comes from slopes by problem.
    """
    keys = dict.fromkeys((row.label, row.horizon) for row in rows if row.has_point and row.epsilon is not None)
    return tuple(_of_epsilon(study, label, horizon, rows) for label, horizon in keys)


def _of_epsilon(study: Study, label: str, horizon: int, rows: tuple[Row, ...]) -> Exponent:
    """Return the power of epsilon of one contender at one horizon."""
    stub = Exponent(label=label, epsilon=None, variable="epsilon", fit="extra regret over no noise", horizon=horizon)
    own = sorted(
        (row for row in rows if (row.label, row.horizon) == (label, horizon) and row.has_point),
        key=lambda row: row.certified.epsilon,
    )
    ceiling = next(
        (row for row in rows if row.role == "ceiling" and row.family == own[0].family and row.horizon == horizon), None
    )
    if ceiling is None:
        return _without(stub, "no run of the same algorithm without noise")
    extra = [(row, [a - b for a, b in zip(row.samples, ceiling.samples, strict=True)]) for row in own]
    used = [(row, values) for row, values in extra if row.share <= VISIBLE_SHARE and _is_clear(values)]
    if len(used) < _LEAST_EPSILONS:
        return _without(stub, "not in range: fewer than 3 epsilons with a clear difference and learning that shows")
    epsilons = [row.certified.epsilon for row, _ in used]
    slopes = [slope_of(epsilons, [values[number] for _, values in used]) for number in range(len(used[0][1]))]
    pooled = slope_of(epsilons, [sum(values) / len(values) for _, values in used])
    defined_slopes = [slope for slope in slopes if not math.isnan(slope)]
    interval = student(defined_slopes, study.settings.alpha) if len(defined_slopes) == len(slopes) else None
    fitted = replace(stub, points=tuple(epsilons), slope=pooled)
    return fitted if interval is None else replace(fitted, lower=interval.lower, upper=interval.upper)


def _is_clear(values: list[float]) -> bool:
    """Return whether paired differences are above 4 standard errors."""
    interval = student(values, 0.5)
    return interval.count > 1 and interval.mean > _CLEAR * interval.error
