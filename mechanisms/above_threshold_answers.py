"""KNOWN BAD: a sparse vector that prints the noisy answers which it compared with its threshold."""

import math
from dataclasses import replace
from typing import ClassVar, Self

import numpy as np
from scipy.special import betaln, comb

from dpaudit import Claim
from dpaudit.arguments import settled
from dpaudit.checks import Count, NoiseSize, Size, count, meant, ratio, settle, size
from dpaudit.model.claim import Neighbours
from dpaudit.model.losses import ApproximateLoss, DiscreteLoss
from dpaudit.model.mechanism import Array
from mechanisms._additive import meeting
from mechanisms.above_threshold import LONGEST, event_loss, log_below, log_means, require_answerable

_LARGEST = 700.0  # the largest epsilon whose exponential is a double
_LEAST, _SHRUNK = 1e-300, 1e-10  # a probability that may be no double; relative, far more than its rounding


@settled
class AboveThresholdAnswers:
    """Prints, of one query after another, the noisy answer if it exceeds a noisy threshold; stops after `cutoff`.

    The third of six published variants (Lyu, Su and Li 2017, Figure 1), often said to be private with the epsilon of
    `above_threshold`. A printed answer bounds the threshold's noise, which then protects nothing.
    Shape: queries less the threshold (..., horizon) in and out; minus infinity where no answer is printed.
    Unit: `linf_sensitivity`, the most that a record moves any query, in the unit of the queries, as both scales;
    `threshold_scale`, the scale of the threshold's noise; `query_scale`, the scale of each query's noise; `cutoff`, the
    printed answers after which it stops; `horizon`, the number of queries.
    Guarantee: exactly horizon s / query_scale, s being the sensitivity, as for all noisy answers. Given the threshold,
    each query is a Laplace release that is processed. All queries rise by s from 0: where every one is tested, and
    one answer or more is printed and none is positive, each of them is e^(s / query_scale) times less likely.
    Raises: ValueError: a scale or a sensitivity outside 1e-140 to 1e140, more than 62 queries, a cutoff beyond them.
    Source: Lyu, Su and Li (2017), Section 3.1 and Algorithm 3 of Figure 1.

    >>> wrong = AboveThresholdAnswers(
    ...     threshold_scale=2.0, query_scale=2.0, linf_sensitivity=1.0, neighbours="replace_one", horizon=10
    ... )
    >>> wrong.loss().epsilon
    5.0
    """

    name: ClassVar[str] = "above_threshold_answers"

    threshold_scale: NoiseSize
    query_scale: NoiseSize
    linf_sensitivity: Size
    neighbours: Neighbours
    cutoff: Count = 1
    horizon: Count = LONGEST

    def __post_init__(self) -> None:
        settle(self)
        require_answerable(self.horizon, self.cutoff)

    @classmethod
    def calibrated(cls, claim: Claim, *, linf_sensitivity: float, cutoff: int = 1, horizon: int = LONGEST) -> Self:
        """Return the smallest noise that provably meets `claim`, within 1e-9 and never below, the same on both.

        Raises: UnsupportedError: epsilon and delta are both 0.
        """
        scale = size("linf_sensitivity", linf_sensitivity) * count("horizon", horizon)
        unit = cls(
            threshold_scale=scale,
            query_scale=scale,
            linf_sensitivity=linf_sensitivity,
            neighbours=claim.neighbours,
            cutoff=cutoff,
            horizon=horizon,
        )
        return meeting(unit, claim)

    def loss(self) -> ApproximateLoss:
        """Return a loss that dominates every pair: the black box of all noisy answers."""
        exact = self.horizon * ratio(self.linf_sensitivity, self.query_scale)
        near = float(exact)
        return ApproximateLoss(epsilon=near if meant(near) >= exact else math.nextafter(near, math.inf))

    def attained_loss(self) -> DiscreteLoss:
        """Return the loss of seeing whether all queries were tested, one or more printed, and no answer is positive.

        With t answers the event has probability 2^-horizon r B(r + horizon - t, t + 1) / 2, where r is the query's
        scale over the threshold's: the integral of e^(-r y) e^(-(horizon - t) y) (1 - e^-y)^t over the threshold -y.
        """
        scales = self.query_scale / self.threshold_scale
        printed = np.arange(1, self.cutoff + 1)
        ways = np.where(printed < self.cutoff, comb(self.horizon, printed), comb(self.horizon - 1, printed - 1))
        logs = np.log(ways) + betaln(scales + self.horizon - printed, printed + 1.0)
        chance = float(np.exp(np.logaddexp.reduce(logs) + math.log(scales / 2) - self.horizon * math.log(2)))
        epsilon = self.loss().epsilon * (1 - 2.0**-48)
        p = chance * (1 - _SHRUNK)
        if epsilon > _LARGEST or p * math.exp(-epsilon) < _LEAST:
            return DiscreteLoss(atoms=((0.0, 1.0),))
        return event_loss(p, epsilon)

    def release(self, value: Array, rng: np.random.Generator) -> Array:
        """Return the noisy answers that are printed, minus infinity for the others. Shape: that of `value`."""
        queries = np.asarray(value, dtype=np.float64)
        threshold = rng.laplace(0.0, self.threshold_scale, queries.shape[:-1])[..., None]
        answers = queries + rng.laplace(0.0, self.query_scale, queries.shape)
        over = answers >= threshold
        return np.where(over & (np.cumsum(over, axis=-1) <= self.cutoff), answers, -np.inf)

    def log_density(self, output: Array, value: Array) -> Array:
        """Return the log density of each row of printed answers, minus infinity where it cannot be.

        Cost: one numerical integral over the threshold's noise for each distinct row of queries and pattern.
        """
        answers, queries = np.broadcast_arrays(
            np.asarray(output, dtype=np.float64), np.asarray(value, dtype=np.float64)
        )
        rows = np.concatenate([np.isfinite(answers), queries], axis=-1).reshape(-1, 2 * self.horizon)
        kinds, kind_of = np.unique(rows, axis=0, return_inverse=True)
        flat, logs = answers.reshape(-1, self.horizon), np.empty(len(rows))
        for number, kind in enumerate(kinds):
            of_this = kind_of.reshape(-1) == number
            over, asked = np.split(kind, 2)
            logs[of_this] = self._log_rows(over == 1, flat[of_this], asked)
        return logs.reshape(queries.shape[:-1])

    def _log_rows(self, over: Array, answers: Array, queries: Array) -> Array:
        """Return the log densities of rows with one pattern: those of their answers, and the chance of the others."""
        if over.sum() > self.cutoff:
            return np.full(len(answers), -math.inf)
        tested = int(np.flatnonzero(over)[-1]) + 1 if over.sum() == self.cutoff else len(over)
        below = queries[:tested][~over[:tested]]

        def log_others(z: Array) -> Array:
            return np.asarray(sum((log_below((z - q) / self.query_scale) for q in below.tolist()), np.zeros_like(z)))

        tops = answers[:, over].min(axis=1, initial=math.inf)
        printed = np.abs(answers[:, over] - queries[over]) / self.query_scale + math.log(2 * self.query_scale)
        means = log_means(log_others, queries, self.threshold_scale, self.query_scale, tops)
        return np.asarray(means - printed.sum(axis=1))

    def scaled(self, factor: float) -> Self:
        """Return the same queries with `factor` times the noise."""
        return replace(self, threshold_scale=self.threshold_scale * factor, query_scale=self.query_scale * factor)

    def worst_pair(self) -> tuple[Array, Array]:
        """Return queries at the threshold, and all of them a move above it."""
        return np.zeros(self.horizon), np.full(self.horizon, float(self.linf_sensitivity))


EXAMPLES = (
    AboveThresholdAnswers(
        threshold_scale=0.05, query_scale=0.3, linf_sensitivity=1.0, neighbours="replace_one", horizon=1
    ),
    AboveThresholdAnswers(
        threshold_scale=0.05, query_scale=0.75, linf_sensitivity=1.5, neighbours="add_remove", cutoff=2, horizon=2
    ),
)
