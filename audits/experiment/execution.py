"""The execution of runs: processes, chunk size, progress report, chunk store and cluster."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

from dpaudit.checks import count, positive
from dpaudit.model.mechanism import Array

Progress = Callable[[int, int], None]
"""progress(runs done, runs in all), called after every chunk."""

CHUNK_RUNS = 10_000


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Observed:
    """Finished runs: `labels` (runs,) is true where the second neighbour ran; `kept` is a view or one score a run."""

    labels: Array
    kept: Any

    def __len__(self) -> int:
        return len(self.labels)


class Store(Protocol):
    """Keeps finished chunks for a later attempt; see `audits.experiment.chunk_store.ChunkStore`."""

    def load(self, phase: str, index: int) -> Observed | None:
        """Return a stored chunk, or None."""
        ...

    def save(self, phase: str, index: int, observed: Observed) -> None:
        """Store one chunk permanently."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Execution:
    """How an audit executes its runs; audit functions take it as `how=`.

    `jobs` processes run the chunks (-1: one a processor), or the dask cluster at the address `scheduler`. `progress` is
    called before the first chunk and after every chunk. A `store` keeps finished chunks, so that an interrupted audit
    continues. `run_seconds` limits each run of a user-supplied function, which then is called once a run; a run that
    takes longer has the outcome `RunTimeout`. The limit interrupts Python code on POSIX systems.
    Guarantee: results depend on `chunk_runs`, the size of a chunk, on `run_seconds`, and on no other field.
    Raises: ValueError: `chunk_runs` below 1, `jobs` equal to 0, or `run_seconds` not positive.

    >>> Execution(jobs=2).chunk_runs
    10000
    """

    jobs: int = 1
    chunk_runs: int = CHUNK_RUNS
    progress: Progress | None = None
    store: Store | None = None
    scheduler: str | None = None
    run_seconds: float | None = None

    def __post_init__(self) -> None:
        count("chunk_runs", self.chunk_runs)
        if self.run_seconds is not None:
            positive("run_seconds", self.run_seconds)
        if self.jobs == 0:
            raise ValueError("Expected jobs=0 to be at least 1, or -1 for one process a processor.")


PLAIN = Execution()
"""All runs in this process, without a store."""
