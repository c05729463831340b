"""Trials: a fair coin picks the neighbour of each run; runs are executed in chunks with random streams of their own.

A chunk depends on its index and on the seed only, so that every number of jobs gives the same results. The outputs of a
chunk are reduced to scores before the next chunk starts: memory is the outputs of one chunk plus 9 bytes a run.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from audits.experiment.execution import Observed
from audits.experiment.readings import Reading, reading_of
from audits.experiment.settings import Settings
from audits.experiment.views import concatenate, interleave
from audits.experiment.workers import perform
from audits.outputs.calls import CallRaisedError
from dpaudit import AuditCase
from dpaudit.model.case import Run


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Chunk:
    """A piece of work for any process: `n_runs` runs on a random stream of its own, reduced by `keep`.

    Where a call for many runs raises, all runs of the chunk are run again one by one, with fresh labels, so that the
    exception is the outcome of its own run. Given all outputs of both attempts the labels stay independent, and the
    odds of each stay within its own privacy loss.
    """

    run: Run
    neighbours: tuple[Any, Any]
    n_runs: int
    rng: np.random.Generator
    keep: Callable[[Any], Any]
    read: Reading

    def __call__(self) -> Observed:
        """Return the labels and the reduced outputs."""
        label_rng, first_rng, second_rng, again = self.rng.spawn(4)
        labels = label_rng.random(self.n_runs) < 0.5
        second = int(labels.sum())
        sizes = (self.n_runs - second, second)
        try:
            views = [
                self.read(self.run, data, rng, size)
                for data, rng, size in zip(self.neighbours, (first_rng, second_rng), sizes, strict=True)
                if size
            ]
        except CallRaisedError as error:
            return replace(self, rng=again, read=self.read.one_by_one(error))()
        view = interleave(views[0], views[1], labels) if len(views) == 2 else views[0]
        return Observed(labels=labels, kept=self.keep(view))


def run_trials(
    case: AuditCase,
    runs: int,
    rng: np.random.Generator,
    *,
    keep: Callable[[Any], Any],
    how: Settings,
    phase: str = "",
    read: Reading | None = None,
) -> Observed:
    """Return `runs` runs of `case`, each on a neighbour picked by a fair coin, reduced by `keep`.

    Guarantee: labels are independent and fair; runs are as independent as `case.run` makes the runs of one call. The
    result depends on `rng`, `runs`, `read` and `how.chunk_runs` only. Does not advance `rng`; spawns child generators.
    Chunks that the store holds for this `phase` are not run again; the others are stored as soon as they are done.
    Raises: CallRaisedError: a call raised, and `read` keeps outputs as they are returned.
    """
    reading = reading_of(case, how) if read is None else read
    most = min(how.chunk_runs, reading.chunk_runs)
    sizes = [min(most, runs - start) for start in range(0, runs, most)]
    chunks = [
        Chunk(run=case.run, neighbours=case.neighbours, n_runs=size, rng=stream, keep=keep, read=reading)
        for size, stream in zip(sizes, rng.spawn(len(sizes)), strict=True)
    ]
    done = _stored(how, phase, len(sizes), reading)
    pending = [index for index in range(len(sizes)) if index not in done]
    results = perform([chunks[index] for index in pending], how.jobs, how.scheduler)
    if how.progress is not None:
        how.progress(sum(sizes[finished] for finished in done), runs)
    for index, observed in zip(pending, results, strict=True):
        done[index] = observed
        if how.store is not None:
            how.store.save(phase, index, observed)
        if how.progress is not None:
            how.progress(sum(sizes[finished] for finished in done), runs)
    return together(*(done[index] for index in range(len(sizes))))


def _stored(how: Settings, phase: str, chunks: int, reading: Reading) -> dict[int, Observed]:
    """Return the chunks that the store holds for a phase; none without a store."""
    stored = {} if how.store is None else {index: how.store.load(phase, index) for index in range(chunks)}
    return {index: reading.restored(chunk) for index, chunk in stored.items() if chunk is not None}


def together(*observed: Observed) -> Observed:
    """Return the runs of all parts, one part after another."""
    return Observed(
        labels=np.concatenate([part.labels for part in observed]),
        kept=concatenate([part.kept for part in observed]),
    )


def whole(view: Any) -> Any:
    """Return the view itself: what to keep of runs that a learner will see."""
    return view


def seed_of(rng: np.random.Generator) -> tuple[int, ...]:
    """Return the whole numbers that seeded `rng`; none if `rng` was spawned or seeded by the operating system."""
    sequence = getattr(rng.bit_generator, "seed_seq", None)
    entropy = getattr(sequence, "entropy", None)
    spawned: Any = getattr(sequence, "spawn_key", None)
    if entropy is None or spawned:
        return ()
    return (entropy,) if isinstance(entropy, int) else tuple(int(word) for word in entropy)
