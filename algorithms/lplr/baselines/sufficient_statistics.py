"""Sufficient statistics under pure local noise: the simple method that layered regression is compared with first."""

import math
from typing import Annotated, ClassVar

import numpy as np

from algorithms._claims import MESSAGE, claim_of
from algorithms.lplr.baselines.batches import best_of, run_batches, statistics_of, uniform_policy
from algorithms.lplr.sums import released_sum
from algorithms.problems.linear_bandit import LinearBandit
from dpaudit import Claim, Declaration, Local, Recorder, Release, Sequential, Streams, Transcript
from dpaudit.arguments import settled
from dpaudit.checks import Count, OneOf, Positive
from dpaudit.model.mechanism import Array
from mechanisms import BallLaplace, SymmetrisedWishart

POLICIES = ("elimination", "greedy")


@settled
class SufficientStatistics:
    """Users send x x^T and y x with noise once; the server solves the regularised normal equations.

    Parameters: `policy` "elimination", by widths of `quantile` standard deviations of the noise, or "greedy"; either
    changes after users have doubled.
    Guarantee: replacing a record moves x x^T by nuclear norm 2 and y x by Euclidean length 2 at most, so a difference
    of Wishart matrices of scale 2 / epsilon and Laplace noise of 4 sqrt(d) / epsilon cost epsilon / 2 each.
    Raises: ValueError: a field outside its range.
    """

    name: ClassVar[str] = "sufficient_statistics"

    epsilon: Positive
    horizon: Count
    dimension: Count
    policy: Annotated[str, OneOf(POLICIES)] = "elimination"
    quantile: Positive = 4.0

    def claim(self) -> Claim:
        """Return what is promised: (epsilon, 0) for each user's own message."""
        return claim_of(MESSAGE, "local", self.epsilon)

    @property
    def matrix(self) -> SymmetrisedWishart:
        """The noise on x x^T."""
        return SymmetrisedWishart(
            dimension=self.dimension, scale=2 / self.epsilon, nuclear_sensitivity=2.0, neighbours="replace_one"
        )

    @property
    def vector(self) -> BallLaplace:
        """The noise on y x."""
        return BallLaplace(
            dimension=self.dimension,
            scale=4 * math.sqrt(self.dimension) / self.epsilon,
            l2_sensitivity=2.0,
            neighbours="replace_one",
        )

    def declaration(self) -> Declaration:
        """Return both releases of one message."""
        parts = (Release(label="matrix", mechanism=self.matrix), Release(label="vector", mechanism=self.vector))
        return Local(part=Sequential(parts=parts))

    def ridge(self, users: int) -> float:
        """Return what is added to the matrix: `quantile` deviations of its noise."""
        spread = math.sqrt(2 * (self.dimension + 1) * users * self.dimension)
        return float(self.quantile * self.matrix.scale * spread)

    def fit(self, problem: LinearBandit, streams: Streams, n_runs: int) -> Array:
        """Return estimates of the parameter from `horizon` users who play uniformly; shape (n_runs, d)."""
        law = uniform_policy(problem, n_runs)
        gram, target = self._noisy(
            Recorder(streams.noise), self.horizon, *statistics_of(problem, law, self.horizon, streams)
        )
        return self._solve(self.horizon, gram, target)

    def run(self, problem: LinearBandit, streams: Streams, n_runs: int) -> Transcript:
        """Return a transcript with `regret` (n_runs, B), the expected regret of each batch of users."""
        return self._run(problem, streams, n_runs, weight=1.0)

    def run_blind(self, problem: LinearBandit, streams: Streams, n_runs: int) -> Transcript:
        """Return runs whose sums hold noise alone, for comparison: nothing is learned."""
        return self._run(problem, streams, n_runs, weight=0.0)

    def _run(self, problem: LinearBandit, streams: Streams, n_runs: int, weight: float) -> Transcript:
        """Return the transcript of runs in which every record counts `weight` times."""
        recorder = Recorder(streams.noise)
        active = np.ones((n_runs, problem.n_contexts, problem.n_actions), dtype=bool)

        def policy(users: int, gram: Array, target: Array) -> Array:
            nonlocal active
            value = np.einsum("cai,ri->rca", problem.features, self._solve(users, gram, target))
            if self.policy == "greedy":
                return best_of(value)
            half_width = self._half_width(problem, users, gram)
            floor = np.where(active, value - half_width, -np.inf).max(axis=2, keepdims=True)
            active = active & (value + half_width >= floor)
            return active / active.sum(axis=2, keepdims=True)

        lengths = _doubling(self.horizon)
        course = run_batches(
            problem,
            lengths,
            lambda users, g, t: self._noisy(recorder, users, weight * g, weight * t),
            policy,
            streams,
            n_runs,
        )
        return Transcript(
            n_runs=n_runs,
            arrays={"regret": course.regret, "gram": course.gram, "target": course.target},
            views={"public": ("gram", "target")},
            trace=tuple({line.label: line for line in recorder.trace()}.values()),
        )

    def _noisy(self, recorder: Recorder, users: int, gram: Array, target: Array) -> tuple[Array, Array]:
        """Return both sums with the noise of `users` messages."""
        return (
            released_sum(recorder, "matrix", self.matrix, gram, users),
            released_sum(recorder, "vector", self.vector, target, users),
        )

    def _solve(self, users: int, gram: Array, target: Array) -> Array:
        """Return the ridge estimate, noise eigenvalues below the ridge lifted to it; shape (R, d)."""
        values, vectors = np.linalg.eigh(gram)
        lifted = np.maximum(values + self.ridge(users), self.ridge(users))
        inner = np.einsum("rji,rj->ri", vectors, target) / lifted
        return np.einsum("rij,rj->ri", vectors, inner)

    def _half_width(self, problem: LinearBandit, users: int, gram: Array) -> Array:
        """Return how far a cell's estimate can be off: noise of both sums and the ridge, through the inverse."""
        values, vectors = np.linalg.eigh(gram)
        lifted = np.maximum(values + self.ridge(users), self.ridge(users))
        inverse = np.einsum("rij,rj,rkj->rik", vectors, 1 / lifted, vectors)
        reach = np.linalg.norm(np.einsum("rij,caj->rcai", inverse, problem.features), axis=3)
        vector = self.quantile * self.vector.scale * math.sqrt(2 * users * self.dimension)
        return np.minimum(1.0, reach * (vector + math.sqrt(users) * self.quantile + 2 * self.ridge(users)))


def _doubling(horizon: int) -> tuple[int, ...]:
    """Return batches that double, from a thousand users."""
    lengths: list[int] = []
    seen, length = 0, 1_000
    while seen < horizon:
        lengths.append(min(length, horizon - seen))
        seen, length = seen + lengths[-1], 2 * length
    return tuple(lengths)
