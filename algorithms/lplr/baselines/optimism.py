"""Optimism on raw statistics: what a linear bandit loses where nobody is protected."""

import math
from typing import ClassVar

import numpy as np

from algorithms._growth import Growth
from algorithms.lplr.baselines.batches import batch_lengths, best_of, run_batches
from algorithms.problems.linear_bandit import LinearBandit
from dpaudit import Declaration, Streams, Transcript, UnsupportedError
from dpaudit.arguments import settled
from dpaudit.checks import Count, OpenProbability, Positive
from dpaudit.model.mechanism import Array


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
