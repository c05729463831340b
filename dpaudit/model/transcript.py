"""The transcript of a run, and the part of it that an adversary of each model sees."""

from collections.abc import Mapping
from dataclasses import dataclass

from dpaudit.errors import ConfigError
from dpaudit.model.condition import Condition
from dpaudit.model.mechanism import Array
from dpaudit.model.trace import Released


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Transcript:
    """Everything that `n_runs` runs in lock-step produced.

    Shape: every array has the runs axis first. `views` names the arrays that each adversary sees.
    `trace` lists what was released in one run; `conditions` lists what the run looked at.

    >>> import numpy as np
    >>> held = Transcript(
    ...     n_runs=2, arrays={"sum": np.zeros(2), "data": np.ones(2)}, views={"output": ("sum",)}, trace=()
    ... )
    >>> list(held.view("output"))
    ['sum']
    """

    n_runs: int
    arrays: Mapping[str, Array]
    views: Mapping[str, tuple[str, ...]]
    trace: tuple[Released, ...]
    conditions: tuple[Condition, ...] = ()

    def view(self, name: str) -> dict[str, Array]:
        """Return the arrays that the adversary called `name` sees.

        Raises: ConfigError: no such view; the message lists those there are.
        """
        if name not in self.views:
            raise ConfigError(f"Expected view={name!r} to be one of: {', '.join(self.views)}.")
        return {array: self.arrays[array] for array in self.views[name]}
