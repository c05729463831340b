"""The probabilities of sampling schemes: how often a record is drawn, and next to how many others."""

import math
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from dpaudit.model.declaration import Subsample
from dpaudit.model.losses import MixtureLoss, binomial_shifts
from dpaudit.model.losses.binomial import binomial_cdf, binomial_groups, binomial_pmf, binomial_tail

_RARE = 1e-8  # of what truncates; sizes rarer than this count as the first one
_REACH, _BESIDE = 40.0, 800  # deviations of a binomial number that are told apart, and sizes more on either side
_GROUPS = 4096  # of sizes whose probabilities are counted one by one
_ALIKE = 1e-3  # relative, of sizes of a sample that count as the smallest of them
_SMALLEST = 1e-300  # at least this is the probability of what is possible
_LEAST = 1e-22  # a probability that is added to a larger neighbour's
_ROUNDING = 1e-11  # what a library's binomial probabilities may be wrong by, relatively


def truncated_shares(node: Subsample) -> tuple[tuple[float, float, bool], ...]:
    """Return (probability, rate, whether there is room) over the number K of other records that a Poisson sample drew.

    With room, K < batch_bound, the record is added with the sampling rate. Otherwise it replaces another record of the
    cut sample, at the rate rate batch_bound / (K + 1). Sizes of negligible probability, and all outside a window around
    the mean, have the largest such rate; of sizes that hardly differ each has that of the smallest one. Both cases
    have a positive probability if they can be, so that their largest losses count. Memory does not grow with the
    population.
    Engines add a bound on the error of the library's binomial probabilities.
    """
    bound, others, rate = node.batch_bound or 1, (node.population or 1) - 1, node.rate
    if others < bound:
        return ((1.0, rate, True),)
    first, last, weights = _cut_sizes(node)
    likely = np.cumsum(weights[::-1])[::-1] > _RARE * weights.sum() + _LEAST
    rare_mass = float(weights[~likely].sum()) + float(binomial_tail(last[-1:], others, rate)[0])
    rare_mass += float(binomial_cdf(int(first[0]) - 1, others, rate)) if bound < first[0] else 0.0
    least = _SMALLEST if rate < 1 else 0.0
    room = max(binomial_cdf(bound - 1, others, rate), least)
    group = np.floor(np.log(first[likely] / first[0]) / math.log1p(_ALIKE)).astype(np.int64)
    _, starts = np.unique(group, return_index=True)
    sums = np.add.reduceat(weights[likely], starts).tolist() if len(starts) else []
    shares = [(max(rare_mass, least), bound), *zip(sums, first[likely][starts].tolist(), strict=True)]
    cut = [(weight, rate * bound / (size + 1), False) for weight, size in shares]
    return tuple(share for share in ((room, rate, True), *cut) if share[0] > 0)


def _cut_sizes(node: Subsample) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
    """Return the sizes of a sample that is cut, in a window around the mean, and their probabilities.

    Shape: the first and the last size of each of at most `_GROUPS` groups, and the probability of the group.
    """
    bound, others, rate = node.batch_bound or 1, (node.population or 1) - 1, node.rate
    mean, reach = others * rate, _REACH * math.sqrt(others * rate * (1 - rate)) + _BESIDE
    start = max(bound, math.floor(mean - reach))
    stop = max(start, min(others, math.ceil(mean + reach)))
    return binomial_groups(start, stop, others, rate, _GROUPS)


def kept_rate(node: Subsample) -> float:
    """Return the probability that a record is in a cut Poisson sample, rounded down: no rare size counts."""
    bound, others, rate = node.batch_bound or 1, (node.population or 1) - 1, node.rate
    if others < bound:
        return rate * (1 - 10 * _ROUNDING)
    _, last, weights = _cut_sizes(node)
    cut = math.fsum((weights * (rate * bound / (last + 1))).tolist())
    return (binomial_cdf(bound - 1, others, rate) * rate + cut) * (1 - 10 * _ROUNDING)


def drawn_counts(node: Subsample) -> tuple[tuple[float, int], ...]:
    """Return (probability, copies) of a record that draws with replacement hold at least once.

    Copies 0 stand for numbers too rare to count, which lose everything.
    """
    draws, chance = node.batch_size or 1, 1 / (node.population or 1)
    drawn_chance = -math.expm1(draws * math.log1p(-chance)) if chance < 1 else 1.0
    copies = np.arange(1, draws + 1)
    weights = binomial_pmf(copies, draws, chance) / drawn_chance
    likely = weights > _LEAST
    counts = [(float(weight), int(j)) for j, weight in zip(copies[likely], weights[likely], strict=True)]
    rare_mass = float(weights[~likely].sum())
    return ((rare_mass * (1 + _ROUNDING), 0), *counts) if rare_mass > 0 else tuple(counts)


def drawn_with_replacement(node: Subsample, mu: float) -> MixtureLoss:
    """Return what draws with replacement attain: all others hold one value, and a copy of the record moves by `mu`."""
    draws, population = node.batch_size or 1, node.population or 1
    shifts = binomial_shifts(draws, float(Fraction(1, population)), mu) if population > 1 else ((draws * mu, 1.0),)
    return MixtureLoss(above=shifts, below=((0.0, 1.0),))
