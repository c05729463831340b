"""The rows of a study: all problems of one contender at one claimed epsilon and horizon, with an interval."""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields, replace

from dpaudit.model.constants import RegretLowerBound, RegretUpperBound
from dpaudit.study.cells import RowKey
from dpaudit.study.certified import Certified
from dpaudit.study.intervals import Interval, student
from dpaudit.study.measured import Measured
from dpaudit.study.study import Role, Study

VISIBLE_SHARE = 0.5
"""Learning is visible below this share of the regret of uniform play only."""


Gain = tuple[float, float, float]
"""A lower and an upper end of gamma_T in nats, and the value without a kernel."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """What is known of a row before it runs."""

    certified: Certified
    config: str
    bound: RegretLowerBound | None = None
    upper: RegretUpperBound | None = None
    gain: Gain | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Row(Known):
    """One contender at one claimed epsilon and horizon.

    `samples` are what the interval is over: the means of the problems, or the runs of a fixed problem; those of all
    rows at one horizon are paired. `uniform` and `myopic` have the same pairing. Regret is of the whole horizon.
    `worst` is that of the worst of all instances that `bound` speaks of; None unless they all were run.
    `config` is the digest of algorithm and problem, `family` what runs with and without noise have in common. `bound`
    is what every method of that certified epsilon loses on the worst of some instances; None where it is not known.
    `upper` is what is proved of the contender; None where nothing is.
    `gain` are both ends of gamma_T for the contender's kernel on the first problem, and its value without a kernel.
    """

    label: str
    name: str
    family: str
    role: Role
    epsilon: float | None
    horizon: int
    samples: tuple[float, ...]
    uniform: tuple[float, ...]
    myopic: tuple[float, ...]
    regret: Interval
    lost: float
    measured: tuple[Measured, ...] = field(repr=False)
    worst: Interval | None = None

    @property
    def key(self) -> RowKey:
        """The label, the claimed epsilon and the horizon."""
        return self.label, self.epsilon, self.horizon

    @property
    def share(self) -> float:
        """The mean regret over that of uniform play; NaN where uniform play loses nothing."""
        uniform = sum(self.uniform) / len(self.uniform)
        return self.regret.mean / uniform if uniform > 0 else math.nan

    @property
    def has_point(self) -> bool:
        """Return whether the row has a place on the axis of certified epsilon."""
        return self.role == "private" and self.certified.has_point


def rows_of(study: Study, measured: Iterable[Measured], facts: Mapping[RowKey, Known]) -> tuple[Row, ...]:
    """Return one row for each (label, epsilon, horizon) whose cells all have a result, in the order of the cells.

    Cells with a gap factor other than 1 belong to the worst-gap envelope and to no row.
    """
    ungapped = (cell for cell in measured if cell.cell.gap_factor == 1.0)
    return tuple(_row(study, key, cells, facts[key]) for key, cells in by_row(ungapped).items())


def by_row(measured: Iterable[Measured]) -> dict[RowKey, tuple[Measured, ...]]:
    """Return the cells of each row whose cells all have a result, in the order of the cells."""
    grouped: dict[RowKey, list[Measured]] = {}
    for cell in measured:
        grouped.setdefault(cell.cell.key, []).append(cell)
    return {key: tuple(cells) for key, cells in grouped.items() if not any(cell.error for cell in cells)}


def samples_of(cells: tuple[Measured, ...]) -> tuple[float, ...]:
    """Return what the interval of a row is over: the means of problems, or the runs of a fixed one."""
    return cells[0].regret if len(cells) == 1 else tuple(cell.mean for cell in cells)


def worst_instance(cells: tuple[Measured, ...], bound: RegretLowerBound | None, alpha: float) -> Interval | None:
    """Return the largest mean regret over all instances of a lower bound; None unless they all were run.

    Guarantee: the intervals of all instances hold together with probability 1 - alpha, so the largest of their lower
    ends and the largest of their upper ends enclose the largest mean.
    """
    instances = bound.instances if bound is not None and bound.is_member else 0
    if not instances or {cell.cell.problem for cell in cells} != set(range(instances)):
        return None
    each = [student(cell.regret, alpha / instances) for cell in cells]
    worst = max(each, key=lambda interval: interval.mean)
    ends = [max(getattr(interval, end) for interval in each) for end in ("lower", "upper")]
    return replace(worst, lower=ends[0], upper=ends[1])


def _row(study: Study, key: RowKey, cells: tuple[Measured, ...], facts: Known) -> Row:
    """Return the row of cells that all have a result."""
    label, epsilon, horizon = key
    contender, certified = study.contender(label), facts.certified
    single, samples = len(cells) == 1, samples_of(cells)
    objections = tuple(dict.fromkeys(line for cell in cells for line in cell.objections))
    if objections and certified.has_point:
        certified = Certified(why=f"no certificate: {objections[0]}")
    lost = [cell.lost for cell in cells if not math.isnan(cell.lost)]
    return Row(
        label=label,
        name=contender.name,
        family=contender.family,
        role=contender.role,
        epsilon=epsilon,
        horizon=horizon,
        **{entry.name: getattr(facts, entry.name) for entry in fields(facts)} | {"certified": certified},
        samples=samples,
        uniform=(cells[0].uniform,) * len(samples) if single else tuple(cell.uniform for cell in cells),
        myopic=(cells[0].myopic,) * len(samples) if single else tuple(cell.myopic for cell in cells),
        regret=student(samples, study.settings.alpha),
        lost=sum(lost) / len(lost) if lost else math.nan,
        measured=cells,
        worst=worst_instance(cells, facts.bound, study.settings.alpha),
    )
