"""The losses of shuffled reports, derived again: joint laws of two counts, summed cell by cell and merged into bins.

From above each cell is split between two knots, which dominates; from below cells are merged, which forgets what tells
them apart.
"""

import math
from collections import Counter
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np
from scipy.special import bdtrc

from dpaudit.verifier.few_reports import shown_beside, worst_of_few
from dpaudit.verifier.losses import Loss, Multiset, black_box, discrete, most, reversed_all
from dpaudit.verifier.polygons import listed, symmetric
from dpaudit.verifier.refusals import Table, follow, require
from dpaudit.verifier.schemes import bare

Array = np.ndarray[Any, Any]
_BINS, _CELLS, _LEAST = 8_000, 16_000_000, 1e-6
_BLANKETS, _COUNTED, _PLACES, _HEIGHTS, _GONE, _FEW = 10_000, 300, 64, 699, 1e-30, 40
_DEVIATIONS = 13  # of a binomial number; beyond lies less than 10^-36
_UP = 1e-10  # relative; more than rounding makes of probabilities and tails
_OUTSIDE, _SEEN = 1e-36, 1e-60  # at least what lies outside of likely values; cells that are less likely are left out


def shuffled_above(node: Table, part: Multiset, relation: str) -> Loss:
    """Return the pair that dominates: clones of the user in question among the others, each a fair coin."""
    require(relation == "replace_one" and node["users"] >= 1, "a shuffle is stated for replaced data of some users")
    epsilon, failing = map(max, zip(most(part), most(reversed_all(part)), strict=True))
    require(epsilon <= 30 and not failing, "shuffled reports need a pure epsilon of at most 30")
    if epsilon < _LEAST:
        return black_box(epsilon)
    p, answers = math.exp(epsilon), _answers(node)
    if answers and node["users"] <= _BLANKETS:
        return _under_a_blanket(node["users"], epsilon, answers)
    two = len(answers) == 2
    least = 1 / (math.exp(epsilon / 2) + 1) ** 2 if two else 1 / (p + sum(answers) - 1)
    rate, share = (2 * least, (p + 1) * least) if two or (answers and answers[0] <= p + 1) else (1 / p, 1.0)
    clones = _likely(node["users"] - 1, rate)
    heads = np.unique(np.concatenate([_likely(m, 0.5) for m in (int(clones[0]), int(clones[-1]))]))
    heads = np.arange(heads[0], heads[-1] + 2)
    follow(len(heads) * len(clones) <= _CELLS, "a shuffle of so many users cannot be derived again")
    m, a = clones[:, None], heads[None, :]
    own, other = (_binomial(j, m, 0.5) for j in (a - 1, a))
    weight = share * _binomial(clones, node["users"] - 1, rate)[:, None] / (p + 1)
    laws = weight * (p * own + other), weight * (own + p * other)
    return _merged(*laws, max(0.0, 1 - share), epsilon, unseen=2 * _OUTSIDE)


@lru_cache(maxsize=4)
def _under_a_blanket(users: int, epsilon: float, answers: tuple[int, ...]) -> Loss:
    """Return the pair through knots of the curve: near where it is not tiny, and few beyond."""
    coarse = np.linspace(0.0, epsilon, 40)
    seen = coarse if users <= _FEW else coarse[_hidden(users, epsilon, answers, coarse) > _GONE]
    end = min(epsilon, (seen[-1] if len(seen) else 0.0) + coarse[1])
    knots = np.unique([*np.linspace(0.0, end, _HEIGHTS), *np.linspace(end, epsilon, 40)])
    knots = knots[np.append(True, np.diff(knots) > 1e-9 * epsilon)]
    heights = np.minimum(1.0, _hidden(users, epsilon, answers, knots) * (1 + 1e-9) + _OUTSIDE)
    heights[-1] = 0.0
    return ("between", listed(*symmetric(knots, heights.tolist())), discrete([(0.0, 1.0)]))


def _hidden(users: int, epsilon: float, answers: tuple[int, ...], knots: Array) -> Array:
    """Return upper bounds on delta from the least probabilities of the others, and of two responses of one.

    The two answers in question have at least the probability `least` each, and what tells nothing has `third`; the
    user is `gain` times as likely to name the latter. Numbers of third reports are split between `_PLACES` of them.
    Of one response every data set of the others is counted out for few users.
    """
    p, half, two, x = math.exp(epsilon), math.exp(epsilon / 2), len(answers) == 2, np.exp(knots)
    least = 1 / (half + 1) ** 2 if two else 1 / (p + answers[0] - 1)
    third, gain = (2 * least, half) if two else ((answers[0] - 2) * least, 1.0)
    heights = np.zeros(len(x))
    if not two and third and users <= _FEW:
        return worst_of_few(users, epsilon, answers[0], x)
    if third == 0 and users <= _COUNTED:
        for first in range(users):
            sides = (first, p * least), (users - 1 - first, least)
            ones, rest = (_binomial(np.arange(trials + 1), trials, rate) for trials, rate in sides)
            owns = np.array([least, p * least]), np.array([p * least, least])
            one, other = (np.convolve(np.convolve(ones, rest), own) for own in owns)
            heights = np.maximum(heights, np.maximum(one * (1 + _UP) - x[:, None] * other * (1 - _UP), 0).sum(axis=1))
        return heights
    either, named = _likely(users, 2 * least)[:, None], _likely(users, third) if third else np.zeros(1)
    places = np.unique(np.linspace(named[0], named[-1], min(_PLACES, len(named))))
    law = _binomial(either, users, 2 * least) * _binomial(named, users - either, min(1.0, third / (1 - 2 * least)))
    law = law @ np.array([np.interp(named, places, row) for row in np.eye(len(places))]).T
    after, over = _heads_over(either), _heads_over(either - 1)
    for i, at in enumerate(x):
        cost = either * (p * at - 1) + gain * places * (at - 1)  # each first answer brings (p - 1)(1 + x)
        needed = np.floor(cost / ((p - 1) * (1 + at)))
        gains = (p - 1) * (1 + at) * either / 2 * over(needed - 1)
        losses = cost * after(needed)
        heights[i] = (law * (np.maximum(gains - losses, 0) + _UP * (gains + losses))).sum() / users
    if two:  # one response changes, among those whose other one is the same
        clones = _likely(users - 1, 2 * least)[:, None]
        after = _heads_over(clones)
        for i, at in enumerate(x[knots < epsilon / 2]):
            top = np.floor((clones + 1) * (half * at - 1) / ((half - 1) * (1 + at)))
            gains = (half - at) * after(top - 1) / (half + 1)
            losses = (half * at - 1) * after(top) / (half + 1)
            sums = np.maximum(gains - losses, 0) + _UP * (gains + losses)
            heights[i] = max(heights[i], float((_binomial(clones, users - 1, 2 * least) * sums).sum()))
    return heights


def _heads_over(coins: Array) -> Callable[[Array], Array]:
    """Return the chance of more than so many heads among fair coins (a column), from a table of likely numbers."""
    low, high = (int(end) // 2 for end in (coins.min(), coins.max()))
    reach = int(_DEVIATIONS * math.sqrt(max(high, 0)) / 2) + 60
    heads = np.arange(max(-1, low - reach), min(2 * high + 1, high + reach) + 1)
    tails = np.where(heads < 0, 1.0, bdtrc(np.clip(heads, 0, np.maximum(coins, 1)), np.maximum(coins, 1), 0.5))
    table = tails * (heads < coins)
    rows = np.arange(len(coins))[:, None]
    return lambda more: table[rows, np.clip(more - heads[0], 0, len(heads) - 1).astype(int)]


def beside(node: Table) -> int:
    """Return how many data sets a witness may name: how many others hold the first of two answers, or one of two."""
    answers = _answers(node)
    return 0 if len(answers) != 1 else 2 if answers[0] > 2 else int(node["users"])


def shuffled_below(node: Table, part: Multiset, entry: int) -> Multiset:
    """Return what is attained where all others hold one value: the counts of two answers, or of the first of two.

    It is a third category where there is one, or the first value of the user in question where the witness says so
    (an `entry` of 1); of two responses it is the first value. Of two answers `entry` others hold the first one.
    """
    answers, users = _answers(node), node["users"]
    if not answers or not part:
        return Counter()
    epsilon = most(part)[0]
    p, two = math.exp(epsilon), len(answers) == 2
    lie = 1 / (math.exp(epsilon / 2) + 1) ** 2 if two else 1 / (p + answers[0] - 1)
    if answers == (2,):
        sides = (entry, p * lie), (users - 1 - entry, lie)
        ones, others = (_binomial(_likely(n, rate), n, rate) for n, rate in sides)
        counts = np.convolve(ones, others)
        shown = np.convolve(counts, [lie, p * lie]), np.convolve(counts, [p * lie, lie])
        return Counter([_merged(*shown, 0.0, epsilon)])
    if not two and users <= _FEW:
        shown = shown_beside(users, epsilon, answers[0], first=entry == 1)
        return Counter([_merged(*shown, 0.0, epsilon)])
    rates = (p * lie if two or entry else lie, lie)
    one, other = (np.append(seen, seen[-1] + 1) for seen in (_likely(users - 1, rate) for rate in rates))
    if len(one) * len(other) > _CELLS // 4:
        return Counter()
    a, b = one[:, None], other[None, :]

    def law(i: Array, j: Array) -> Array:
        return _binomial(i, users - 1, rates[0]) * _binomial(j, np.maximum(users - 1 - i, 0), lie / (1 - rates[0]))

    more, less, same = law(a - 1, b), law(a, b - 1), (1 - (p + 1) * lie) * law(a, b)
    return Counter([_merged(p * lie * more + lie * less + same, lie * more + p * lie * less + same, 0.0, epsilon)])


def _answers(node: Table) -> tuple[int, ...]:
    """Return how many answers a single randomised response has, or two equal binary ones; () for other reports."""
    asked = _asked(node["part"])
    answers = tuple(int(fields.get("categories", 2)) for fields in asked if fields["name"] == "randomised_response")
    single = len(answers) == len(asked) == 1
    return answers if single or (answers == (2, 2) and len(asked) == 2 and asked[0] == asked[1]) else ()


def _asked(part: Table) -> list[Table]:
    """Return the mechanisms of a report, three or more for anything but releases one after another."""
    part = bare(part, "local")
    if part["node"] == "release":
        return [part["mechanism"]]
    if part["node"] == "repeat" and part["times"] <= 2:
        return _asked(part["part"]) * int(part["times"])
    if part["node"] == "sequential":
        return [fields for inner in part["parts"] for fields in _asked(inner)]
    return [{"name": ""}] * 3


def _binomial(counts: Array, trials: int | Array, rate: float) -> Array:
    """Return the probabilities of a binomial number, 0 of impossible ones; few trees shuffle: SciPy's loads slowly."""
    from scipy.stats import binom

    return np.asarray(binom.pmf(counts, trials, rate))


def _likely(trials: int, rate: float) -> Array:
    """Return the values of a binomial number outside which less than 10^-36 lies."""
    middle, reach = trials * rate, _DEVIATIONS * math.sqrt(trials * rate * (1 - rate)) + 60
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
