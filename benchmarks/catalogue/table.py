"""Audits of the whole catalogue: one row a mechanism, with its true epsilon, the bound and the best possible bound."""

import time
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from audits.bounds.guessing import guessing_bound
from audits.decision.events import Event, count_guesses, rounded
from audits.decision.power import ceiling
from audits.decision.preparation import prepare
from audits.experiment.settings import Settings
from audits.experiment.trials import run_trials
from audits.procedures.audit import audit
from benchmarks.catalogue.catalogue import CATALOGUE
from benchmarks.catalogue.entry import Entry
from benchmarks.other_significance import epsilon_at
from dpaudit.model.case import Score
from dpaudit.model.mechanism import Array

TABLE_SIGNIFICANCE = 1e-3
"""Probability that a whole table holds one false violation; each row has an equal share."""
_SLACK = 1e-9


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """The results of the audit of one mechanism.

    `bound` holds at the significance asked for, one row at a time, and `verdict` for the whole table at once:
    *violation* or *nothing found*. `best` and `error` are the guessing bound of the best event with as many runs, and
    its standard error, where the law is known and that bound decides.
    """

    name: str
    claim: float
    delta: float
    correct: bool
    truth: float | None
    bound: float
    sure_bound: float
    ceiling: float
    best: float | None
    error: float | None
    published: float | None
    seconds: float
    verdict: str

    @property
    def false_alarm(self) -> bool:
        """Whether the table accuses a correct mechanism, or bounds any from below above its truth, at its own level."""
        above = self.truth is not None and self.sure_bound > self.truth + _SLACK
        return above or (self.correct and self.verdict == "violation")

    @property
    def missed(self) -> bool:
        """Whether a broken mechanism was not flagged on a pair whose truth is not known to keep the claim."""
        harmless = self.truth is not None and self.truth <= self.claim * (1 + _SLACK)
        return not self.correct and not harmless and self.verdict != "violation"


def measure_entry(entry: Entry, *, runs: int, seed: int, significance: float = 0.01, rows: int = 1) -> Row:
    """Return the row of one mechanism, as one of `rows` in its table.

    Deterministic: its stream depends on the seed and its name only, so that a table of some rows repeats them.
    """
    started = time.perf_counter()
    rng = np.random.default_rng([seed, zlib.crc32(entry.name.encode())])
    result = audit(entry.case(), claim=entry.claim, runs=runs, rng=rng, significance=significance)
    seconds = time.perf_counter() - started
    sure = epsilon_at(result, TABLE_SIGNIFICANCE / rows)
    return _row(entry, runs, significance, (result.epsilon_lower, sure, result.ceiling), seconds)


def measure_published(entry: Entry, *, runs: int, seed: int, significance: float = 0.01, rows: int = 1) -> Row:
    """Return the row of one mechanism by the guessing bound alone, for tens of millions of runs.

    Memory: the runs that teach and choose, and two bytes for each of the others. Deterministic as `measure_entry`.
    """
    started = time.perf_counter()
    rng = np.random.default_rng([seed, zlib.crc32(entry.name.encode())])
    case = entry.case()
    prepared = prepare(case, runs, rng, significance, Settings())
    keep = _Guess(prepared.choice.score, prepared.choice.event)
    guesses = run_trials(case, prepared.counted, prepared.rng, keep=keep, how=Settings())
    counts = count_guesses(Event(low=-1, high=1, cut=0), guesses.kept, guesses.labels)
    seconds = time.perf_counter() - started
    delta = entry.claim.delta
    bound, sure = (guessing_bound(counts, delta, a).epsilon for a in (significance, TABLE_SIGNIFICANCE / rows))
    return _row(
        entry, runs, significance, (bound, sure, ceiling(guessing_bound, counts.runs, delta, significance)), seconds
    )


@dataclass(frozen=True, slots=True, eq=False)
class _Guess:
    """The guess of an event for each run: 1 or -1, or 0 where it abstains."""

    score: Score
    event: Event

    def __call__(self, view: Any) -> Array:
        """Return one byte a run."""
        scores = rounded(self.score(view))
        return (scores >= self.event.high).astype(np.int8) - (scores <= self.event.low).astype(np.int8)


def _row(entry: Entry, runs: int, significance: float, bounds: tuple[float, float, float], seconds: float) -> Row:
    """Return the row of `bounds`: at the significance, at the table's own significance, and the ceiling."""
    bound, sure, highest = bounds
    best = (
        None if entry.law is None or entry.gaussian else entry.law().best_bound(runs, entry.claim.delta, significance)
    )
    return Row(
        name=entry.name,
        claim=entry.claim.epsilon,
        delta=entry.claim.delta,
        correct=entry.correct,
        truth=entry.exact(),
        bound=bound,
        sure_bound=sure,
        ceiling=highest,
        best=None if best is None else best[0],
        error=None if best is None else best[1],
        published=entry.published,
        seconds=seconds,
        verdict="violation" if sure > entry.claim.epsilon * (1 + _SLACK) else "nothing found",
    )


def measure_catalogue(
    *,
    runs: int,
    seed: int,
    jobs: int = 1,
    significance: float = 0.01,
    names: Sequence[str] = (),
    progress: Callable[[int, int], None] | None = None,
) -> tuple[Row, ...]:
    """Return one row for each mechanism of the catalogue, or for those called `names`, in the catalogue's order.

    The rows do not depend on `jobs`.
    Raises: ValueError: a name that the catalogue does not have.
    """
    known = [entry.name for entry in CATALOGUE]
    if strangers := [name for name in names if name not in known]:
        raise ValueError(f"Expected names of the catalogue, got {strangers}.")
    chosen = [name for name in known if not names or name in names]
    rows: list[Row] = []
    for row in _rows(chosen, runs, seed, significance, jobs):
        rows.append(row)
        if progress is not None:
            progress(len(rows), len(chosen))
    return tuple(rows)


def _rows(names: list[str], runs: int, seed: int, significance: float, jobs: int) -> Iterator[Row]:
    """Yield the rows in order, from this process or from `jobs` others."""
    if jobs == 1:
        yield from (_measure_named(name, runs, seed, significance, len(names)) for name in names)
        return
    from joblib import Parallel, delayed

    tasks = (delayed(_measure_named)(name, runs, seed, significance, len(names)) for name in names)
    rows: Any = Parallel(n_jobs=jobs, return_as="generator")(tasks)
    yield from rows


def _measure_named(name: str, runs: int, seed: int, significance: float, rows: int) -> Row:
    """Return the row of the mechanism called `name`; a name travels to other processes more easily than its code."""
    entry = next(entry for entry in CATALOGUE if entry.name == name)
    return measure_entry(entry, runs=runs, seed=seed, significance=significance, rows=rows)
