"""The course of a study: settings are chosen, certificates made, cells measured and put into rows."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from dpaudit.errors import ConfigError
from dpaudit.study.cells import Cell, RowKey, cells_of, tuning_cells
from dpaudit.study.certified import Certified, Certify, certified_at, lower_bound_of, upper_bound_of
from dpaudit.study.contrasts import AgainstFloor, Dominance, against_floors, dominances
from dpaudit.study.digests import config_digest
from dpaudit.study.exponents import Exponent, epsilon_exponents, horizon_exponents
from dpaudit.study.making import make_algorithm, make_problem
from dpaudit.study.measured import Measured
from dpaudit.study.measuring import measure
from dpaudit.study.rows import Gain, Known, Row, by_row, rows_of, samples_of
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
    cells = [replace(cell, tuning=chosen.get(cell.key, ())) for cell in cells_of(study)]
    facts = _known(study, cells, folder, how)
    measured = tuple(_measured(study, cells, folder, how, len(trials), total))
    rows = rows_of(study, measured, facts)
    blind = tuple(_measured(study, _blind_cells(study, rows), folder, how, total, total))
    return Outcome(
        study=study,
        measured=measured,
        rows=rows,
        floors=against_floors(study, rows, {key: samples_of(cells) for key, cells in by_row(blind).items()}),
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


def _measured(
    study: Study, cells: Sequence[Cell], folder: Path, how: How, before: int, total: int
) -> Iterator[Measured]:
    """Yield the result of every cell in order; what the store has is not run again when resuming."""
    stored = {cell: how.store.read(study, cell) if how.resume else None for cell in cells}
    tasks = [partial(measure, study, cell, folder) for cell in cells if stored[cell] is None]
    fresh = how.perform(tasks)
    for number, cell in enumerate(cells, start=1):
        result = stored[cell]
        if result is None:
            result = next(fresh)
            how.store.write(study, result)
        how.progress(min(before + number, total), total)
        yield result


def _chosen(study: Study, tuned: tuple[Measured, ...]) -> dict[RowKey, tuple[tuple[str, int], ...]]:
    """Return the settings with the smallest mean regret on the tuning seeds, for each contender and horizon."""
    sums: dict[tuple[RowKey, tuple[tuple[str, int], ...]], list[float]] = {}
    for cell in tuned:
        if not cell.error:
            sums.setdefault((cell.cell.key, cell.cell.tuning), []).append(cell.mean)
    seeds = len(study.settings.tuning_seeds)
    chosen: dict[RowKey, tuple[tuple[str, int], ...]] = {}
    for (key, tuning), means in sorted(sums.items(), key=lambda item: sum(item[1]) / len(item[1])):
        if len(means) == seeds:
            chosen.setdefault(key, tuning)
    return chosen


def _known(study: Study, cells: Sequence[Cell], folder: Path, how: How) -> dict[RowKey, Known]:
    """Return what is known of each contender at each claimed epsilon and horizon, with its chosen settings.

    Raises: ConfigError: private contenders of different units.
    """
    firsts = {cell.key: cell for cell in reversed(cells)}
    private = {key: cell for key, cell in firsts.items() if study.contender(cell.label).role == "private"}
    tasks = [partial(certified_at, study, cell, folder, how.certify) for cell in private.values()]
    certified: dict[RowKey, Certified] = dict(zip(private, how.perform(tasks), strict=True))
    units = {entry.unit: key[0] for key, entry in certified.items() if entry.unit}
    if len(units) > 1:
        stated = "; ".join(f"{label} protects {unit!r}" for unit, label in sorted(units.items()))
        raise ConfigError(
            f"Expected one unit in the claims of all private contenders: {stated}. Let claim() of each return the same "
            "unit, or compare methods of different units in studies of their own."
        )
    gains: dict[tuple[str, int], Gain | None] = {}
    facts: dict[RowKey, Known] = {}
    for key, cell in firsts.items():
        algorithm = make_algorithm(study, cell, folder)
        if (cell.label, cell.horizon) not in gains:  # noise does not enter gamma_T
            gains[cell.label, cell.horizon] = _gain(study, cell, algorithm, folder)
        of_cell = certified.get(key) or _outside(study.contender(cell.label))
        facts[key] = Known(
            certified=of_cell,
            config=config_digest(algorithm, study.problem),
            bound=lower_bound_of(study, cell, of_cell, folder),
            upper=upper_bound_of(study, cell, folder) if key in private else None,
            gain=gains[cell.label, cell.horizon],
        )
    return facts


def _gain(study: Study, cell: Cell, algorithm: Any, folder: Path) -> Gain | None:
    """Return gamma_T of a contender that has a kernel."""
    stated: Callable[[Any], Gain | None] | None = getattr(algorithm, "information_gain", None)
    return stated and stated(make_problem(study, cell.horizon, study.settings.problems[0], folder))


def _outside(contender: Contender) -> Certified:
    """Return what is certified of a contender that is no private one."""
    return Certified(why=f"a {contender.role}: outside the axis")
