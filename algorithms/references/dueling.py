"""Dueling bandits without privacy as contenders of a study: one class a method, one loop a run."""

from dataclasses import dataclass

import numpy as np

from algorithms._dueling.baselines.copeland import DoubleThompson, RelativeUpperConfidence
from algorithms._dueling.baselines.divergence import RelativeMinimumDivergence
from algorithms._dueling.baselines.simulation import Policy, simulate
from algorithms._dueling.checks import regrets
from algorithms.problems.duels import Duels
from dpaudit import Streams, Transcript
from dpaudit.checks import Count, Positive, settle


@dataclass(frozen=True, slots=True, kw_only=True)
class _DuelingMethod:
    """A method that reads every answer as it is; `horizon` in rounds, at most a million, as each round is a step."""

    horizon: Count

    def __post_init__(self) -> None:
        settle(self)
        if self.horizon > _LONGEST:
            raise ValueError(f"Expected horizon={self.horizon} at or below {_LONGEST}, where a run takes a minute.")

    def policy(self, problem: Duels) -> Policy:
        """Return a fresh learner."""
        raise NotImplementedError

    def run(self, problem: Duels, streams: Streams, n_runs: int) -> Transcript:
        """Return a transcript with `plays` (n_runs, K, K) and both regrets (n_runs,)."""
        plays = np.stack(
            [simulate(self.policy(problem), problem, self.horizon, streams.environment) for _ in range(n_runs)]
        )
        return Transcript(n_runs=n_runs, arrays={"plays": plays, **regrets(plays, problem)}, views={}, trace=())


_LONGEST = 10**6


@dataclass(frozen=True, slots=True, kw_only=True)
class Rucb(_DuelingMethod):
    """RUCB, with exploration `alpha`. Source: Zoghi, Whiteson, Munos and de Rijke (2014)."""

    alpha: Positive = 0.51

    def policy(self, problem: Duels) -> Policy:
        """Return a fresh learner."""
        return RelativeUpperConfidence(arms=problem.arms, alpha=self.alpha)


@dataclass(frozen=True, slots=True, kw_only=True)
class DoubleThompsonSampling(_DuelingMethod):
    """Double Thompson sampling, with exploration `alpha`. Source: Wu and Liu (2016)."""

    alpha: Positive = 0.51

    def policy(self, problem: Duels) -> Policy:
        """Return a fresh learner."""
        return DoubleThompson(arms=problem.arms, alpha=self.alpha)


@dataclass(frozen=True, slots=True, kw_only=True)
class Rmed1(_DuelingMethod):
    """RMED1. Source: Komiyama, Honda, Kashima and Nakagawa (2015)."""

    def policy(self, problem: Duels) -> Policy:
        """Return a fresh learner."""
        return RelativeMinimumDivergence(arms=problem.arms)
