"""The score of one release whose exact answer is one of two: the log likelihood ratio of the declared noise."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from dpaudit.model.mechanism import Array


class Dense(Protocol):
    """What knows the log density of an output beside an exact answer."""

    def log_density(self, output: Array, value: Array) -> Array: ...


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class DensityRatio:
    """The log density of what a view shows as `shown` beside the answer `second`, less that beside `first`.

    `entry` picks one number of a run where the view shows several.
    """

    mechanism: Dense
    shown: str
    first: Array
    second: Array
    entry: int | None = None

    def __call__(self, view: Mapping[str, Array]) -> Array:
        """Return one score a run; larger means the second answer. Shape: (n_runs,)."""
        output = view[self.shown] if self.entry is None else view[self.shown][:, self.entry]
        return self.mechanism.log_density(output, self.second) - self.mechanism.log_density(output, self.first)
