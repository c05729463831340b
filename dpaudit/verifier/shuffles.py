"""The losses of shuffled reports, derived again: joint laws of two counts, summed cell by cell and merged into bins.

From above each cell is split between two knots, which dominates; from below cells are merged, which forgets what tells
them apart.
"""

import math
from collections import Counter
from typing import Any

import numpy as np

from dpaudit.verifier.losses import Loss, Multiset, black_box, discrete, most, reversed_all
from dpaudit.verifier.refusals import Table, follow, require
from dpaudit.verifier.schemes import bare

Array = np.ndarray[Any, Any]
_BINS, _CELLS, _LEAST = 8_000, 16_000_000, 1e-6
_OUTSIDE, _SEEN = 1e-36, 1e-60  # at least what lies outside of likely values; cells that are less likely are left out


def shuffled_above(node: Table, part: Multiset, relation: str) -> Loss:
    """Return the pair that dominates: clones of the user in question among the others, each a fair coin."""
    require(relation == "replace_one" and node["users"] >= 1, "a shuffle is stated for replaced data of some users")
    epsilon, failing = map(max, zip(most(part), most(reversed_all(part)), strict=True))
    require(epsilon <= 30 and not failing, "shuffled reports need a pure epsilon of at most 30")
    if epsilon < _LEAST:
        return black_box(epsilon)
    p, answers = math.exp(epsilon), _answers(node)
    rate, share = (2 / (p + answers - 1), (p + 1) / (p + answers - 1)) if 0 < answers <= p + 1 else (1 / p, 1.0)
    clones = _likely(node["users"] - 1, rate)
    heads = np.unique(np.concatenate([_likely(m, 0.5) for m in (int(clones[0]), int(clones[-1]))]))
    heads = np.arange(heads[0], heads[-1] + 2)
    follow(len(heads) * len(clones) <= _CELLS, "a shuffle of so many users cannot be derived again")
    m, a = clones[:, None], heads[None, :]
    own, other = (_binomial(j, m, 0.5) for j in (a - 1, a))
    weight = share * _binomial(clones, node["users"] - 1, rate)[:, None] / (p + 1)
    laws = weight * (p * own + other), weight * (own + p * other)
    return _merged(*laws, max(0.0, 1 - share), epsilon, unseen=2 * _OUTSIDE)


def shuffled_below(node: Table, part: Multiset) -> Multiset:
    """Return what is attained where all others hold one value, a third one if there is one: the counts of two."""
    answers, users = _answers(node), node["users"]
    if not answers or not part:
        return Counter()
    p = math.exp(most(part)[0])
    lie = 1 / (p + answers - 1)
    one = np.append(_likely(users - 1, lie), _likely(users - 1, lie)[-1] + 1)
    if answers == 2:
        mine, others = (_binomial(counts, users - 1, lie) for counts in (one - 1, one))
        return Counter([_merged(lie * (p * mine + others), lie * (mine + p * others), 0.0, most(part)[0])])
    if len(one) ** 2 > _CELLS // 4:
        return Counter()
    a, b = one[:, None], one[None, :]

    def law(i: Array, j: Array) -> Array:
        return _binomial(i, users - 1, lie) * _binomial(j, np.maximum(users - 1 - i, 0), lie / (1 - lie))

    more, less, same = law(a - 1, b), law(a, b - 1), (1 - (p + 1) * lie) * law(a, b)
    return Counter(
        [_merged(p * lie * more + lie * less + same, lie * more + p * lie * less + same, 0.0, most(part)[0])]
    )


def _answers(node: Table) -> int:
    """Return how many answers a single randomised response has; 0 for other reports."""
    part = bare(node["part"], "local")
    fields = part["mechanism"] if part["node"] == "release" else {"name": ""}
    return int(fields.get("categories", 2)) if fields["name"] == "randomised_response" else 0


def _binomial(counts: Array, trials: int | Array, rate: float) -> Array:
    """Return the probabilities of a binomial number, 0 of impossible ones; few trees shuffle: SciPy's loads slowly."""
    from scipy.stats import binom

    return np.asarray(binom.pmf(counts, trials, rate))


def _likely(trials: int, rate: float) -> Array:
    """Return the values of a binomial number outside which less than 10^-36 lies."""
    middle, reach = trials * rate, 13 * math.sqrt(trials * rate * (1 - rate)) + 60
    follow(reach < _CELLS / 8, "a shuffle of so many users cannot be derived again")
    return np.arange(max(0, math.floor(middle - reach)), min(trials, math.ceil(middle + reach)) + 1)


def _merged(p: Array, q: Array, nothing: float, largest: float, unseen: float = 0.0) -> Loss:
    """Return the loss of two laws on bins, from above and from below, with a mass that tells nothing.

    No loss exceeds the `largest`, that of one report, but by rounding. It is the loss from above of what is not listed:
    `unseen` under either law, and cells that are next to impossible.
    """
    held = (p > _SEEN) & (q > _SEEN)
    unseen += max(float(law[~held].sum()) for law in (p, q))
    values = np.log(p[held] / q[held])
    low, step = float(values.min()), max(float(np.ptp(values)), 1e-12) / _BINS
    merged = np.rint((values - low) / step).astype(int)
    one, two = (np.bincount(merged, law[held]) for law in (p, q))
    full = (one > 0) & (two > 0)
    labels = np.log(one[full] / two[full]), one[full] * ((1 - nothing) / one[full].sum())
    where = np.minimum(np.floor((values - low) / step), _BINS - 1).astype(int)
    part = np.clip((values - low) / step - where, 0.0, 1.0)
    rise = p[held] * (np.expm1(-part * step) / math.expm1(-step))
    masses = np.append(np.bincount(where, p[held] - rise), 0.0) + np.append(0.0, np.bincount(where, rise))
    both = (np.minimum(low + np.arange(len(masses)) * step, largest), masses), labels
    above, below = (list(zip(values.tolist(), masses.tolist(), strict=True)) for values, masses in both)
    above += [(largest, unseen), (-largest, unseen * math.exp(-largest))]
    return ("between", *(discrete([*law, (0.0, nothing)]) for law in (above, below)))
