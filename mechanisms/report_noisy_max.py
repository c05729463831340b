"""Report noisy max: the candidate whose score is largest after Laplace noise."""

import math
from collections.abc import Callable
from dataclasses import replace
from typing import ClassVar, Self

import numpy as np

from dpaudit import Claim
from dpaudit.arguments import settled
from dpaudit.checks import NoiseSize, Size, ratio, size
from dpaudit.model.claim import Neighbours
from dpaudit.model.losses import ApproximateLoss, LaplaceLoss
from dpaudit.model.mechanism import Array
from mechanisms.exponential import picked
from mechanisms.laplace import Laplace

_DOWN = 2.0**-48  # relative; what rounding may have made of a loss
_REACH, _FARTHEST, _NODES = 45.0, 700.0, 20


@settled
class ReportNoisyMax:
    """Adds Laplace noise to every score and releases which is largest, and nothing else.

    Shape: scores (..., candidates) in, indices (...) out.
    Unit: `scale` and `linf_sensitivity`, the most that a
    record moves any single score, in the unit of the scores.
    Guarantee: pure with epsilon = 2 linf_sensitivity / scale, however many candidates. The same holds for every
    fraction of the way between two sets of scores, so that the Laplace loss of that shift dominates (see symmetrised
    Wishart noise for the argument). `attained_loss` is the exact loss of two candidates whose scores cross.
    The bounded range of the exponential mechanism does *not* hold here.
    Edge cases: ties have probability 0 in real arithmetic; in float64 the first candidate wins them.
    Raises: ValueError: a parameter outside 1e-140 to 1e140, or unknown neighbours.
    Source: Dwork and Roth (2014), Claim 3.9, with twice the noise for scores that may move in both directions.

    >>> choice = ReportNoisyMax(scale=2.0, linf_sensitivity=1.0, neighbours="replace_one")
    >>> int(choice.release(np.array([0.0, 90.0, 0.0]), np.random.default_rng(0)))
    1
    """

    name: ClassVar[str] = "report_noisy_max"

    scale: NoiseSize
    linf_sensitivity: Size
    neighbours: Neighbours

    @classmethod
    def calibrated(cls, claim: Claim, *, linf_sensitivity: float) -> Self:
        """Return the smallest noise that provably meets `claim`, within 1e-9 and never below.

        Raises: UnsupportedError: epsilon and delta are both 0.
        """
        twice = 2 * size("linf_sensitivity", linf_sensitivity)
        scale = Laplace.calibrated(claim, l1_sensitivity=twice).scale
        return cls(scale=scale, linf_sensitivity=linf_sensitivity, neighbours=claim.neighbours)

    def loss(self) -> LaplaceLoss:
        """Return a loss that dominates every pair."""
        return LaplaceLoss.exactly(2 * ratio(self.linf_sensitivity, self.scale))

    def attained_loss(self) -> ApproximateLoss:
        """Return the exact loss of two candidates, one ahead of the other by linf_sensitivity, that swap places."""
        gap = self.linf_sensitivity / self.scale
        ahead = -math.expm1(-gap) - math.exp(-gap) * gap / 2  # how much likelier the one ahead is
        near, far = gap <= 1, gap + math.log((1 + ahead) / (1 + gap / 2))
        epsilon = math.log1p(ahead) - math.log1p(-ahead) if near else far
        return ApproximateLoss(epsilon=epsilon * (1 - _DOWN))

    def release(self, value: Array, rng: np.random.Generator) -> Array:
        """Return the index of one candidate for each row of scores. Shape: (..., candidates) to (...)."""
        scores = np.asarray(value, dtype=np.float64)
        chosen: Array = np.argmax(scores + rng.laplace(0.0, self.scale, scores.shape), axis=-1)
        return chosen

    def log_density(self, output: Array, value: Array) -> Array:
        """Return the log probability of each index, minus infinity where it names no candidate.

        Cost: one numerical integral for each distinct row of scores and candidate.
        """
        scores = np.asarray(value, dtype=np.float64) / self.scale
        return picked(log_chances(scores, _log_win), output)

    def scaled(self, factor: float) -> Self:
        """Return the same choice with `factor` times the noise."""
        return replace(self, scale=self.scale * factor)

    def worst_pair(self) -> tuple[Array, Array]:
        """Return the scores of two candidates before and after they swap places."""
        first = np.array([1.0, 0.0]) * self.linf_sensitivity
        return first, first[::-1].copy()


def _log_win(scores: Array, candidate: int) -> float:
    """Return the log probability that `candidate` has the largest score under unit Laplace noise.

    The winning value's density times the others' distribution functions, by Gauss-Legendre panels that break at
    every score, between which the integrand is smooth. Beyond 700 scales behind, where float64 has no probability,
    the result is a lower bound.
    """
    top = float(scores.max())
    low = max(float(scores[candidate]), top - _FARTHEST) - _REACH
    edges = np.unique(np.concatenate([np.arange(low, top + _REACH), scores[scores > low]]))
    points, log_weights = panels(edges)
    others = np.delete(scores, candidate)
    above = points[..., None] - others
    tail = 0.5 * np.exp(-np.abs(above))
    log_below = np.where(above >= 0, np.log1p(-tail), np.log(tail)).sum(axis=-1)
    terms = log_weights + log_below - np.abs(points - scores[candidate]) - math.log(2)
    return float(np.logaddexp.reduce(terms, axis=None))


def log_chances(scores: Array, log_win: Callable[[Array, int], float]) -> Array:
    """Return `log_win` of each row and candidate, computed once for equal rows. Shape: (..., n) in and out."""
    rows, where = np.unique(scores.reshape(-1, scores.shape[-1]), axis=0, return_inverse=True)
    chances = np.array([[log_win(row, k) for k in range(len(row))] for row in rows]).reshape(rows.shape)
    return chances[where.reshape(-1)].reshape(scores.shape)


def panels(edges: Array) -> tuple[Array, Array]:
    """Return 20 Gauss-Legendre points between each two `edges`, and the logarithms of their weights."""
    nodes, weights = np.polynomial.legendre.leggauss(_NODES)
    half = np.diff(edges) / 2
    return (edges[:-1] + half)[:, None] + half[:, None] * nodes, np.log(half[:, None] * weights)


EXAMPLES = (
    ReportNoisyMax(scale=2.0, linf_sensitivity=1.0, neighbours="replace_one"),
    ReportNoisyMax(scale=5.0, linf_sensitivity=3.0, neighbours="add_remove"),
)
