"""Contrasts between rows at one horizon: against the best floor, whether learning is visible, and dominance."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from dpaudit.study.cells import RowKey
from dpaudit.study.intervals import Interval, paired
from dpaudit.study.rows import VISIBLE_SHARE, Row
from dpaudit.study.study import Study

Visible = Literal["yes", "no", "no blind floor"]

_SAFETY = 1e-6
"""Noise that is calibrated for one epsilon in two ways is certified at numbers that differ by less."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AgainstFloor:
    """A private row against the best floor at its horizon; `visible` says whether it is shown to learn."""

    row: Row
    floor: str
    difference: Interval
    visible: Visible


@dataclass(frozen=True, slots=True, kw_only=True)
class Dominance:
    """`better` loses less than `worse`, at a certified epsilon that is not larger and a trust model not weaker."""

    better: Row
    worse: Row
    difference: Interval


Twins = Mapping[RowKey, tuple[float, ...]]
"""The samples of blind runs of private rows: the same settings, noise and seeds, paired with those of the row."""


def against_floors(study: Study, rows: tuple[Row, ...], twins: Twins | None = None) -> tuple[AgainstFloor, ...]:
    """Return every private row against the best floor at its horizon: uniform, myopic, or blind.

    The error `alpha` is shared by all private rows. "yes" needs a share of at most one half and an interval below 0;
    "no blind floor" says that no blind run of the very configuration was measured, so that nothing is shown. A blind
    run at another noise is a floor, but no proof: noise by itself can lower the regret of a method that reads no data.
    """
    private = [row for row in rows if row.role == "private"]
    alpha = study.settings.alpha / max(len(private), 1)
    return tuple(_against(row, rows, alpha, twins or {}) for row in private)


def _against(row: Row, rows: tuple[Row, ...], alpha: float, twins: Twins) -> AgainstFloor:
    """Return one row against the floor with the smallest mean."""
    blind = [floor for floor in rows if floor.role == "floor" and floor.horizon == row.horizon]
    floors = {"uniform play": row.uniform}
    if not any(math.isnan(value) for value in row.myopic):
        floors["myopic play"] = row.myopic
    for floor in blind:
        if len(floor.samples) == len(row.samples):
            floors[floor.label if floor.epsilon is None else f"{floor.label} at {floor.epsilon:g}"] = floor.samples
    twin = twins.get(row.key, ())
    if len(twin) == len(row.samples):
        floors[f"{row.label} without data"] = twin
    best = min(floors, key=lambda name: sum(floors[name]) / len(floors[name]))
    difference = paired(row.samples, floors[best], alpha)
    learns = row.share <= VISIBLE_SHARE and difference.upper < 0
    same = any((floor.name, floor.config) == (row.name, row.config) for floor in blind)
    compared = same or len(twin) == len(row.samples)
    visible: Visible = ("yes" if compared else "no blind floor") if learns else "no"
    return AgainstFloor(row=row, floor=best, difference=difference, visible=visible)


def dominances(study: Study, rows: tuple[Row, ...]) -> tuple[Dominance, ...]:
    """Return every pair of rows of different contenders of which one dominates the other.

    Only rows with a place on the axis are compared, at one horizon. J is the number of ordered pairs whose certified
    epsilon and trust model allow dominance, and each interval has error alpha / J.
    """
    pointed = [row for row in rows if row.has_point]
    pairs = [
        (better, worse)
        for better in pointed
        for worse in pointed
        if better.label != worse.label and better.horizon == worse.horizon and _not_weaker(better, worse)
    ]
    alpha = study.settings.alpha / max(len(pairs), 1)
    compared = [
        Dominance(better=better, worse=worse, difference=paired(better.samples, worse.samples, alpha))
        for better, worse in pairs
        if len(better.samples) == len(worse.samples)
    ]
    return tuple(pair for pair in compared if pair.difference.upper < 0)


def _not_weaker(better: Row, worse: Row) -> bool:
    """Return whether `better` has a certified epsilon not larger, up to the safety of noise, and a model not weaker.

    A local guarantee is a central one, and a central one a joint one, under `replace_one`.
    """
    order = {"local": 0, "central": 1, "joint": 2}
    return (
        better.certified.epsilon <= worse.certified.epsilon * (1 + _SAFETY)
        and order[better.certified.model] <= order[worse.certified.model]
    )
