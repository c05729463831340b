"""The corpus as a table: each defect and its fixed version, over many seeds, and what was said of them."""

import time
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from audits.known_bugs import accounting, loops, outputs, queries
from audits.known_bugs.defect import Defect, Variant
from audits.known_bugs.released import ghost_clipping, installed
from dpaudit import Finding

ANALOGUES: tuple[Defect, ...] = (*accounting.DEFECTS, *queries.DEFECTS, *loops.DEFECTS, *outputs.DEFECTS)
"""Every defect that needs no package but dpaudit."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BugRow:
    """One defect: `caught` and `alarms` count seeds on which the broken and the fixed version were accused.

    `not_run` says why nothing was looked at, empty where it was. `found` is the first finding on the broken version.
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
        """Whether the broken version got away on some seed."""
        return not self.not_run and self.caught < self.seeds


def measure_bugs(
    *,
    seeds: int = 20,
    seed: int = 0,
    opacus_broken: Path | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> tuple[BugRow, ...]:
    """Return one row for each defect of the corpus, analogues first.

    `opacus_broken` is the interpreter of an environment with Opacus 1.5.2, which `released.make_environment` makes;
    without it, or without Opacus here, that row is not run, and says so.
    """
    rows: list[BugRow] = []
    for row in _rows(seeds, seed, opacus_broken):
        rows.append(row)
        if progress is not None:
            progress(len(rows), len(ANALOGUES) + 1)
    return tuple(rows)


def measure_defect(defect: Defect, *, seeds: int, seed: int) -> BugRow:
    """Return the row of one defect; a look that depends on no seed is taken once and counts for all."""
    started = time.perf_counter()
    looked = range(seeds if defect.seeded else 1)

    def looks(variant: Variant) -> tuple[tuple[Finding, ...], ...]:
        streams = (np.random.default_rng([seed, place, zlib.crc32(defect.name.encode())]) for place in looked)
        return tuple(defect.look(variant, rng) for rng in streams)

    broken, fixed = looks("broken"), looks("fixed")
    return _row(defect, seeds, broken, fixed, time.perf_counter() - started)


def _rows(seeds: int, seed: int, opacus_broken: Path | None) -> Iterator[BugRow]:
    """Yield the rows in order."""
    for defect in ANALOGUES:
        yield measure_defect(defect, seeds=seeds, seed=seed)
    ghost, look = ghost_clipping(opacus_broken)
    started = time.perf_counter()
    if opacus_broken is None or not installed():
        missing = (
            "the extra 'opacus' is not installed" if opacus_broken else "no environment with opacus==1.5.2 was named"
        )
        yield _row(ghost, seeds, (), (), 0.0, not_run=f"not run: {missing}")
        return
    places = tuple(1000 * seed + place for place in range(seeds))
    broken, fixed = look("broken", places), look("fixed", places)
    yield _row(ghost, seeds, broken, fixed, time.perf_counter() - started)


def _row(
    defect: Defect,
    seeds: int,
    broken: tuple[tuple[Finding, ...], ...],
    fixed: tuple[tuple[Finding, ...], ...],
    seconds: float,
    not_run: str = "",
) -> BugRow:
    """Return the row of what was found; looks that depend on no seed count for each."""
    each = seeds // max(1, len(broken))
    first = next((held[0] for held in broken if held), None)
    return BugRow(
        name=defect.name,
        family=defect.family,
        path=defect.path,
        story=defect.story,
        seeds=seeds,
        caught=each * sum(bool(held) for held in broken),
        alarms=each * sum(bool(held) for held in fixed),
        rules=tuple(dict.fromkeys(finding.rule for held in broken for finding in held)),
        found=first.message if first else "",
        seconds=seconds,
        not_run=not_run,
    )
