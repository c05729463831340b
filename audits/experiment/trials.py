"""The experiment: a fair coin per run picks the neighbour, in chunks with streams of their own.

What a chunk does depends on its place and the seed only, so any number of jobs gives the same numbers. A chunk's
outputs are turned into scores before the next one starts: memory is one chunk's outputs plus 9 bytes a run.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from audits.experiment.views import concatenate, interleave, length
from audits.experiment.workers import perform
from dpaudit import AuditCase
from dpaudit.model.case import Run
from dpaudit.model.mechanism import Array

Progress = Callable[[int, int], None]
"""progress(runs done, runs in all), called after every chunk."""

CHUNK_RUNS = 10_000


class Store(Protocol):
    """Where finished chunks wait for a later attempt; see `audits.experiment.chunk_store.ChunkStore`."""

    def load(self, phase: str, place: int) -> "Observed | None":
        """Return a stored chunk, or None."""
        ...

    def save(self, phase: str, place: int, observed: "Observed") -> None:
        """Store a chunk for good."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Observed:
    """Runs that happened: the coin of each, and what was kept of its output (a view, or one score a run)."""

    labels: Array
    kept: Any

    def __len__(self) -> int:
        return len(self.labels)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Chunk:
    """A piece of work that can be done anywhere: `n_runs` runs on a stream of its own, reduced by `keep`."""

    run: Run
    neighbours: tuple[Any, Any]
    n_runs: int
    rng: np.random.Generator
    keep: Callable[[Any], Any]

    def __call__(self) -> Observed:
        """Return the coins and what is kept of the outputs."""
        coin, first_rng, second_rng = self.rng.spawn(3)
        labels = coin.random(self.n_runs) < 0.5
        second = int(labels.sum())
        outputs = [
            _outputs(self.run, data, rng, size)
            for data, rng, size in zip(
                self.neighbours, (first_rng, second_rng), (self.n_runs - second, second), strict=True
            )
            if size
        ]
        view = interleave(outputs[0], outputs[1], labels) if len(outputs) == 2 else outputs[0]
        return Observed(labels=labels, kept=self.keep(view))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Execution:
    """How to run: processes or a dask cluster, whom to tell, where to keep chunks. `chunk_runs` alone matters."""

    jobs: int = 1
    chunk_runs: int = CHUNK_RUNS
    progress: Progress | None = None
    store: Store | None = None
    scheduler: str | None = None


def toss(
    case: AuditCase, runs: int, rng: np.random.Generator, *, keep: Callable[[Any], Any], how: Execution, phase: str = ""
) -> Observed:
    """Return `runs` runs of `case`, each on a neighbour picked by a fair coin, reduced by `keep`.

    Guarantee: coins are independent and fair; runs are as independent as `case.run` makes the runs of one call.
    The result depends on `rng`, `runs` and the chunk's size, never on where it runs. `rng` only spawns. Chunks that the
    store holds for this `phase` are taken from there, others are stored as soon as they are done.
    """
    chunk_runs, store = how.chunk_runs, how.store
    sizes = [min(chunk_runs, runs - start) for start in range(0, runs, chunk_runs)]
    chunks = [
        Chunk(run=case.run, neighbours=case.neighbours, n_runs=size, rng=stream, keep=keep)
        for size, stream in zip(sizes, rng.spawn(len(sizes)), strict=True)
    ]
    held = {} if store is None else {i: kept for i in range(len(sizes)) if (kept := store.load(phase, i)) is not None}
    missing = [i for i in range(len(sizes)) if i not in held]
    for place, observed in zip(missing, perform([chunks[i] for i in missing], how.jobs, how.scheduler), strict=True):
        held[place] = observed
        if store is not None:
            store.save(phase, place, observed)
        if how.progress is not None:
            how.progress(sum(sizes[i] for i in held), runs)
    done = [held[i] for i in range(len(sizes))]
    return Observed(
        labels=np.concatenate([observed.labels for observed in done]),
        kept=concatenate([observed.kept for observed in done]),
    )


def whole(view: Any) -> Any:
    """Return the view itself: what to keep when an attack must still learn."""
    return view


def seed_of(rng: np.random.Generator) -> tuple[int, ...]:
    """Return the whole numbers that `rng` was seeded with; none if it was spawned, or drew them itself."""
    sequence = getattr(rng.bit_generator, "seed_seq", None)
    entropy = getattr(sequence, "entropy", None)
    spawned: Any = getattr(sequence, "spawn_key", None)
    if entropy is None or spawned:
        return ()
    return (entropy,) if isinstance(entropy, int) else tuple(int(word) for word in entropy)


def _outputs(run: Run, data: Any, rng: np.random.Generator, n_runs: int) -> Any:
    """Return the outputs of `n_runs` runs on one data set, checked for their number."""
    outputs = run(data, rng, n_runs)
    if (found := length(outputs)) != n_runs:
        raise ValueError(
            f"Expected outputs of n_runs={n_runs} runs, runs axis first; the function returned {found}. "
            "It is called as function(data, rng, n_runs)."
        )
    return outputs
