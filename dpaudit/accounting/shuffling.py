"""Shuffled local reports: what a secret uniform order of n users' reports delivers, all from one randomiser.

With p = e^epsilon0, every other user behaves with probability c like a fair coin between the two answers of the user in
question. The pair T(c; n) counts them: m - 1 ~ Bin(n - 1, c) coins and the user's own report, a of the m at the first
answer. Its delta has one threshold a row:

    P(a >= t | m) = (p F(t - 1) + F(t)) / (p + 1),   Q(a >= t | m) = (F(t - 1) + p F(t)) / (p + 1),

F(j) the probability of j or more heads among m - 1 fair coins. Upper bounds, for every pair of neighbours:

    any randomiser          T(1/p; n), as R(x) >= (R(x0) + R(x1)) / (2 p)
    k-ary response          s T(2 r; n) with r = 1 / (p + k - 1) and s = r (p + 1), where k <= p + 1: whether the user
                            names a third category is published, so that nothing about others' is assumed hidden
    the same, few users     the largest delta of all data sets (`few_reports`)
    k-ary response, or      the smaller one of this and the privacy blanket (`blanket`); of two responses either both
    two binary ones         change, or one of them among the others whose second report is the same: T(2 r^2; n)

Below stand explicit data sets for such reports: all others hold a third value, or the first one; of two answers some
hold the first one, and the others the second.
Source: Feldman, McMillan and Talwar (2021), Theorem 3.1, for counting clones; Balle, Bell, Gascon and Nissim (2019).
"""

import math
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.special import betainc, gammaln

from dpaudit.accounting.blanket import Reports, responses
from dpaudit.accounting.curves.connected import connected
from dpaudit.accounting.few_reports import counts_beside, heights_of_few
from dpaudit.engines.basic import total_infinite_mass, total_supremum
from dpaudit.errors import UnsupportedError
from dpaudit.model.declaration import Declaration, Local, PostProcess, Release, Repeat, Sequential, Shuffle
from dpaudit.model.losses import ApproximateLoss, Composition, DiscreteLoss
from dpaudit.model.losses.binomial import binomial_groups, binomial_pmf
from dpaudit.model.mechanism import Mechanism

Floats: TypeAlias = NDArray[np.float64]
_SPREAD = 13.0  # deviations of a binomial number that are summed, and 60 more values; beyond lies less than 1e-36
_BINOMIAL = 1e-11  # relative; what scipy's binomial tails may be off by, far more than they are
_LEAST = 1e-6
_INFLATED = 1e-8  # relative, by which knots are raised so that rounding of masses cannot lower a curve
_ERASED = 1e-4  # probability with which the lower pair shows nothing: above rounding, and the width of any bins
_KNOTS, _FAR, _FEW, _OFTEN, _TINY = 350, 60, 40, 1e-12, 1e-36
_LARGEST_EPSILON, _MOST_CELLS, _BINS = 30.0, 4_000_000, 4000
_POWERS = 5  # of two, up to 16: so many of many others hold the first of two answers
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


def _window(trials: int, rate: float) -> tuple[int, int]:
    """Return the ends of the range of a binomial number outside which next to nothing lies."""
    reach = _SPREAD * math.sqrt(trials * rate * (1 - rate)) + 60
    return max(0, math.floor(trials * rate - reach)), min(trials, math.ceil(trials * rate + reach))


@lru_cache(maxsize=16)
def _coins(others: int, rate: float) -> tuple[NDArray[np.int64], NDArray[np.int64], Floats]:
    """Return the first and the last of numbers of coins taken together, and their probabilities."""
    return binomial_groups(*_window(others, rate), others, rate, _GROUPS if others < _MANY_USERS else _FEWER)


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
    return Composition.of(_dominating(clones_of(epsilon, node), _categories(node.part)))


def clones_of(epsilon: float, node: Shuffle) -> Clones:
    """Return the pair that is proved for the reports of `node`, where both of two responses change."""
    categories, users = _categories(node.part), min(node.users, _MOST_USERS)
    p = math.exp(epsilon)
    if categories and (len(categories) == 2 or categories[0] <= p + 1):
        least = responses(epsilon=epsilon, users=users, categories=categories).least
        return Clones(epsilon=epsilon, users=users, rate=min(1.0, 2 * least), share=min(1.0, least * (p + 1)))
    return Clones(epsilon=epsilon, users=users, rate=1 / p)


def _categories(part: Declaration) -> tuple[int, ...]:
    """Return the categories of a randomised response, or of two equal binary ones; () for anything else."""
    asked = _mechanisms(part)
    known = asked if asked and all(mechanism.name == "randomised_response" for mechanism in asked) else ()
    categories = tuple(int(getattr(mechanism, "categories", 0)) for mechanism in known)
    two = len(known) == 2 and known[0] == known[1] and categories == (2, 2)
    return categories if len(known) == 1 or two else ()


def _mechanisms(part: Declaration) -> tuple[Mechanism, ...]:
    """Return the mechanisms that a report is made of, in order; () if it is made of anything else, or of many."""
    match part:
        case Local() | PostProcess():
            return _mechanisms(part.part)
        case Release():
            return (part.mechanism,)
        case Repeat() if part.times <= _FEW_PARTS:
            return _mechanisms(part.part) * part.times
        case Sequential() if len(part.parts) <= _FEW_PARTS:
            found = [_mechanisms(inner) for inner in part.parts]
            return tuple(mechanism for mechanisms in found for mechanism in mechanisms) if all(found) else ()
        case _:
            return ()


@lru_cache(maxsize=64)
def _dominating(clones: Clones, categories: tuple[int, ...]) -> DiscreteLoss:
    """Return atoms whose curve lies on or above the smallest proved one: straight lines between raised knots."""
    if clones.epsilon == 0:
        return DiscreteLoss(atoms=((0.0, 1.0),))
    knots = _knots(clones)
    if categories and clones.users <= _FEW:  # the corners of a blanket's curve lie elsewhere
        knots = np.unique(np.concatenate([knots, np.linspace(0.0, clones.epsilon, _KNOTS)]))
        knots = np.append(knots[:-1][np.diff(knots) > 1e-9 * clones.epsilon], clones.epsilon)
    heights = np.array([clones.delta(float(e))[1] for e in knots[:-1]])
    if len(categories) == 1 and categories[0] > 2 and clones.users <= _FEW:
        epsilon, users, answers = clones.epsilon, clones.users, categories[0]
        heights = heights_of_few(epsilon=epsilon, users=users, answers=answers, at=knots[:-1])
    elif categories:
        reports = responses(epsilon=clones.epsilon, users=clones.users, categories=categories)
        heights = np.minimum(heights, reports.heights(knots[:-1]))
    if len(categories) == 2:  # only one of them may change
        alone = Clones(epsilon=clones.epsilon / 2, users=clones.users, rate=clones.rate)
        heights = np.maximum(heights, [alone.delta(float(e))[1] for e in knots[:-1]])
    heights = heights * (1 + _INFLATED)
    return connected(np.asarray(np.exp(knots), np.float64), np.append(heights, 0.0))


def _knots(clones: Clones) -> Floats:
    """Return epsilons from 0 to that of a report: all losses where they are few, else dense where delta is not tiny."""
    if clones.users <= _FEW:
        return np.concatenate([[0.0], clones.losses()[:-1], [clones.epsilon]])
    near = _reached(clones, 0.0, _OFTEN)
    inner = np.linspace(0.0, near, _KNOTS)
    if near >= clones.epsilon * (1 - 1e-9):
        return np.append(inner[:-1], clones.epsilon)
    places = np.linspace(near, clones.epsilon, 2 * _FAR)[1:-1]
    falling = np.log([clones.delta(float(e))[1] for e in places])
    wanted = np.linspace(math.log(_OFTEN), max(math.log(1e2 * _TINY), float(falling[-1])), _FAR)
    far = np.interp(-wanted, -np.minimum.accumulate(falling), places)
    rest = [e for a, e in pairwise([near, *far.tolist()]) if e - a > 1e-9 * clones.epsilon]
    return np.concatenate([inner, rest, [clones.epsilon]])


def _reached(clones: Clones, low: float, delta: float) -> float:
    """Return about the epsilon at which the pair's delta falls to a number; that of a report where it does not."""
    high = clones.epsilon
    for _ in range(14):
        middle = (low + high) / 2
        low, high = (middle, high) if clones.delta(middle)[1] > delta else (low, middle)
    return high


def data_sets_beside(node: Shuffle) -> tuple[int, ...]:
    """Return the data sets of all other users that one k-ary response is tried beside; () for other reports.

    Of two answers it is how many hold the first one: any number up to half of few users, else powers of two. Of more
    answers they all hold a third one (0), or the first one (1).
    """
    categories, half = _categories(node.part), (node.users + 1) // 2
    if len(categories) != 1:
        return ()
    if categories[0] > 2:
        return (0, 1)
    return tuple(range(half)) if node.users <= _FEW else (0, *(2**power for power in range(_POWERS)))


def shuffled_attained(node: Shuffle, moved: Composition, *, beside: int = 0) -> Composition:
    """Return what an explicit data set attains, one of those that are tried; nothing for reports of unknown law."""
    categories = _categories(node.part)
    if not categories or not moved.parts:
        return Composition()
    epsilon = max(total_supremum(moved)[0], total_supremum(moved.reversed())[0])
    if epsilon < _LEAST:  # where rounding of the counts' law would show more
        return Composition()
    if len(categories) == 1 and categories[0] > 2 and node.users <= _FEW:
        laws = counts_beside(epsilon=epsilon, users=node.users, answers=categories[0], first=beside == 1)
        return Composition.of(binned(*laws, epsilon))
    reports = responses(epsilon=epsilon, users=node.users, categories=categories)
    pair = _others_alike(reports, epsilon, beside) if reports.others else _others_split(reports, epsilon, beside)
    return Composition() if pair is None else Composition.of(pair)


@lru_cache(maxsize=64)
def _others_split(reports: Reports, epsilon: float, first: int) -> DiscreteLoss | None:
    """Return the loss of the count of the first of two answers, which so many others hold; None if it is too long."""
    truth, lie, others = reports.ratio * reports.least, reports.least, reports.users - 1
    sides = (first, truth), (others - first, lie)
    windows = [np.arange(low, high + 1) for low, high in (_window(*side) for side in sides)]
    if sum(map(len, windows)) > _MOST_CELLS:
        return None
    ones, twos = (binomial_pmf(window, *side) for window, side in zip(windows, sides, strict=True))
    counts = np.convolve(ones, twos)
    return binned(np.convolve(counts, [lie, truth]), np.convolve(counts, [truth, lie]), epsilon)


@lru_cache(maxsize=64)
def _others_alike(reports: Reports, epsilon: float, first: int) -> DiscreteLoss | None:
    """Return the loss of the counts where all others hold one value; None where the counts are too many to sum."""
    p, least, others = reports.ratio, reports.least, reports.users - 1
    rates = (p * least, least) if first else reports.beside
    windows = [_window(others, rate) for rate in rates]
    sizes = [high + 2 - low for low, high in windows]
    if math.prod(sizes) > _MOST_CELLS:
        return None
    a, b = np.meshgrid(*(low + np.arange(size) for (low, _), size in zip(windows, sizes, strict=True)), indexing="ij")

    def law(one: NDArray[np.int64], two: NDArray[np.int64]) -> Floats:
        """Return the multinomial law of two counts among the others."""
        rest = others - one - two
        inside = (one >= 0) & (two >= 0) & (rest >= 0)
        one, two, rest = (np.where(inside, n, 0) for n in (one, two, rest))
        logs = gammaln(others + 1) - gammaln(one + 1) - gammaln(two + 1) - gammaln(rest + 1)
        logs += one * math.log(rates[0]) + two * math.log(rates[1]) + rest * math.log1p(-sum(rates))
        return np.asarray(np.exp(np.where(inside, logs, -math.inf)))

    more, less, same = law(a - 1, b), law(a, b - 1), law(a, b)
    none = 1 - (p + 1) * least
    return binned(p * least * more + least * less + none * same, least * more + p * least * less + none * same, epsilon)


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
    held, other = (np.bincount(bins, law[seen] * (1 - _ERASED), _BINS + 1) for law in (p, q))
    full = held > 0
    atoms = [
        (max(-largest, min(math.log(a / b), largest)), float(a)) for a, b in zip(held[full], other[full], strict=True)
    ]
    nothing = 1 - math.fsum(mass for _, mass in atoms)
    without = 1 - math.fsum(mass * math.exp(-loss) for loss, mass in atoms)
    return DiscreteLoss(atoms=((math.log(nothing / without), nothing), *atoms))
