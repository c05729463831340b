"""The cells of a study: (contender, epsilon, horizon, problem seed), in a fixed order."""

from dataclasses import dataclass
from itertools import product

from dpaudit.errors import ConfigError
from dpaudit.study.study import Contender, Study

RowKey = tuple[str, float | None, int]
"""The label, the claimed epsilon and the horizon of a row: what its cells have in common."""


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class Cell:
    """One cell: `runs` runs of one contender on one problem.

    `epsilon` is the claimed one, None where the contender has none. `tuning` are the chosen settings as (key, number
    of the value in the contender's list). `gap_factor` multiplies the mean rewards. `blind` runs the contender with the
    data's term of every release set to 0, whatever its role.
    """

    label: str
    epsilon: float | None
    horizon: int
    problem: int
    gap_factor: float = 1.0
    tuning: tuple[tuple[str, int], ...] = ()
    blind: bool = False

    @property
    def key(self) -> RowKey:
        """What a cell has in common with the others of its row."""
        return self.label, self.epsilon, self.horizon


def cells_of(study: Study) -> tuple[Cell, ...]:
    """Return all cells without those of tuning, contenders in the file's order, then epsilon, horizon and problem.

    Raises: ConfigError: a contender that sweeps epsilon where the study has none.
    """
    return tuple(
        Cell(label=contender.label, epsilon=epsilon, horizon=horizon, problem=problem, gap_factor=factor)
        for contender in study.contenders
        for epsilon, horizon, problem, factor in product(
            epsilons_of(study, contender),
            horizons_of(study, contender),
            study.settings.problems,
            study.settings.gap_factors,
        )
    )


def tuning_cells(study: Study, contender: Contender) -> tuple[Cell, ...]:
    """Return the cells that choose the settings of one contender, on the study's tuning seeds alone.

    Raises: ConfigError: settings to choose and no tuning seeds.
    """
    if not contender.tune:
        return ()
    if not study.settings.tuning_seeds:
        raise ConfigError(f"Expected study.tuning_seeds, on which {contender.label!r} chooses its settings.")
    choices = product(*[[(key, number) for number in range(len(values))] for key, values in contender.tune.items()])
    return tuple(
        Cell(label=contender.label, epsilon=epsilon, horizon=horizon, problem=problem, tuning=choice)
        for choice, epsilon, horizon, problem in product(
            list(choices),
            epsilons_of(study, contender),
            horizons_of(study, contender),
            study.settings.tuning_seeds,
        )
    )


def epsilons_of(study: Study, contender: Contender) -> tuple[float | None, ...]:
    """Return the claimed epsilons of a contender; (None,) where it has none.

    Raises: ConfigError: it sweeps epsilon where neither it nor the study has any.
    """
    if contender.grid is None:
        stated = contender.algorithm.get("epsilon")
        return (None if stated is None else float(stated),)
    swept = contender.epsilons or study.settings.epsilons
    if not swept:
        raise ConfigError(f"Expected study.epsilons, which {contender.label!r} sweeps.")
    return tuple(float(epsilon) for epsilon in swept)


def horizons_of(study: Study, contender: Contender) -> tuple[int, ...]:
    """Return the horizons of a contender: its own where it has some, as far as the study has them too."""
    own = tuple(horizon for horizon in contender.horizons if horizon in study.settings.horizons)
    return own if contender.horizons else study.settings.horizons
