"""The table of known bugs: findings on each bug and on its fixed version, over many seeds."""

import time
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmarks.known_bugs import accounting, loops, outputs, queries
from benchmarks.known_bugs.known_bug import KnownBug, Variant
from benchmarks.known_bugs.released import ghost_clipping, installed
from dpaudit.model.trace import Finding

ANALOGUES: tuple[KnownBug, ...] = (*accounting.BUGS, *queries.BUGS, *loops.BUGS, *outputs.BUGS)
"""Every bug that needs no package but dpaudit."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BugRow:
    """One bug: `caught` and `alarms` count seeds on which the broken and the fixed version were flagged.

    `not_run` says why the bug was not checked, empty where it was. `found` is the first finding on the broken version.
    """

    name: str
    family: str
    path: str
    story: str
    seeds: int
    caught: int
    alarms: int
    rules: tuple[str, ...]
    found: str
    seconds: float
    not_run: str = ""

    @property
    def missed(self) -> bool:
        """Whether the broken version was not flagged on some seed."""
        return not self.not_run and self.caught < self.seeds


def measure_bugs(
    *,
    seeds: int = 20,
    seed: int = 0,
    opacus_broken: Path | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> tuple[BugRow, ...]:
    """Return one row for each known bug, analogues first.

    `opacus_broken` is the interpreter of an environment with Opacus 1.5.2, which `released.make_environment` makes;
    without it, or without Opacus here, that row is not run, and says so.
    """
    rows: list[BugRow] = []
    for row in _rows(seeds, seed, opacus_broken):
        rows.append(row)
        if progress is not None:
            progress(len(rows), len(ANALOGUES) + 1)
    return tuple(rows)


def measure_bug(bug: KnownBug, *, seeds: int, seed: int) -> BugRow:
    """Return the row of one bug; a check that depends on no seed is run once and counts for all."""
    started = time.perf_counter()
    indices = range(seeds if bug.seeded else 1)

    def looks(variant: Variant) -> tuple[tuple[Finding, ...], ...]:
        streams = (np.random.default_rng([seed, index, zlib.crc32(bug.name.encode())]) for index in indices)
        return tuple(bug.look(variant, rng) for rng in streams)

    broken, fixed = looks("broken"), looks("fixed")
    return _row(bug, seeds, broken, fixed, time.perf_counter() - started)


def _rows(seeds: int, seed: int, opacus_broken: Path | None) -> Iterator[BugRow]:
    """Yield the rows in order."""
    for bug in ANALOGUES:
        yield measure_bug(bug, seeds=seeds, seed=seed)
    ghost, look = ghost_clipping(opacus_broken)
    started = time.perf_counter()
    if opacus_broken is None or not installed():
        reason = (
            "the extra 'opacus' is not installed" if opacus_broken else "no environment with opacus==1.5.2 was named"
        )
        yield _row(ghost, seeds, (), (), 0.0, not_run=f"not run: {reason}")
        return
    every = tuple(1000 * seed + index for index in range(seeds))
    broken, fixed = look("broken", every), look("fixed", every)
    yield _row(ghost, seeds, broken, fixed, time.perf_counter() - started)


def _row(
    bug: KnownBug,
    seeds: int,
    broken: tuple[tuple[Finding, ...], ...],
    fixed: tuple[tuple[Finding, ...], ...],
    seconds: float,
    not_run: str = "",
) -> BugRow:
    """Return the row of the findings; a check that depends on no seed counts for each."""
    each = seeds // max(1, len(broken))
    first = next((findings[0] for findings in broken if findings), None)
    return BugRow(
        name=bug.name,
        family=bug.family,
        path=bug.path,
        story=bug.story,
        seeds=seeds,
        caught=each * sum(map(bool, broken)),
        alarms=each * sum(map(bool, fixed)),
        rules=tuple(dict.fromkeys(finding.rule for findings in broken for finding in findings)),
        found=first.message if first else "",
        seconds=seconds,
        not_run=not_run,
    )
