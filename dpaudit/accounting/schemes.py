"""The probabilities of sampling schemes: how often a record is drawn, and next to how many others."""

import math
from fractions import Fraction

import numpy as np

from dpaudit.model.declaration import Subsample
from dpaudit.model.losses import MixtureLoss, binomial_shifts
from dpaudit.model.losses.binomial import binomial_cdf, binomial_pmf

_RARE = 1e-8  # of what truncates; sizes rarer than this count as the first one
_LEAST = 1e-22  # a probability that is added to a larger neighbour's
_ROUNDING = 1e-11  # what a library's binomial probabilities may be wrong by, relatively


def truncated_shares(node: Subsample) -> tuple[tuple[float, float, bool], ...]:
    """Return (probability, rate, whether there is room) over the number K of other records that a Poisson sample drew.

    With room, K < batch_bound, the record is added with the sampling rate. Otherwise it replaces another record of the
    cut sample, at the rate rate batch_bound / (K + 1). Sizes of negligible probability have the largest such rate.
    Engines add a bound on the error of the library's binomial probabilities.
    """
    bound, others, rate = node.batch_bound or 1, (node.population or 1) - 1, node.rate
    if others < bound:
        return ((1.0, rate, True),)
    sizes = np.arange(bound, others + 1)
    weights = binomial_pmf(sizes, others, rate)
    kept = np.cumsum(weights[::-1])[::-1] > _RARE * weights.sum() + _LEAST
    shares = [
        (float(weight), rate * bound / (int(size) + 1), False)
        for size, weight in zip(sizes[kept], weights[kept], strict=True)
    ]
    rest = (float(weights[~kept].sum()), rate * bound / (bound + 1), False)
    room = (binomial_cdf(bound - 1, others, rate), rate, True)
    return tuple(share for share in (room, rest, *shares) if share[0] > 0)


def kept_rate(node: Subsample) -> float:
    """Return the probability that a record is in a cut Poisson sample, rounded down."""
    shares = truncated_shares(node)
    return math.fsum(weight * rate for weight, rate, _ in shares) * (1 - 10 * _ROUNDING)


def drawn_counts(node: Subsample) -> tuple[tuple[float, int], ...]:
    """Return (probability, copies) of a record that draws with replacement hold at least once.

    Copies 0 stand for numbers too rare to count, which lose everything.
    """
    draws, chance = node.batch_size or 1, 1 / (node.population or 1)
    whole = -math.expm1(draws * math.log1p(-chance)) if chance < 1 else 1.0
    copies = np.arange(1, draws + 1)
    weights = binomial_pmf(copies, draws, chance) / whole
    kept = weights > _LEAST
    found = [(float(weight), int(j)) for j, weight in zip(copies[kept], weights[kept], strict=True)]
    rest = float(weights[~kept].sum())
    return ((rest * (1 + _ROUNDING), 0), *found) if rest > 0 else tuple(found)


def drawn_with_replacement(node: Subsample, mu: float) -> MixtureLoss:
    """Return what draws with replacement attain: all others hold one value, and a copy of the record moves by `mu`."""
    shifts = binomial_shifts(node.batch_size or 1, float(Fraction(1, node.population or 1)), mu)
    return MixtureLoss(above=shifts, below=((0.0, 1.0),))
