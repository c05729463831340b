"""The label with most votes after Gaussian noise, as teachers vote in PATE."""

import math
from dataclasses import replace
from typing import ClassVar, Self

import numpy as np
from scipy.special import log_ndtr

from dpaudit import Claim
from dpaudit.arguments import settled
from dpaudit.checks import Count, NoiseSize, count, ratio
from dpaudit.model.claim import Neighbours
from dpaudit.model.losses import ApproximateLoss, ComposedLoss, GaussianLoss
from dpaudit.model.mechanism import Array
from mechanisms.exponential import picked
from mechanisms.gaussian import Gaussian
from mechanisms.report_noisy_max import log_chances, panels

_DOWN = 2.0**-48  # relative; what rounding may have made of a loss
_UP = 1 + 2.0**-50  # of a square root
_REACH = 10  # deviations around the scores that are integrated


@settled
class NoisyPlurality:
    """Adds Gaussian noise to the number of votes for each label and releases which is largest, and nothing else.

    Shape: votes (..., labels) in, indices (...) out.
    Unit: `stddev` in votes; `voters`, how many voters may vote otherwise when a record changes, which is 1 where each
    record is in the data of one teacher.
    Guarantee: the votes move by at most sqrt(2) voters in l2, so that the Gaussian loss of mu = sqrt(2) voters / stddev
    dominates, whatever the data: agreement among voters is not credited. `attained_loss` is the exact loss of two
    labels that swap places.
    Edge cases: ties have probability 0 in real arithmetic; in float64 the first label wins them. No label is refused: a
    check that the largest number of votes exceeds a threshold is a Gaussian release of its own, of l2 sensitivity 1.
    Raises: ValueError: stddev outside 1e-140 to 1e140, no voters, or unknown neighbours.
    Source: Papernot, Song, Mironov, Raghunathan, Talwar and Erlingsson (2018), Proposition 8.

    >>> vote = NoisyPlurality(stddev=40.0, neighbours="replace_one")
    >>> int(vote.release(np.array([3, 240, 7]), np.random.default_rng(0)))
    1
    """

    name: ClassVar[str] = "noisy_plurality"

    stddev: NoiseSize
    neighbours: Neighbours
    voters: Count = 1

    @classmethod
    def calibrated(cls, claim: Claim, *, voters: int = 1) -> Self:
        """Return the smallest noise that provably meets `claim`, within 1e-9 and never below.

        Raises: UnsupportedError: delta is 0, which no Gaussian noise meets.
        """
        moved = math.sqrt(2) * count("voters", voters)
        stddev = Gaussian.calibrated(claim, l2_sensitivity=moved).stddev * _UP
        return cls(stddev=stddev, neighbours=claim.neighbours, voters=voters)

    def loss(self) -> ComposedLoss:
        """Return a loss that dominates every pair: that of a label which gains votes, and of one which loses them."""
        return ComposedLoss(parts=((GaussianLoss.exactly(ratio(self.voters, self.stddev)), 2),))

    def attained_loss(self) -> ApproximateLoss:
        """Return the exact loss of two labels, one ahead of the other by the votes that change, that swap places."""
        gap = self.voters / self.stddev / math.sqrt(2)
        return ApproximateLoss(epsilon=float(log_ndtr(gap) - log_ndtr(-gap)) * (1 - _DOWN))

    def release(self, value: Array, rng: np.random.Generator) -> Array:
        """Return the index of one label for each row of votes. Shape: (..., labels) to (...)."""
        votes = np.asarray(value, dtype=np.float64)
        chosen: Array = np.argmax(votes + rng.normal(0.0, self.stddev, votes.shape), axis=-1)
        return chosen

    def log_density(self, output: Array, value: Array) -> Array:
        """Return the log probability of each index, minus infinity where it names no label.

        Cost: one numerical integral for each distinct row of votes and label.
        """
        votes = np.asarray(value, dtype=np.float64) / self.stddev
        return picked(log_chances(votes, _log_win), output)

    def scaled(self, factor: float) -> Self:
        """Return the same vote with `factor` times the noise."""
        return replace(self, stddev=self.stddev * factor)

    def worst_pair(self) -> tuple[Array, Array]:
        """Return the votes for two labels before and after they swap places."""
        first = np.array([self.voters, 0])
        return first, first[::-1].copy()


def _log_win(votes: Array, label: int) -> float:
    """Return the log probability that `label` has most votes under unit normal noise, by Gauss-Legendre panels."""
    top = float(votes.max())
    edges = np.arange(float(votes[label]) - _REACH, top + _REACH + 0.5, 0.5)
    points, log_weights = panels(edges)
    others = log_ndtr(points[..., None] - np.delete(votes, label)).sum(axis=-1)
    density = -0.5 * (points - votes[label]) ** 2 - 0.5 * math.log(2 * math.pi)
    return float(np.logaddexp.reduce(log_weights + others + density, axis=None))


EXAMPLES = (
    NoisyPlurality(stddev=2.0, neighbours="replace_one"),
    NoisyPlurality(stddev=5.0, neighbours="add_remove", voters=4),
)
