"""Kernel UCB on a finite domain, without privacy: what a kernel bandit loses where nobody is protected."""

from dataclasses import dataclass
from typing import Annotated

import numpy as np

from algorithms._growth import Growth
from algorithms.kernels import factor, pairs, require_smoothness, stationary
from algorithms.problems.kernel_bandit import KernelBandit
from dpaudit import Streams, Transcript
from dpaudit.checks import Count, OneOf, Positive, settle
from dpaudit.model.mechanism import Array


@dataclass(frozen=True, slots=True, kw_only=True)
class KernelUcb:
    """Play the action with the largest ridge estimate plus `width` posterior deviations, on raw rewards.

    The policy changes whenever the number of users has grown by `growth`. `horizon` in rounds; `kernel` is
    "squared_exponential" or "matern" with `length_scale` and `smoothness`; `ridge` in squared units of reward.
    Guarantee: none; every record is used as it is.
    Raises: ValueError: a field outside its range.
    Source: Valko, Korda, Munos, Flaounas and Cristianini (2013), KernelUCB; batches as in Abbasi-Yadkori, Pal and
    Szepesvari (2011), Section 5.1.

    >>> KernelUcb(horizon=1000, length_scale=1.0).width
    1.0
    """

    horizon: Count
    kernel: Annotated[str, OneOf(("squared_exponential", "matern"))] = "squared_exponential"
    length_scale: Positive = 0.2
    smoothness: float = 2.5
    ridge: Positive = 1.0
    width: Positive = 1.0
    growth: Growth = 1.2

    def __post_init__(self) -> None:
        settle(self)
        if self.kernel == "matern":
            require_smoothness(self.smoothness)

    def run(self, problem: KernelBandit, streams: Streams, n_runs: int) -> Transcript:
        """Return a transcript with `regret` (n_runs, B), the expected regret of each batch of users.

        Memory: 8 n_runs (N D + D^2) bytes, with N cells and D features of the kernel.
        """
        features = self.features(problem)
        gram = np.broadcast_to(self.ridge * np.eye(features.shape[1]), (n_runs, *[features.shape[1]] * 2))
        target = np.zeros((n_runs, features.shape[1]))
        regrets: list[Array] = []
        seen = 0
        while seen < self.horizon:
            users = min(max(1, int(seen * (self.growth - 1))), self.horizon - seen)
            index = self.index(features, gram, target).reshape(n_runs, *problem.gaps.shape)
            played = index.argmax(axis=2)[..., None] == np.arange(index.shape[2])
            arrivals = streams.environment.multinomial(users, problem.context_probabilities, size=n_runs)
            counts = arrivals[:, :, None] * played
            bound = problem.reward_bound
            wins = streams.environment.binomial(counts, (1 + problem.mean_reward / bound) / 2)
            sums = bound * (2 * wins - counts)
            regrets.append((counts * problem.gaps).sum(axis=(1, 2)))
            gram = gram + np.einsum("rn,ni,nj->rij", counts.reshape(n_runs, -1), features, features, optimize=True)
            target = target + sums.reshape(n_runs, -1) @ features
            seen += users
        return Transcript(n_runs=n_runs, arrays={"regret": np.stack(regrets, axis=1)}, views={}, trace=())

    def index(self, features: Array, gram: Array, target: Array) -> Array:
        """Return estimate plus `width` posterior deviations of every cell; shape (n_runs, N).

        Shape: features (N, D), gram (n_runs, D, D), target (n_runs, D).
        """
        inverse = np.linalg.inv(gram)
        spread = np.einsum("nd,rnd->rn", features, features @ inverse)
        estimate = np.einsum("nd,rd->rn", features, np.einsum("rde,re->rd", inverse, target))
        return estimate + self.width * np.sqrt(np.maximum(spread, 0.0))

    def features(self, problem: KernelBandit) -> Array:
        """Return a row of features for every cell; shape (C * X, D)."""
        points = pairs(problem.contexts, problem.actions)
        return factor(stationary(self.kernel, points, self.length_scale, self.smoothness))
