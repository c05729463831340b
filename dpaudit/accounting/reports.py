"""Shuffled reports of a known law: what a user shows at most, whatever the others hold, and what is shown beside some.

R(x) is the law of a report of a user who holds x, and the user in question holds x0 or x1. Let m be a measure of which
every other user's R(x) is at least as large on each outcome. With t = e^epsilon and n users

    delta <= E(sum of l(y_i) over n draws)_+ / n,    l(y) = (R(x0)(y) - t R(x1)(y)) / m(y),

where a draw is y with the probability m(y), and adds 0 with the rest (the privacy blanket). The step l(y) is split
between two points of a grid so that its mean is kept, which only adds noise to a convex function.

Beside others with laws R(x_i) the event {sum of s(y_i) > b} over all reports has, with T the sum of the others' scores,
the probability sum_y R(x0)(y) P(T > b - s(y)) or the same with R(x1). Whole scores s(y) near a multiple of l(y), with
m the mean law of the others, make a good event for each epsilon.
Source: Balle, Bell, Gascon and Nissim (2019), Lemma 5.3.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise, permutations, product

import numpy as np

from dpaudit.accounting.curves.connected import convex_corners
from dpaudit.accounting.tilted_sums import BEYOND, Whole, tilted_sum
from dpaudit.engines.transform import Floats
from dpaudit.model.losses import DiscreteLoss
from dpaudit.model.losses.binomial import binomial_pmf
from dpaudit.model.losses.report_laws import ReportLaws

_FINE = ((1_000, 20), (100_000, 10), (math.inf, 4))  # users up to which so many points lie in a step's deviation
_LONGEST = 500  # points between the largest step and the smallest
_ROUNDED = 1e-14  # relative, for each user and 10,000 more: what rounding makes of steps and sums
_EXACT, _BLOCKS, _SOME, _FEWER_BLOCKS = 300, 100, 100_000, 40  # users whose every data set is counted; blocks of more
_DEVIATIONS, _MORE = 13.0, 60  # of a binomial number that are summed, and values more; beyond lies less than 1e-36
_SAME = 1e-9  # relative; ratios that are closer are those of one class


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Pair:
    """One change of a user's value: the laws of the report before and after it, and the least of any value.

    Shape: `first`, `second` and `least` hold a number for each class of outcomes, `values` (values, classes) the laws
    of what others may hold.
    """

    first: Floats
    second: Floats
    least: Floats
    values: Floats

    def reversed(self) -> "Pair":
        """Return the change back."""
        return Pair(first=self.second, second=self.first, least=self.least, values=self.values)

    def height(self, users: int, at: float) -> float:
        """Return an upper bound on delta at epsilon `at` among `users`, whatever the others hold."""
        steps = (self.first - math.exp(at) * self.second) / self.least
        law = np.append(self.least, max(0.0, 1 - math.fsum(self.least)))
        grid = _grid(np.append(steps, 0.0), law / law.sum(), users)
        places = np.append(steps, 0.0) / grid
        lower = np.floor(places).astype(np.int64)
        upper_share = places - lower
        start = int(lower.min())
        masses = np.zeros(int(np.ptp(lower)) + 2)
        np.add.at(masses, lower - start, law * (1 - upper_share))
        np.add.at(masses, lower - start + 1, law * upper_share)
        total = tilted_sum(start + np.arange(len(masses)), [(masses, users)])
        over = total.sums > 0
        value = grid * float(total.high[over] @ total.sums[over]) / users
        return min(1.0, value * (1 + _ROUNDED * (users + 10_000)) + BEYOND * max(0.0, float(steps.max())))

    def shown(self, others: Sequence[int], at: float) -> tuple[float, float]:
        """Return a lower bound on P(S), and an upper one on Q(S), of a good event S at epsilon `at`.

        `others` says how many others hold each value.
        """
        number = sum(others)
        mean = np.array(others) @ self.values / number if number else (self.first + self.second) / 2
        steps = (self.first - math.exp(at) * self.second) / mean
        places = steps / _grid(steps, mean, number)
        scores = np.rint(places).astype(np.int64)
        bound = round(number * float(mean @ (scores - places)))  # what rounding adds to the sum of all scores
        groups = [(law, count) for law, count in zip(self.values, others, strict=True) if count]
        least, most = tilted_sum(scores, groups, bound).above(bound - scores)
        down, up = 1 - _ROUNDED * (number + 10_000), 1 + _ROUNDED * (number + 10_000)
        return float(self.first @ least) * down, min(1.0, float(self.second @ most) * up)

    def attained(self, others: Sequence[int], epsilons: Floats) -> DiscreteLoss:
        """Return a loss below that of all the counts show beside `others`, by events at each of `epsilons`, 0 or more.

        The events of either order are two ends of one trade-off curve; between them it is at least a straight line.
        """
        mean = np.array(others) @ self.values
        alike = _rows(self.first, self.second, mean) == _rows(self.second, self.first, mean)
        orders = (self,) if alike else (self, self.reversed())
        ends = [_corners(sorted(pair.shown(others, float(e))[::-1] for e in epsilons)) for pair in orders]
        return _joined(ends[0], ends[-1])


def _rows(*laws: Floats) -> list[tuple[float, ...]]:
    """Return the classes in an order that does not depend on theirs."""
    return sorted(tuple(row) for row in np.round(np.array(laws).T, 10).tolist())


def _grid(steps: Floats, law: Floats, users: int) -> float:
    """Return the distance of the points of a grid for steps of this law."""
    deviation = math.sqrt(max(0.0, float(law @ steps**2) - float(law @ steps) ** 2))
    fine = next(points for most, points in _FINE if users <= most)
    return max(deviation / fine, float(np.ptp(steps)) / _LONGEST, 1e-300)


def _corners(points: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    """Return the corners of the least concave curve from (0, 0) over points, as far as it is steeper than 1."""
    q, p = (np.array(side) for side in zip((0.0, 0.0), *points, strict=True))
    indices = convex_corners(q, -p)
    corners = [(float(q[i]), float(p[i])) for i in indices]
    while len(corners) > 1 and corners[-1][1] - corners[-2][1] <= corners[-1][0] - corners[-2][0]:
        corners.pop()
    return corners


def _joined(rising: list[tuple[float, float]], falling: list[tuple[float, float]]) -> DiscreteLoss:
    """Return the loss whose trade-off curve begins with the corners `rising`, and ends with `falling` from its end.

    An atom is a straight piece: its loss is the logarithm of the slope. The one in the middle joins both ends; where it
    would not be between them, corners are left out.
    """
    while True:
        above = [(b[1] - a[1], b[0] - a[0]) for a, b in pairwise(rising)]
        below = [(b[0] - a[0], b[1] - a[1]) for a, b in pairwise(falling)]
        middle = 1 - rising[-1][1] - falling[-1][0], 1 - rising[-1][0] - falling[-1][1]
        if min(middle) > 0:
            slope = middle[0] / middle[1]
            if above and slope > above[-1][0] / above[-1][1]:
                rising = rising[:-1]
            elif below and slope < below[-1][0] / below[-1][1]:
                falling = falling[:-1]
            else:
                break
        elif len(rising) > len(falling):
            rising = rising[:-1]
        else:
            falling = falling[:-1]
    pieces = [*above, middle, *below[::-1]]
    return DiscreteLoss(atoms=tuple((math.log(p / q), p) for p, q in pieces))


def values_of(parts: Sequence[ReportLaws]) -> Floats:
    """Return the law of every value of a report of one part, or of two of which the second may depend on the first.

    Then a value is one of the first part and, for each outcome of that, one of the second. Shape: (values, outcomes);
    the first value and the last one differ in every part.
    """
    first, *second = parts
    if not second:
        return np.array(first.values)
    (follower,) = second
    follows = product(range(len(follower.values)), repeat=len(first.least))
    rows = [
        [p * q for p, answer in zip(law, choice, strict=True) for q in follower.values[answer]]
        for choice in follows
        for law in first.values
    ]
    return np.array(rows)


def pairs_of(parts: Sequence[ReportLaws]) -> list[Pair]:
    """Return every kind of change of a report of one part or two; equal ones once.

    The least probabilities of two parts multiply. The two orders of a change are two pairs unless they are alike.
    """
    moves = [(0, 1), (1, 0)] if len(parts) == 1 else [*permutations(range(len(values_of(parts))), 2)]
    seen: dict[tuple[tuple[float, ...], ...], Pair] = {}
    for a, b in moves:
        pair = _pair(parts, a, b)
        seen.setdefault(tuple(_rows(pair.first, pair.second, pair.least)), pair)
    return list(seen.values())


def pair_moving(parts: Sequence[ReportLaws], which: Sequence[bool]) -> Pair:
    """Return the change of a report's first value that moves those of its parts that `which` says, and no other.

    Of two parts the second has its last value instead of its first one, whatever the outcome of the first part.
    """
    if len(parts) == 1:
        return _pair(parts, 0, 1)
    own, values = len(parts[0].values), len(values_of(parts))
    return _pair(parts, 0, which[0] * (own - 1) + which[1] * (values - own))


def _pair(parts: Sequence[ReportLaws], before: int, after: int) -> Pair:
    """Return the change of one value to another one; outcomes of equal ratios are one."""
    values, least = values_of(parts), np.ones(1)
    for part in parts:
        least = np.outer(least, part.least).ravel()
    rows = _merged(np.stack([values[before], values[after], least, *values]))
    return Pair(first=rows[0], second=rows[1], least=rows[2], values=rows[3:])


def _merged(rows: Floats) -> Floats:
    """Return the columns with equal ratios as one, which is their sum; impossible outcomes are left out."""
    rows = rows[:, rows[2] > 0]
    ratios = np.round(np.log(rows / rows[2]) / _SAME).T
    _, group = np.unique(ratios, axis=0, return_inverse=True)
    return np.stack([np.bincount(group.ravel(), row) for row in rows])


def counted_out(pair: Pair, users: int, at: Floats) -> Floats:
    """Return delta at each epsilon for the worst data set of all, which hold the values of `pair` and no others."""
    heights = np.zeros(len(at))
    for law in _laws_of_counts(pair.values, users - 1):
        p, q = (_with_one(law, own).ravel() for own in (pair.first, pair.second))
        heights = np.maximum(heights, sticks(p, q, at, _ROUNDED * 10_000))
    return np.minimum(1.0, heights + BEYOND)


def cells(pair: Pair, users: int) -> int:
    """Return how many numbers `counted_out` sums up."""
    values, classes = pair.values.shape
    return math.comb(users - 2 + values, values - 1) * int((users + 1) ** (classes - 1))


def two_outcomes(pair: Pair, users: int, at: Floats) -> Floats:
    """Return the same where there are two values and two outcomes, of many users within about half a percent.

    Of many users the numbers of others who hold the first value are taken in blocks. What those others report who are
    in a block's difference is told apart, which only adds to what is seen.
    """
    blocks = users if users <= _EXACT else _BLOCKS if users <= _SOME else _FEWER_BLOCKS
    ends = np.unique(np.linspace(0, users, blocks + 1).astype(np.int64))
    heights, error = np.zeros(len(at)), _ROUNDED * 10 * (users + 10_000)
    for least, beyond in pairwise(ends.tolist()):
        heights = np.maximum(heights, sticks(*counts_of_two(pair, (least, users - beyond)), at, error))
    return np.minimum(1.0, heights + BEYOND)


def counts_of_two(pair: Pair, others: Sequence[int]) -> tuple[Floats, Floats]:
    """Return the laws of the count of the first of two outcomes beside `others`, so many of whom hold each value."""
    sides = [(number, float(law[0])) for number, law in zip(others, pair.values, strict=True)]
    ones, more_ones = (binomial_pmf(likely_values(*side), *side) for side in sides)
    counts = np.convolve(ones, more_ones)
    return np.convolve(counts, pair.first[::-1]), np.convolve(counts, pair.second[::-1])


def likely_values(trials: int, rate: float) -> Whole:
    """Return the values of a binomial number that are not next to impossible."""
    reach = _DEVIATIONS * math.sqrt(trials * rate * (1 - rate)) + _MORE
    return np.arange(max(0, math.floor(trials * rate - reach)), min(trials, math.ceil(trials * rate + reach)) + 1)


def sticks(p: Floats, q: Floats, at: Floats, error: float) -> Floats:
    """Return delta of two laws at each epsilon, which increase, rounded up by a relative error of both."""
    likely = p > 0
    beyond = np.searchsorted(np.exp(at), p[likely] / q[likely])
    sums = (np.cumsum(np.bincount(beyond, side[likely], len(at) + 1)[::-1])[::-1][1:] for side in (p, q))
    gains, losses = next(sums), next(sums) * np.exp(at)
    return gains - losses + error * (gains + losses)


def counts_of(pair: Pair, others: Sequence[int]) -> tuple[Floats, Floats]:
    """Return the laws of the counts of all classes beside `others`, so many of which hold each value."""
    law = np.ones((1,) * (len(pair.first) - 1))
    for value, number in enumerate(others):
        for _ in range(number):
            law = _with_one(law, pair.values[value])
    return _with_one(law, pair.first), _with_one(law, pair.second)


def _laws_of_counts(values: Floats, others: int) -> Iterator[Floats]:
    """Return the law of the counts of each class but the last, for every number of others who hold each value."""

    def added(law: Floats, first: int, left: int) -> Iterator[Floats]:
        if first == len(values) - 1:
            for _ in range(left):
                law = _with_one(law, values[first])
            yield law
            return
        for here in range(left + 1):
            yield from added(law, first + 1, left - here)
            law = _with_one(law, values[first]) if here < left else law

    yield from added(np.ones((1,) * (values.shape[1] - 1)), 0, others)


def _with_one(law: Floats, report: Floats) -> Floats:
    """Return the law of the counts with one report more."""
    longer = np.zeros([size + 1 for size in law.shape])
    for outcome, chance in enumerate(report):
        longer[tuple(slice(outcome == axis, size + (outcome == axis)) for axis, size in enumerate(law.shape))] += (
            chance * law
        )
    return longer
