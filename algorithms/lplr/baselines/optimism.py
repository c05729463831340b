"""Optimism on raw statistics, and with Gaussian noise (Zheng et al., 2020), with its greedy form (Han et al., 2021)."""

import math
from typing import Annotated, ClassVar

import numpy as np

from algorithms._claims import MESSAGE, claim_of
from algorithms._growth import Growth
from algorithms.lplr.baselines.batches import batch_lengths, best_of, run_batches
from algorithms.problems.linear_bandit import LinearBandit
from dpaudit import Claim, Declaration, Local, Printed, Recorder, Release, Streams, Transcript, UnsupportedError
from dpaudit.arguments import settled
from dpaudit.checks import Count, OneOf, OpenProbability, Positive
from dpaudit.model.mechanism import Array
from mechanisms import JointGaussian


@settled
class LinUcb:
    """Ridge regression with an ellipsoid of radius sqrt(ridge) + sqrt(2 ln(1 / fail_prob) + d ln(1 + t / (ridge d))).

    Guarantee: none; everybody's record is used as it is, and the true epsilon is infinite.
    Raises: ValueError: a field outside its range.
    Source: Abbasi-Yadkori, Pal and Szepesvari (2011).
    """

    name: ClassVar[str] = "lin_ucb"
    epsilon: ClassVar[float] = math.inf

    horizon: Count
    dimension: Count
    ridge: Positive = 1.0
    growth: Growth = 1.02
    fail_prob: OpenProbability = 0.1

    def declaration(self) -> Declaration:
        """Raise: there is no noise to declare.

        Raises: UnsupportedError: always.
        """
        raise UnsupportedError("LinUcb uses raw records and adds no noise; no epsilon is finite. Use a private one.")

    def run(self, problem: LinearBandit, streams: Streams, n_runs: int) -> Transcript:
        """Return a transcript with `regret` (n_runs, B), the expected regret of each batch of users."""

        def policy(users: int, gram: Array, target: Array) -> Array:
            inverse = np.linalg.inv(gram + self.ridge * np.eye(self.dimension))
            value = np.einsum("cai,rij,rj->rca", problem.features, inverse, target)
            norm = np.sqrt(np.einsum("cai,rij,caj->rca", problem.features, inverse, problem.features))
            growth = self.dimension * math.log1p(users / (self.ridge * self.dimension))
            radius = math.sqrt(self.ridge) + math.sqrt(2 * math.log(1 / self.fail_prob) + growth)
            return best_of(value + radius * norm)

        lengths = batch_lengths(self.horizon, self.growth)
        course = run_batches(problem, lengths, lambda _, g, t: (g, t), policy, streams, n_runs)
        return Transcript(n_runs=n_runs, arrays={"regret": course.regret}, views={}, trace=())


POLICIES = ("optimistic", "greedy")


@settled
class GaussianUcb:
    """Users send x x^T and y x with normal noise of 6 sqrt(2 ln(2.5 / delta)) / epsilon; the server is optimistic.

    Parameters: `policy` "optimistic", with the printed bonus, or "greedy", the tuned version without one;
    `shrinkage`, by which the printed regulariser c_t is divided (published code uses 10); `growth`, see `batches`.
    Guarantee: the joint sensitivity is sqrt(4.5), which the printed noise exceeds 3 to 6 times over: at (1, 1e-5) it
    delivers epsilon 0.234. Off the diagonal our noise is that of (G + G^T) / 2, which loses exactly as much in the
    worst direction as the printed mirrored triangle and is smaller elsewhere.
    Raises: ValueError: a field outside its range.
    Source: Zheng, Cai, Huang, Li and Wang (2020), Algorithm 2; Han, Liang, Wang and Zhang (2021).
    """

    name: ClassVar[str] = "gaussian_ucb"

    epsilon: Positive
    delta: OpenProbability
    horizon: Count
    dimension: Count
    policy: Annotated[str, OneOf(POLICIES)] = "optimistic"
    shrinkage: Positive = 1.0
    growth: Growth = 1.05
    fail_prob: OpenProbability = 0.1

    def claim(self) -> Claim:
        """Return what is promised: (epsilon, delta) for each user's own message."""
        return claim_of(MESSAGE, "local", self.epsilon, self.delta)

    @property
    def stddev(self) -> float:
        """The printed standard deviation of every number of a message."""
        return 6 * math.sqrt(2 * math.log(2.5 / self.delta)) / self.epsilon

    @property
    def mechanism(self) -> JointGaussian:
        """The noise on both statistics, with their joint sensitivity."""
        return JointGaussian(
            matrix_stddev=self.stddev,
            vector_stddev=self.stddev,
            feature_bound=1.0,
            target_bound=1.0,
            neighbours="replace_one",
        )

    def declaration(self) -> Declaration:
        """Return the one release of a message, with the classic Gaussian theorem that its paper cites."""
        printed = Printed(rule="classic_gaussian", epsilon=self.epsilon, delta=self.delta)
        return Local(part=Release(label="statistics", mechanism=self.mechanism, printed=printed))

    def run(self, problem: LinearBandit, streams: Streams, n_runs: int) -> Transcript:
        """Return a transcript with `regret` (n_runs, B), the expected regret of each batch of users."""
        recorder = Recorder(streams.noise)
        lengths = batch_lengths(self.horizon, self.growth)

        def noise(users: int, gram: Array, target: Array) -> tuple[Array, Array]:
            root = math.sqrt(users)
            joined = np.concatenate([gram, target[..., None]], axis=-1)
            noisy = root * recorder.release("statistics", self.mechanism, joined / root)
            return noisy[..., :-1], noisy[..., -1]

        def policy(users: int, gram: Array, target: Array) -> Array:
            return best_of(self._index(problem, users, gram, target))

        course = run_batches(problem, lengths, noise, policy, streams, n_runs)
        return Transcript(
            n_runs=n_runs,
            arrays={"regret": course.regret, "gram": course.gram, "target": course.target},
            views={"public": ("gram", "target")},
            trace=recorder.trace()[:1],
        )

    def _regulariser(self, users: int) -> float:
        """Return c_t, twice the bound on the matrix noise."""
        return 2 * self._matrix_bound(users) / self.shrinkage

    def _matrix_bound(self, users: int) -> float:
        """Return the bound on the operator norm of the summed matrix noise."""
        tail = 2 * math.log(2 * self.horizon / self.fail_prob)
        return self.stddev * math.sqrt(users) * (4 * math.sqrt(self.dimension) + tail)

    def _bonus(self, users: int) -> float:
        """Return beta_t, the printed radius of the confidence ellipsoid."""
        bound, logarithm = self._matrix_bound(users), self.dimension * math.log(self.horizon)
        spread = math.sqrt(3 * bound) + self.stddev * math.sqrt(self.dimension * users / bound)
        return 2 * self.stddev * math.sqrt(logarithm) + spread * logarithm

    def _index(self, problem: LinearBandit, users: int, gram: Array, target: Array) -> Array:
        """Return the index of every cell: estimate plus bonus, or the estimate alone; shape (R, C, A)."""
        regularised = gram + self._regulariser(users) * np.eye(self.dimension)
        values, vectors = np.linalg.eigh(regularised)
        values = np.maximum(values, 0.1 * self._regulariser(users))
        inverse = np.einsum("rij,rj,rkj->rik", vectors, 1 / values, vectors)
        parameter = np.einsum("rij,rj->ri", inverse, target)
        value = np.einsum("cai,ri->rca", problem.features, parameter)
        if self.policy == "greedy":
            return np.asarray(value)
        norm = np.sqrt(np.einsum("cai,rij,caj->rca", problem.features, inverse, problem.features))
        return value + self._bonus(users) * norm
