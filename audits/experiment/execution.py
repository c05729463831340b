"""What the execution of runs works with: finished runs and progress report."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

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
