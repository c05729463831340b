"""A bound on the regret that a theorem prints: from where it says something, and what it allows at a horizon."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from dpaudit.model.constants import RegretUpperBound, SpeakingHorizon, log10_horizon, regret_upper_bound


@dataclass(frozen=True, slots=True, kw_only=True)
class PrintedBound:
    """A theorem's bound, `value(episodes)` for any number of episodes; it speaks where below episodes times `steps`."""

    source: str
    steps: int
    value: Callable[[int], float]

    def horizon(self, name: str = "printed bound on the regret") -> SpeakingHorizon:
        """Return from which number of episodes on the bound speaks."""
        return SpeakingHorizon(
            name=name,
            speaks="the bound is below episodes times steps",
            log10=log10_horizon(lambda number: self.value(int(number)) < int(number) * self.steps, smallest=0.5),
            source=self.source,
        )

    def allowed(self, episodes: int, problem: Any) -> RegretUpperBound | None:
        """Return what the bound allows on a problem, or the most that can be lost there where that is less."""
        return regret_upper_bound(
            horizon=episodes,
            most=problem.largest_regret,
            source=self.source,
            log10=self.horizon().log10,
            value=self.value(episodes),
        )
