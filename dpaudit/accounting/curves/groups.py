"""Group privacy of a whole curve: what `size` records of one person cost, from the curve of one record.

A chain of neighbours leads from one data set to the other. h of the whole chain is at most h_first(x1) + x1
h_rest(x / x1), at every x1 > 0: an event's probability is passed on along the chain.
Source: Dong, Roth and Su (2022), Theorem 2.14, in its dual form.
"""

from dataclasses import replace

import numpy as np

from dpaudit.accounting.accountant import bracket_delta
from dpaudit.accounting.curves.hockey_stick import POINTS, HockeyStick, engines_for
from dpaudit.accounting.curves.table import CurveTable
from dpaudit.accounting.normal_form import NormalForm

_SPLITS, _KNOTS = 2400, 97
_LARGEST = 600.0
_ROUNDING = 1e-13


def chained(first: HockeyStick, second: HockeyStick) -> HockeyStick:
    """Return bounds on h along a chain of the two curves; the lower bound is that of `first` alone.

    Guarantee: `upper` holds for two data sets that differ by a pair of each curve, one after the other.
    """
    reach = min(first.epsilons[-1] + second.epsilons[-1], _LARGEST)
    epsilons = np.linspace(0.0, reach, _KNOTS)
    steps = np.linspace(-reach, 2 * reach, _SPLITS)
    alone = first.above(steps)
    upper = []
    for epsilon in epsilons:
        splits = np.append(steps, epsilon * np.linspace(0.0, 1.0, 33))
        values = np.append(alone, first.above(splits[len(steps) :]))
        total = values + np.exp(np.minimum(splits, _LARGEST)) * second.above(epsilon - splits)
        upper.append(min(1.0, float(total.min()) * (1 + _ROUNDING)))
    return HockeyStick(
        epsilons=tuple(epsilons.tolist()),
        lower=tuple(np.minimum(first.below(epsilons), upper).tolist()),
        upper=tuple(upper),
    )


def of_group(curve: HockeyStick, size: int) -> HockeyStick:
    """Return bounds for `size` records, by chains of chains; `size` 1 gives the curve itself."""
    power, group_curve = curve, None
    while True:
        if size & 1:
            group_curve = power if group_curve is None else chained(group_curve, power)
        size >>= 1
        if not size:
            return group_curve or power
        power = chained(power, power)


def group_table(
    curve: HockeyStick, size: int, grouped: NormalForm | None, *, chain: bool, violated: bool, points: int = POINTS
) -> CurveTable:
    """Return delta(epsilon) for `size` records changed together, at `points` epsilons.

    `grouped` is the normal form of the group where one exists: its bound stands where it is lower. `chain` says that
    every data set between has the same curve; without it nothing but the normal form bounds the group.
    """
    group_curve = of_group(curve, size)
    if not chain and size > 1:
        group_curve = replace(group_curve, upper=(1.0,) * len(group_curve.upper))
    rows = []
    epsilons = np.linspace(0.0, group_curve.epsilons[-1], points)
    for epsilon, low, high in zip(
        epsilons.tolist(), group_curve.below(epsilons).tolist(), group_curve.above(epsilons).tolist(), strict=True
    ):
        if grouped is not None and not violated:
            bound = bracket_delta(grouped, epsilon, engines_for(grouped)).upper
            rows.append((epsilon, low, min(high, max(low, bound))))
        else:
            rows.append((epsilon, low, high))
    return CurveTable(
        kind="group",
        meaning=f"delta by epsilon for {size} records of one person changed together; from below, what one of them "
        "attains",
        columns=("epsilon", "lower", "upper"),
        rows=tuple(rows),
    )
