"""The course of a study: settings are chosen, certificates made, cells measured and put into rows."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from dpaudit.errors import ConfigError
from dpaudit.model.constants import RegretLowerBound, RegretUpperBound
from dpaudit.study.cells import Cell, cells_of, tuning_cells
from dpaudit.study.certified import Certified, Certify, certified_at, lower_bound_of, upper_bound_of
from dpaudit.study.contrasts import AgainstFloor, Dominance, against_floors, dominances
from dpaudit.study.digests import config_digest
from dpaudit.study.exponents import Exponent, epsilon_exponents, horizon_exponents
from dpaudit.study.making import make_algorithm, make_problem
from dpaudit.study.measured import Measured
from dpaudit.study.measuring import measure
from dpaudit.study.rows import Gain, Row, RowKey, rows_of
from dpaudit.study.store import CellStore
from dpaudit.study.study import Contender, Study

T = TypeVar("T")

Perform = Callable[[Sequence[Callable[[], Any]]], Iterator[Any]]
"""Runs tasks and yields their results in order, here or in other processes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """Everything that a study found. `tuned` are the trials of settings, `chosen` the winners among them.

    `blind` are the blind twins of the rows that no other floor kept from being visible.
    """

    study: Study
    measured: tuple[Measured, ...]
    rows: tuple[Row, ...]
    floors: tuple[AgainstFloor, ...]
    dominated: tuple[Dominance, ...]
    exponents: tuple[Exponent, ...]
    tuned: tuple[Measured, ...]
    chosen: tuple[Cell, ...]
    blind: tuple[Measured, ...] = ()

    @property
    def failed(self) -> tuple[Measured, ...]:
        """The cells that have no result."""
        return tuple(cell for cell in (*self.tuned, *self.measured) if cell.error)


@dataclass(frozen=True, slots=True, kw_only=True)
class How:
    """How a study runs; it changes no number. `store` keeps cells, `resume` takes those that it has."""

    perform: Perform
    certify: Certify
    store: CellStore
    resume: bool = False
    progress: Callable[[int, int], None] = lambda done, total: None


def run_study(study: Study, folder: Path, how: How) -> Outcome:
    """Return what a study found; `folder` is that of its file, against which paths in it are read.

    Guarantee: for one version of the code and its libraries the numbers depend on the study alone, not on `how`.
    Raises: ConfigError: contenders that must not share an axis, or a store that cannot be written.
    """
    trials = [cell for contender in study.contenders for cell in tuning_cells(study, contender)]
    total = len(trials) + len(cells_of(study))
    tuned = tuple(_measured(study, trials, folder, how, 0, total))
    chosen = _chosen(study, tuned)
    cells = [replace(cell, tuning=chosen.get((cell.label, cell.epsilon, cell.horizon), ())) for cell in cells_of(study)]
    certified = _certified(study, cells, folder, how)
    measured = tuple(_measured(study, cells, folder, how, len(trials), total))
    rows = rows_of(
        study,
        measured,
        certified,
        _configs(study, cells, folder),
        _bounds(study, cells, certified, folder),
        _uppers(study, cells, folder),
        _gains(study, cells, folder),
    )
    blind = tuple(_measured(study, _blind_cells(study, rows), folder, how, total, total))
    return Outcome(
        study=study,
        measured=measured,
        rows=rows,
        floors=against_floors(study, rows, _twins(blind)),
        dominated=dominances(study, rows),
        exponents=(*horizon_exponents(study, rows, measured), *epsilon_exponents(study, rows)),
        tuned=tuned,
        blind=blind,
        chosen=tuple(dict.fromkeys(replace(cell, problem=0) for cell in cells if cell.tuning)),
    )


def _blind_cells(study: Study, rows: tuple[Row, ...]) -> list[Cell]:
    """Return the blind twins of the cells of every row that beats all other floors with a share of one half or less."""
    lines = (line for line in against_floors(study, rows) if line.visible == "no blind floor")
    return [replace(cell.cell, blind=True) for line in lines for cell in line.row.measured]


def _twins(blind: tuple[Measured, ...]) -> dict[RowKey, tuple[float, ...]]:
    """Return the samples of blind twins by row: means of problems, or the runs of a fixed one; failed ones left out."""
    grouped: dict[RowKey, list[Measured]] = {}
    for cell in blind:
        grouped.setdefault((cell.cell.label, cell.cell.epsilon, cell.cell.horizon), []).append(cell)
    return {
        key: cells[0].regret if len(cells) == 1 else tuple(cell.mean for cell in cells)
        for key, cells in grouped.items()
        if not any(cell.error for cell in cells)
    }


def _measured(
    study: Study, cells: Sequence[Cell], folder: Path, how: How, before: int, total: int
) -> Iterator[Measured]:
    """Yield the result of every cell in order; what the store has is not run again when resuming."""
    kept = {cell: how.store.read(study, cell) if how.resume else None for cell in cells}
    tasks = [partial(measure, study, cell, folder) for cell in cells if kept[cell] is None]
    fresh = how.perform(tasks)
    for number, cell in enumerate(cells, start=1):
        held = kept[cell]
        if held is None:
            held = next(fresh)
            how.store.write(study, held)
        how.progress(min(before + number, total), total)
        yield held


def _chosen(study: Study, tuned: tuple[Measured, ...]) -> dict[RowKey, tuple[tuple[str, int], ...]]:
    """Return the settings with the smallest mean regret on the tuning seeds, for each contender and horizon."""
    sums: dict[tuple[RowKey, tuple[tuple[str, int], ...]], list[float]] = {}
    for cell in tuned:
        if not cell.error:
            key = (cell.cell.label, cell.cell.epsilon, cell.cell.horizon)
            sums.setdefault((key, cell.cell.tuning), []).append(cell.mean)
    seeds = len(study.settings.tuning_seeds)
    chosen: dict[RowKey, tuple[tuple[str, int], ...]] = {}
    for (key, tuning), means in sorted(sums.items(), key=lambda item: sum(item[1]) / len(item[1])):
        if len(means) == seeds:
            chosen.setdefault(key, tuning)
    return chosen


def _certified(study: Study, cells: Sequence[Cell], folder: Path, how: How) -> dict[RowKey, Certified]:
    """Return what is certified of each contender at each claimed epsilon and horizon, with its chosen settings.

    Raises: ConfigError: private contenders of different units.
    """
    firsts = {(cell.label, cell.epsilon, cell.horizon): cell for cell in reversed(cells)}
    private = {key: cell for key, cell in firsts.items() if study.contender(cell.label).role == "private"}
    tasks = [partial(certified_at, study, cell, folder, how.certify) for cell in private.values()]
    made: dict[RowKey, Certified] = dict(zip(private, how.perform(tasks), strict=True))
    units = {held.unit for held in made.values() if held.unit}
    if len(units) > 1:
        raise ConfigError(f"Expected one unit on the axis; the contenders have: {'; '.join(sorted(units))}.")
    return {key: made.get(key) or _outside(study.contender(key[0])) for key in firsts}


def _bounds(
    study: Study, cells: Sequence[Cell], certified: dict[RowKey, Certified], folder: Path
) -> dict[RowKey, RegretLowerBound | None]:
    """Return the lower bound on regret of each contender at each certified epsilon and horizon."""
    firsts = {(cell.label, cell.epsilon, cell.horizon): cell for cell in reversed(cells)}
    return {key: lower_bound_of(study, cell, certified[key], folder) for key, cell in firsts.items()}


def _uppers(study: Study, cells: Sequence[Cell], folder: Path) -> dict[RowKey, RegretUpperBound | None]:
    """Return what is proved of the regret of each private contender at each epsilon and horizon."""
    firsts = {(cell.label, cell.epsilon, cell.horizon): cell for cell in reversed(cells)}
    private = {key: cell for key, cell in firsts.items() if study.contender(cell.label).role == "private"}
    return {key: upper_bound_of(study, cell, folder) for key, cell in private.items()}


def _gains(study: Study, cells: Sequence[Cell], folder: Path) -> dict[RowKey, Gain | None]:
    """Return gamma_T of every contender that has a kernel, at each horizon; noise does not enter."""
    found: dict[tuple[str, int], Gain | None] = {}
    for cell in cells:
        if (cell.label, cell.horizon) not in found:
            stated = getattr(make_algorithm(study, cell, folder), "information_gain", None)
            problem = make_problem(study, cell.horizon, study.settings.problems[0], folder)
            found[cell.label, cell.horizon] = stated and stated(problem)
    return {(cell.label, cell.epsilon, cell.horizon): found[cell.label, cell.horizon] for cell in cells}


def _configs(study: Study, cells: Sequence[Cell], folder: Path) -> dict[RowKey, str]:
    """Return the digest of the configuration of each contender at each claimed epsilon and horizon."""
    firsts = {(cell.label, cell.epsilon, cell.horizon): cell for cell in reversed(cells)}
    return {key: config_digest(make_algorithm(study, cell, folder), study.problem) for key, cell in firsts.items()}


def _outside(contender: Contender) -> Certified:
    """Return what is certified of a contender that is no private one."""
    return Certified(why=f"a {contender.role}: outside the axis")
