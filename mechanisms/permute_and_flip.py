"""Permute-and-flip: the candidate whose score is largest after exponential noise."""

import math
from dataclasses import replace
from typing import ClassVar, Literal, Self

import numpy as np

from dpaudit import Claim
from dpaudit.arguments import settled
from dpaudit.checks import FieldError, NoiseSize, Size, ratio, settle, size
from dpaudit.model.claim import Neighbours
from dpaudit.model.losses import DiscreteLoss, ThresholdLoss
from dpaudit.model.mechanism import Array
from mechanisms.exponential import picked
from mechanisms.laplace import Laplace

Scores = Literal["general", "monotone"]
"""Whether a record may move some scores up and others down, or all of them one way."""

_MOST = 400  # candidates whose probabilities are integrated
_LARGEST_EPSILON = 700.0


@settled
class PermuteAndFlip:
    """Adds exponential noise to every score and releases which is largest, and nothing else.

    Shape: scores (..., candidates) in, indices (...) out; at most 400 candidates for `log_density`.
    Unit: `scale` and `linf_sensitivity`, the most that a record moves any single score, in the unit of the scores.
    `scores` are "monotone" where a record moves all of them up, or all of them down.
    Guarantee: pure with epsilon = 2 linf_sensitivity / scale, and half of it for monotone scores. Along the line
    between two sets of scores the probability g of any event has |g'| <= min(g, 1 - g), where the whole line is a move
    of epsilon; this is the equation of Laplace noise, whose curve therefore bounds that of a choice. Two candidates win
    by a Laplace distribution function of their gap, so that each point of the curve is attained by a pair of its own.
    Two candidates have the largest Renyi divergence of each order; `attained_loss` is the pair of the largest
    Kullback-Leibler divergence. The bounded range of the exponential mechanism does *not* hold here.
    Edge cases: ties have probability 0 in real arithmetic; in float64 the first candidate wins them.
    Raises: ValueError: a parameter outside 1e-140 to 1e140, an epsilon above 700, or unknown neighbours.
    Source: McKenna and Sheldon (2020); Ding, Kifer, Sayed, Steinke, Wang, Xiao and Zhang (2021) for the noise.

    >>> choice = PermuteAndFlip(scale=2.0, linf_sensitivity=1.0, neighbours="replace_one")
    >>> int(choice.release(np.array([0.0, 90.0, 0.0]), np.random.default_rng(0)))
    1
    """

    name: ClassVar[str] = "permute_and_flip"

    scale: NoiseSize
    linf_sensitivity: Size
    neighbours: Neighbours
    scores: Scores = "general"

    def __post_init__(self) -> None:
        settle(self)
        if (epsilon := self.loss().shift) > _LARGEST_EPSILON:
            raise FieldError(
                "scale",
                f"Expected scale={self.scale} to make an epsilon of at most {_LARGEST_EPSILON:g}, and it makes "
                f"{epsilon:g}; take the maximum.",
            )

    @classmethod
    def calibrated(cls, claim: Claim, *, linf_sensitivity: float, scores: Scores = "general") -> Self:
        """Return the smallest noise that provably meets `claim`, within 1e-9 and never below.

        Raises: UnsupportedError: epsilon and delta are both 0.
        """
        gap = (1 if scores == "monotone" else 2) * size("linf_sensitivity", linf_sensitivity)
        scale = Laplace.calibrated(claim, l1_sensitivity=gap).scale
        return cls(scale=scale, linf_sensitivity=linf_sensitivity, neighbours=claim.neighbours, scores=scores)

    def loss(self) -> ThresholdLoss:
        """Return a loss that dominates every pair."""
        return ThresholdLoss.exactly((1 if self.scores == "monotone" else 2) * ratio(self.linf_sensitivity, self.scale))

    def attained_loss(self) -> DiscreteLoss:
        """Return the loss of two candidates, one ahead before and the other one after, most apart on average."""
        bound = self.loss()
        before = _before(bound.shift)
        after = bound.shift - before
        wins, loses = 1 - math.exp(-before) / 2, math.exp(-before) / 2
        gain, fall = after + math.log1p(-math.expm1(-before)), -before - math.log1p(-math.expm1(-after))
        return DiscreteLoss(atoms=((fall, loses), (gain, wins)), once=bound)

    def release(self, value: Array, rng: np.random.Generator) -> Array:
        """Return the index of one candidate for each row of scores. Shape: (..., candidates) to (...)."""
        scores = np.asarray(value, dtype=np.float64)
        return np.argmax(scores + rng.exponential(self.scale, scores.shape), axis=-1)

    def log_density(self, output: Array, value: Array) -> Array:
        """Return the log probability of each index, minus infinity where it names no candidate.

        With p = e^((score - largest) / scale) it is p times the integral over u in [0, 1] of the product of 1 - u p of
        all others: a polynomial, which Gauss-Legendre nodes integrate exactly.
        """
        scores = np.asarray(value, dtype=np.float64) / self.scale
        if scores.shape[-1] > _MOST:
            raise ValueError(f"Expected value to have at most {_MOST} candidates, got {scores.shape[-1]}.")
        ahead = scores - scores.max(axis=-1, keepdims=True)
        nodes, weights = np.polynomial.legendre.leggauss(scores.shape[-1] // 2 + 1)
        tails = np.log1p(-(nodes + 1) / 2 * np.exp(ahead)[..., None])
        others = tails.sum(axis=-2, keepdims=True) - tails
        return picked(ahead + np.logaddexp.reduce(others + np.log(weights / 2), axis=-1), output)

    def scaled(self, factor: float) -> Self:
        """Return the same choice with `factor` times the noise."""
        return replace(self, scale=self.scale * factor)

    def worst_pair(self) -> tuple[Array, Array]:
        """Return the scores of two candidates before and after the gap shrinks by all that a record moves it."""
        before = _before(self.loss().shift) * self.scale
        first = np.array([before, 0.0])
        moves = np.array([0.0, 1.0]) if self.scores == "monotone" else np.array([-1.0, 1.0])
        return first, first + moves * self.linf_sensitivity


def _before(shift: float) -> float:
    """Return the gap x, in units of the scale, at which a move by `shift` makes the largest divergence.

    The one ahead wins with P = 1 - e^-x / 2, and afterwards with Q = e^(x - shift) / 2: bisection on the derivative,
    (1 - P) (logit P - logit Q) - P + (1 - P) Q / (1 - Q).
    """
    low, high = 0.0, shift
    for _ in range(80):
        x = (low + high) / 2
        loses, after = math.exp(-x) / 2, math.exp(x - shift) / 2
        logits = math.log1p(-loses) + 2 * math.log(2) + shift + math.log1p(-after)
        rises = loses * logits - (1 - loses) + loses * after / (1 - after) > 0
        low, high = (x, high) if rises else (low, x)
    return low


EXAMPLES = (
    PermuteAndFlip(scale=1.0, linf_sensitivity=1.0, neighbours="replace_one"),
    PermuteAndFlip(scale=2.0, linf_sensitivity=3.0, neighbours="add_remove", scores="monotone"),
)
