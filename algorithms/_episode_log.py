"""What all runs of an episodic learner lose, show and release, and the transcript made of it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Self

import numpy as np

from dpaudit import Condition, Transcript
from dpaudit.model.mechanism import Array
from dpaudit.model.trace import Released


@dataclass(slots=True, kw_only=True, eq=False)
class EpisodeLog:
    """Sums over the episodes so far. Shape: `total` (n_runs,), the regret; `shown` (n_runs, H, S, A), means over users.

    `message` is what was released after the first episode, `released` after the latest one.
    """

    episodes: int
    total: Array
    shown: Array
    regrets: list[Array] = field(default_factory=list)
    message: Array = field(default_factory=lambda: np.zeros(0))
    released: Array = field(default_factory=lambda: np.zeros(0))

    @classmethod
    def fresh(cls, n_runs: int, episodes: int, shape: tuple[int, int, int]) -> Self:
        """Return the log before the first of `episodes` on a process of `shape` (H, S, A)."""
        return cls(episodes=episodes, total=np.zeros(n_runs), shown=np.zeros((n_runs, *shape)))

    def add(self, number: int, gap: Array, actions: Array, released: Array, *, keep: bool = True) -> None:
        """Add episode `number`, from 1: what its policy loses, the values of actions shown, and the sums released.

        The regret so far is kept where `keep` is set.
        """
        self.total = self.total + gap
        self.shown += actions / self.episodes
        if keep:
            self.regrets.append(self.total)
        if number == 1:
            self.message = released
        self.released = released

    def transcript(
        self,
        further: Mapping[str, Array],
        trace: tuple[Released, ...],
        conditions: tuple[Condition, ...],
        *,
        local: bool,
    ) -> Transcript:
        """Return the transcript, with `further` arrays: in the local model one message is looked at, else the sums."""
        return Transcript(
            n_runs=len(self.total),
            arrays={
                "regret": np.stack(self.regrets, axis=1),
                **further,
                "released": self.released,
                "message": self.message,
                "policies": self.shown,
            },
            views={
                **({"message": ("message",)} if local else {"billboard": ("released",)}),
                "policies": ("policies",),
            },
            trace=trace,
            conditions=conditions,
        )
