"""The coverage of audit cases: the releases that each attacks and the lines that each runs, seen on a few runs."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np

from audits.experiment.lines_run import Lines, lines_run, own_files, spans
from dpaudit import AuditCase, Declaration
from dpaudit.model.case import AuditCoverage
from dpaudit.model.declaration import Release, walk
from dpaudit.model.tape import RunTape
from dpaudit.model.transcript import record_run

_RUNS = 4
_SEED = 20_240_230


@dataclass(kw_only=True)
class ProgramLines:
    """The lines of the functions of an algorithm's own modules that an ordinary run on a problem enters; found once.

    >>> from algorithms.cell_table import CellTable
    >>> from algorithms.problems import load
    >>> table = CellTable(model="joint", epsilon=1.0, delta=1e-5, horizon=64)
    >>> len(ProgramLines(algorithm=table, problem=load("grid")()).found) > 3
    True
    """

    algorithm: Any
    problem: Any

    @property
    def own(self) -> Callable[[str], bool]:
        """Whether a file is one of the algorithm's own modules."""
        return own_files(type(self.algorithm).__module__)

    @cached_property
    def found(self) -> Lines:
        """The lines of all functions that one run of few repetitions enters, also those of rare states."""
        run = partial(record_run, self.algorithm, self.problem, n_runs=_RUNS, seed=_SEED)
        return lines_run(run, self.own, whole=True)

    @cached_property
    def prepared(self) -> Lines:
        """The lines that preparing the audit cases executes, such as those of the plan."""
        return lines_run(partial(self.algorithm.cases, self.problem), self.own)


def coverage_of(case: AuditCase, declaration: Declaration, program: ProgramLines) -> AuditCoverage:
    """Return what the audit of `case` covers of a program, from a few runs of both neighbours on one tape.

    A release is attacked where the exact answers of the neighbours differ at it. Labels that the declaration does not
    know are no part of the statement; `admit` accuses them.

    >>> from algorithms.capri import Capri
    >>> from algorithms.problems import load
    >>> capri, problem = Capri(model="joint", epsilon=1.0, delta=1e-5, horizon=64), load("grid")()
    >>> case = capri.cases(problem)[0]
    >>> coverage_of(case, capri.declaration(), ProgramLines(algorithm=capri, problem=problem)).attacked
    ('epoch 1',)
    """
    declared = tuple(dict.fromkeys(node.label for _, node in walk(declaration) if isinstance(node, Release)))
    first, moved = RunTape(seed=_SEED), set[str]()

    def attack() -> None:
        with np.errstate(all="ignore"):
            case.run(case.neighbours[0], first.generator(), _RUNS)
            second = RunTape(seed=_SEED, pinned=tuple(first.released))
            case.run(case.neighbours[1], second.generator(), _RUNS)
        moved.update(_moved(first, second))

    ran, before, wanted = lines_run(attack, program.own), program.prepared, program.found
    missed = {file: lines - ran.get(file, set()) - before.get(file, set()) for file, lines in wanted.items()}
    return AuditCoverage(
        declared=declared,
        attacked=tuple(label for label in declared if label in moved),
        recorded=bool(first.released),
        lines=sum(map(len, wanted.values())),
        missed=spans({file: lines for file, lines in missed.items() if lines}, _shown),
    )


def _moved(first: RunTape, second: RunTape) -> set[str]:
    """Return the labels where the exact answers of two runs on one tape differ; a release on one side only counts."""
    moved: set[str] = set()
    for ours, theirs in zip(first.released, second.released, strict=False):
        if ours.labels != theirs.labels or ours.value.shape != theirs.value.shape:
            return moved | {*ours.labels, *theirs.labels}
        moved |= {ours.label_of(row) for row in ours.rows if not np.array_equal(ours.value[row], theirs.value[row])}
    return moved


def _shown(file: str) -> str:
    """Return a file by its name below the folder that holds its top package."""
    path = Path(file)
    folders = [parent for parent in path.parents if not (parent / "__init__.py").is_file()]
    return path.relative_to(folders[0]).as_posix() if folders else path.name
