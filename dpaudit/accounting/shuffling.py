"""Shuffled local reports: what a secret uniform order of n users' reports delivers, all from one randomiser.

With p = e^epsilon0, every other user behaves with probability c like a fair coin between the two answers of the user in
question. The pair T(c; n) counts them: m - 1 ~ Bin(n - 1, c) coins and the user's own report, a of the m at the first
answer. Its delta has one threshold a row:

    P(a >= t | m) = (p F(t - 1) + F(t)) / (p + 1),   Q(a >= t | m) = (F(t - 1) + p F(t)) / (p + 1),

F(j) the probability of j or more heads among m - 1 fair coins. Upper bounds, for every pair of neighbours:

    any randomiser          T(1/p; n), as R(x) >= (R(x0) + R(x1)) / (2 p)
    one release             the same, where clones report from the mean of the pair that dominates one report
    a finite report         the privacy blanket (`reports`), for one or two independent parts that may change
    the same, few users     the largest delta of all data sets, where others hold few values (`reports.counted_out`)
    k-ary response,         the same, whatever the number of values (`few_reports`)
    few users
    k-ary response, many    s T(2 r; n) with r = 1 / (p + k - 1) and s = r (p + 1): whether the user names a third
                            category is published, so that nothing about others' is assumed hidden

Below stand explicit data sets: the others hold one value each, or of two values some hold the first one.
Source: Feldman, McMillan and Talwar (2021), Theorem 3.1, for counting clones; Balle, Bell, Gascon and Nissim (2019).
Clones of a pair are proved in docs/theory/shuffles.md.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from scipy.special import betainc

from dpaudit.accounting.curves.connected import connected
from dpaudit.accounting.few_reports import counts_beside, heights_of_few
from dpaudit.accounting.reports import (
    Pair,
    cells,
    counted_out,
    counts_of,
    counts_of_two,
    likely_values,
    pair_moving,
    pairs_of,
    two_outcomes,
    values_of,
)
from dpaudit.accounting.selection import symmetric_curve
from dpaudit.engines.basic import total_infinite_mass, total_supremum
from dpaudit.engines.transform import Floats
from dpaudit.errors import UnsupportedError
from dpaudit.model.declaration import Declaration, Local, PostProcess, Release, Repeat, Sequential, Shuffle
from dpaudit.model.losses import ApproximateLoss, Composition, DiscreteLoss
from dpaudit.model.losses.binomial import binomial_groups
from dpaudit.model.losses.report_laws import ReportLaws
from dpaudit.model.mechanism import Mechanism, is_plugged_in, is_reporting

_BINOMIAL = 1e-11  # relative; what scipy's binomial tails may be off by, far more than they are
_LEAST = 1e-6
_INFLATED = 1e-8  # relative, by which knots are raised so that rounding of masses cannot lower a curve
_ERASED = 1e-4  # probability with which the lower pair shows nothing: above rounding, and the width of any bins
_KNOTS, _FAR, _FEW, _OFTEN, _TINY = 350, 60, 40, 1e-12, 1e-36
_LARGEST_EPSILON, _MOST_CELLS, _BINS = 30.0, 4_000_000, 4000
_POWERS = 5  # of two, up to 16: so many of many others hold the first of two answers
_INNER, _OUTER, _FURTHER = 100, 40, 48  # knots of a blanket's curve; of many users, and of events; beyond
_BEYOND = 3.0  # so many times the fall to where the curve is next to nothing: there it is below 1e-36
_DENSE = 0.7  # the power that spaces them, so that a curve falls by as much between any two of them
_SOME_USERS, _SOME_OTHERS = 100_000, 1_000  # beyond, fewer knots; beyond, others hold the last value alone
_COUNTED, _SHORT = 10_000_000, 100_000  # numbers that are summed over all data sets, and for one of them
_OUTCOMES, _VALUES = 10_000, 16  # of one report; of one of two parts
_SMALLEST, _HALVINGS = 1e-5, 10  # of a report's epsilon, that a curve may fall below; of the logarithm of both
_LEAST_KNOWN = 1e-3  # a report's epsilon below which a blanket's steps would lose too many digits
_GROUPS, _FEWER, _MANY_USERS = 2048, 512, 10**6  # of numbers of coins, and of many users'; fewer coins hide less
_MOST_USERS = 10**9  # more count as so many: whoever sees the reports of some can add those of others
_FEW_PARTS = 2  # of a report whose law is known
_FEW_USERS = 10**7  # beyond, a library's binomial tails are less close


@dataclass(frozen=True, slots=True, kw_only=True)
class Clones:
    """The pair T(c; n) seen with probability `share`, for reports of `epsilon` and n `users`; else nothing is seen."""

    epsilon: float
    users: int
    rate: float
    share: float = 1.0

    def delta(self, at: float) -> tuple[float, float]:
        """Return lower and upper bounds on delta at epsilon `at`, 0 or above.

        Of many users numbers of coins are taken together, each as the smallest, and nothing is known from below.

        >>> low, high = Clones(epsilon=1.0, users=3, rate=math.exp(-1)).delta(0.3)
        >>> low <= 0.2457029347 <= high or abs(high - 0.2457029347) < 2e-10
        True
        """
        if at >= self.epsilon:
            return 0.0, 0.0
        p, x = math.exp(self.epsilon), math.exp(at)
        coins, last, weights = _coins(self.users - 1, self.rate)
        m = coins + 1
        threshold = np.floor(m * (x * p - 1) / ((p - 1) * (1 + x))) + 1
        above, at_least = _heads(threshold - 1, m - 1), _heads(threshold, m - 1)
        gains, losses = (p - x) * above / (p + 1), (p * x - 1) * at_least / (p + 1)
        value = self.share * float(weights @ (gains - losses))
        error = self.share * _BINOMIAL * max(1.0, self.users / _FEW_USERS) * float(weights @ (gains + losses))
        return max(0.0, value - error) if (coins == last).all() else 0.0, min(1.0, max(value + error, 0.0) + _TINY)

    def losses(self) -> Floats:
        """Return every positive loss of the pair, for few users."""
        p = math.exp(self.epsilon)
        ratios = {
            math.log((p * a + m - a) / (p * (m - a) + a))
            for m in range(1, self.users + 1)
            for a in range(m // 2, m + 1)
        }
        return np.array(sorted(loss for loss in ratios if loss > 1e-12))


@lru_cache(maxsize=16)
def _coins(others: int, rate: float) -> tuple[NDArray[np.int64], NDArray[np.int64], Floats]:
    """Return the first and the last of numbers of coins taken together, and their probabilities."""
    likely = likely_values(others, rate)
    groups = _GROUPS if others < _MANY_USERS else _FEWER
    return binomial_groups(int(likely[0]), int(likely[-1]), others, rate, groups)


def _heads(least: Floats, coins: NDArray[np.int64]) -> Floats:
    """Return the probability of `least` heads or more among fair coins."""
    inside = (least >= 1) & (least <= coins)
    places = np.where(inside, least, 1.0)
    tail = betainc(places, np.where(inside, coins - places + 1, 1.0), 0.5)
    return np.asarray(np.where(inside, tail, np.where(least < 1, 1.0, 0.0)))


def shuffled_above(part: Composition, node: Shuffle) -> Composition:
    """Return a loss that dominates every pair of neighbours, where `part` dominates one report.

    Edge cases: below an epsilon of 1e-6, where e^epsilon - 1 is not known to 1e-8, no amplification is credited.
    Raises: UnsupportedError: reports that can fail (delta0 above 0), or without a largest loss.
    """
    orders = (part, part.reversed())
    if any(total_infinite_mass(order)[1] > 0 for order in orders):
        raise UnsupportedError(
            "'shuffle' of reports that can fail (a delta above 0) is not covered; state a pure epsilon of the report."
        )
    epsilon = max(total_supremum(order)[1] for order in orders)
    if epsilon == math.inf or epsilon > _LARGEST_EPSILON:
        raise UnsupportedError(
            f"'shuffle' needs reports of a pure epsilon of at most {_LARGEST_EPSILON:g}, and these have {epsilon:g}."
        )
    if epsilon < _LEAST:
        return Composition.of(ApproximateLoss(epsilon=epsilon))
    users = min(node.users, _MOST_USERS)
    return Composition.of(_dominating(epsilon, users, _laws(node.part), _categories(node.part), part))


def clones_of(epsilon: float, users: int, categories: int) -> Clones:
    """Return the pair of clones that is proved for k-ary responses; for any reports where `categories` is 0."""
    p = math.exp(epsilon)
    if 2 <= categories <= p + 1:
        least = 1 / (p + categories - 1)
        return Clones(epsilon=epsilon, users=users, rate=min(1.0, 2 * least), share=min(1.0, least * (p + 1)))
    return Clones(epsilon=epsilon, users=users, rate=1 / p)


def _categories(part: Declaration) -> int:
    """Return the categories of a single randomised response; 0 for anything else."""
    asked = _mechanisms(part)
    single = len(asked) == 1 and asked[0].name == "randomised_response" and bool(_laws(part))
    return int(getattr(asked[0], "categories", 0)) if single else 0


def _laws(part: Declaration) -> tuple[ReportLaws, ...]:
    """Return the laws of each part of a report; () where one is not known, or outcomes or values are too many."""
    asked = _mechanisms(part)
    told = [
        each for each in asked if is_reporting(each) and not is_plugged_in(each) and each.neighbours == "replace_one"
    ]
    report_laws = tuple(each.report_laws() for each in told)
    few = math.prod(len(laws.least) for laws in report_laws) <= _OUTCOMES
    if len(report_laws) == _FEW_PARTS:
        few &= len(report_laws[0].values) * len(report_laws[1].values) ** len(report_laws[0].least) <= _VALUES
    return report_laws if few and len(report_laws) == len(asked) else ()


def _mechanisms(part: Declaration) -> tuple[Mechanism, ...]:
    """Return the mechanisms that a report is made of, in order; () if it is made of anything else, or of many."""
    return tuple(release.mechanism for release in releases_of(part))


@lru_cache(maxsize=64)
def _dominating(
    epsilon: float, users: int, laws: tuple[ReportLaws, ...], categories: int, part: Composition
) -> DiscreteLoss:
    """Return atoms whose curve lies on or above the smallest proved one: straight lines between raised knots."""
    clones = clones_of(epsilon, users, categories)
    if epsilon >= _LEAST_KNOWN and not laws and (pair := _cloned(part, epsilon)):
        knots, heights = _under_a_blanket(clones, [pair])
        heights = np.minimum(heights, _clones_heights(clones, knots[:-1]))
    elif epsilon < _LEAST_KNOWN or not laws:
        knots = _knots(clones)
        heights = _clones_heights(clones, knots[:-1])
    else:
        knots, heights = _of_known(clones, laws, categories)
    heights = heights * (1 + _INFLATED)
    return connected(np.asarray(np.exp(knots), np.float64), np.append(heights, 0.0))


def _cloned(part: Composition, epsilon: float) -> Pair | None:
    """Return the symmetric pair (P, Q) that dominates one release, of which (P + Q) / (2 p) is what others report.

    None of several releases, and where nothing but the largest loss is known.
    """
    if part.events != 1 or isinstance(part.parts[0][0], ApproximateLoss):
        return None
    dominating, *_ = symmetric_curve((part,), 0.0)
    if dominating.infinite_mass > 0:
        return None
    losses, p = np.array(dominating.atoms).T
    q = p * np.exp(-losses)
    return Pair(first=p, second=q, least=(p + q) / (2 * math.exp(epsilon)), values=np.stack([p, q]))


def _of_known(clones: Clones, laws: tuple[ReportLaws, ...], categories: int) -> tuple[Floats, Floats]:
    """Return knots and heights for reports whose law is known; the last knot has no height."""
    pairs, users = pairs_of(laws), clones.users
    few = categories > 2 and users <= _FEW
    two = pairs[0].values.shape == (2, 2) and users <= _MANY_USERS
    counted = all(law.complete for law in laws) and sum(cells(pair, users) for pair in pairs) <= _COUNTED
    if not few and not two and not counted:
        return _under_a_blanket(clones, pairs)
    knots = np.unique(np.concatenate([_knots(clones), np.linspace(0.0, clones.epsilon, _KNOTS)]))
    knots = np.append(knots[:-1][np.diff(knots) > 1e-9 * clones.epsilon], clones.epsilon)
    at = knots[:-1]
    if few:
        return knots, heights_of_few(epsilon=clones.epsilon, users=users, answers=categories, at=at)
    return knots, np.max([(two_outcomes if two else counted_out)(pair, users, at) for pair in pairs], axis=0)


def _under_a_blanket(clones: Clones, pairs: list[Pair]) -> tuple[Floats, Floats]:
    """Return knots and heights of the privacy blanket, or of clones where users are too many."""
    users = min(clones.users, _MANY_USERS)

    def height(at: float) -> float:
        return max(pair.height(users, at) for pair in pairs)

    near = _nearly_reached(height, clones.epsilon)
    knots = near * np.linspace(0.0, 1.0, _INNER if users <= _SOME_USERS else _OUTER) ** _DENSE
    if near < clones.epsilon:
        last = min(_BEYOND, (clones.epsilon / near) ** (1 / _DENSE))
        further = near * np.linspace(1.0, last, _FURTHER)[1:-1] ** _DENSE
        knots = np.concatenate([knots, further, [clones.epsilon]])
    heights = np.array([height(float(e)) for e in knots[:-1]])
    return knots, heights if users == clones.users else np.minimum(heights, _clones_heights(clones, knots[:-1]))


def _nearly_reached(height: Callable[[float], float], largest: float) -> float:
    """Return about the epsilon at which a curve falls to next to nothing, or the largest one where it does not."""
    low, high = largest * _SMALLEST, largest
    for _ in range(_HALVINGS):
        middle = math.sqrt(low * high)
        low, high = (middle, high) if height(middle) > _OFTEN else (low, middle)
    return high


def _clones_heights(clones: Clones, at: Floats) -> Floats:
    """Return the upper bounds of clones at each epsilon."""
    return np.array([clones.delta(float(e))[1] for e in at])


def _knots(clones: Clones) -> Floats:
    """Return epsilons from 0 to that of a report: all losses where they are few, else dense where delta is not tiny."""
    if clones.users <= _FEW:
        return np.concatenate([[0.0], clones.losses()[:-1], [clones.epsilon]])
    near = _reached(clones, 0.0, _OFTEN)
    inner = np.linspace(0.0, near, _KNOTS)
    if near >= clones.epsilon * (1 - 1e-9):
        return np.append(inner[:-1], clones.epsilon)
    places = np.linspace(near, clones.epsilon, 2 * _FAR)[1:-1]
    falling = np.log(_clones_heights(clones, places))
    wanted = np.linspace(math.log(_OFTEN), max(math.log(1e2 * _TINY), float(falling[-1])), _FAR)
    far = np.interp(-wanted, -np.minimum.accumulate(falling), places)
    far_knots = [e for a, e in pairwise([near, *far.tolist()]) if e - a > 1e-9 * clones.epsilon]
    return np.concatenate([inner, far_knots, [clones.epsilon]])


def _reached(clones: Clones, low: float, delta: float) -> float:
    """Return about the epsilon at which the pair's delta falls to a number; that of a report where it does not."""
    high = clones.epsilon
    for _ in range(14):
        middle = (low + high) / 2
        low, high = (middle, high) if clones.delta(middle)[1] > delta else (low, middle)
    return high


def data_sets_beside(node: Shuffle) -> tuple[tuple[int, ...], ...]:
    """Return the data sets of all other users that a report is tried beside, as numbers of each value.

    A witness names one by its place. Of two values a power of two or all but so many others hold the first one, where
    users or outcomes are few; any number where both are. Else all others hold one value, the same after any outcome.
    """
    laws, others = _laws(node.part), node.users - 1
    if not laws:
        return ()
    values, own = len(values_of(laws)), len(laws[0].values)
    if values == 2 and (len(laws[0].least) == 2 or _countable(laws[0], node.users)):
        every = node.users <= _FEW and len(laws[0].least) == 2
        few = range(others + 1) if every else (0, *(2**power for power in range(_POWERS)))
        even = sorted(zip(*laws[0].values, strict=True)) == sorted(zip(*laws[0].values[::-1], strict=True))
        numbers = {number for number in few if 2 * number <= others} if even else {*few, *(others - n for n in few)}
        return tuple((number, others - number) for number in sorted(numbers) if 0 <= number <= others)
    common_values = sorted({*range(own), *range(values - own, values)}, reverse=True)
    common_values = common_values if node.users <= _SOME_OTHERS or values == 2 else common_values[:1]
    return tuple(tuple(others * (value == common) for value in range(values)) for common in common_values)


def _countable(law: ReportLaws, users: int) -> bool:
    """Return whether the counts of few users' outcomes have a short law."""
    return users <= _FEW and (users + 1) ** (len(law.least) - 1) <= _SHORT


def releases_of(part: Declaration) -> tuple[Release, ...]:
    """Return the releases that a report is made of, in order; () if it is made of anything else, or of many."""
    match part:
        case Local() | PostProcess():
            return releases_of(part.part)
        case Release():
            return (part,)
        case Repeat() if part.times <= _FEW_PARTS:
            return releases_of(part.part) * part.times
        case Sequential() if len(part.parts) <= _FEW_PARTS:
            inner_releases = [releases_of(inner) for inner in part.parts]
            return tuple(release for releases in inner_releases for release in releases) if all(inner_releases) else ()
        case _:
            return ()


def shuffled_attained(node: Shuffle, moved: Composition, *, which: tuple[bool, ...], beside: int = 0) -> Composition:
    """Return what an explicit data set attains, one of those that are tried; nothing for reports of unknown law.

    `which` says of each release of a report whether the user's change moves it.
    """
    if not (tried := data_sets_beside(node)) or not moved.parts:
        return Composition()
    epsilon = max(total_supremum(moved)[0], total_supremum(moved.reversed())[0])
    if epsilon < _LEAST:  # where rounding of the counts' law would show more
        return Composition()
    pair = _beside(epsilon, _laws(node.part), which, _categories(node.part), tried[beside])
    return Composition() if pair is None else Composition.of(pair)


@lru_cache(maxsize=64)
def _beside(
    epsilon: float, laws: tuple[ReportLaws, ...], which: tuple[bool, ...], categories: int, others: tuple[int, ...]
) -> DiscreteLoss | None:
    """Return the loss of what the counts show beside others, so many with each value; None if it is too long."""
    pair, users = pair_moving(laws, which), sum(others) + 1
    if categories > 2 and users <= _FEW:
        shown = counts_beside(epsilon=epsilon, users=users, answers=categories, held=others.index(max(others)))
        return binned(*shown, epsilon)
    if pair.values.shape == (2, 2):
        return _others_split(pair, epsilon, others)
    if len(laws) == 1 and laws[0].complete and _countable(laws[0], users):
        return binned(*counts_of(pair, others), epsilon)
    if users > _MANY_USERS:
        return None
    near = _nearly_reached(lambda at: pair.shown(others, at)[0], epsilon)
    return pair.attained(others, near * np.linspace(0.0, 1.0, _OUTER) ** _DENSE)


def _others_split(pair: Pair, epsilon: float, others: tuple[int, ...]) -> DiscreteLoss | None:
    """Return the loss of the count of the first of two outcomes; None if its law is too long."""
    likely = (likely_values(number, float(law[0])) for number, law in zip(others, pair.values, strict=True))
    if sum(map(len, likely)) > _MOST_CELLS:
        return None
    return binned(*counts_of_two(pair, others), epsilon)


def binned(under_p: Floats, under_q: Floats, epsilon: float) -> DiscreteLoss:
    """Return the loss of an observer who sees the loss in bins, and with a small probability nothing at all.

    No loss exceeds the `epsilon` of one report; rounding must not say so. What a smaller loss leaves of either law goes
    to the outcome that shows nothing, where it adds no more to a curve than it took.
    """
    largest = max(0.0, epsilon * (1 - 2.0**-48) - 2.0**-48)
    p, q = (np.ravel(law) for law in (under_p, under_q))
    seen = (p > 1e-25) & (q > 1e-25)
    losses = np.clip(np.log(p[seen] / q[seen]), -largest, largest)
    edges = np.linspace(losses.min(), losses.max(), _BINS)
    bins = np.searchsorted(edges, losses - 1e-12)
    p_bin, q_bin = (np.bincount(bins, law[seen] * (1 - _ERASED), _BINS + 1) for law in (p, q))
    full = p_bin > 0
    atoms = [
        (max(-largest, min(math.log(a / b), largest)), float(a)) for a, b in zip(p_bin[full], q_bin[full], strict=True)
    ]
    nothing = 1 - math.fsum(mass for _, mass in atoms)
    without = 1 - math.fsum(mass * math.exp(-loss) for loss, mass in atoms)
    return DiscreteLoss(atoms=((math.log(nothing / without), nothing), *atoms))
