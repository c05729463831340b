"""The privacy blanket of shuffled reports: what each other user reports whatever the data, as noise for one report.

A report names one of two answers, or a third thing that tells nothing: under the first value of the user in question
the two have the probabilities p w and w, under the second w and p w. Whatever another user's value is, each of the two
has at least the probability w, and the third thing at least v; both values of the user in question make the third
thing c times as likely as v. With x = e^epsilon, n users, a, b and m of which report so from the blanket,

    delta <= E(a (p - x) + b (1 - p x) + m c (1 - x))_+ / n,    (a, b, m) multinomial of w, w, v and n trials.

Source: Balle, Bell, Gascon and Nissim (2019), Lemma 5.3. Two answers and nothing else: the law of the counts for every
number of others who hold the first one, for few users.
"""

import math
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.special import betainc, gammaln

from dpaudit.model.losses.binomial import binomial_pmf

Floats: TypeAlias = NDArray[np.float64]
_SPREAD, _MORE = 13.0, 60  # deviations of a count, and values more; beyond lies less than 1e-36
_PLACES = 48  # numbers of third reports; those between are split among two, which only adds noise to a convex function
_MOST_USERS = 10_000
_COUNTED = 300  # users whose every data set is counted out
_ROUNDED, _TINY = 1e-10, 1e-34  # relative: more than rounding makes of probabilities and tails; of what is not summed


@dataclass(frozen=True, slots=True, kw_only=True)
class Reports:
    """Shuffled reports of `users`: p = `ratio`, w = `least`, v = `others` and c = `gain`; `rest` is 1 - 2 w - v.

    `beside` has the probabilities of the two answers for one other value, which shows much where all others hold it.
    """

    users: int
    ratio: float
    least: float
    others: float
    rest: float
    gain: float
    beside: tuple[float, float]

    def heights(self, epsilons: Floats) -> Floats:
        """Return an upper bound on delta at each epsilon of 0 or more; 1 for many users.

        >>> four = responses(epsilon=1.0, users=5, categories=(4,))
        >>> 0.0795803699 <= float(four.heights(np.array([0.3]))[0]) <= 0.07986
        True
        """
        if self.users > _MOST_USERS:
            return np.ones(len(epsilons))
        if not self.others and self.users <= _COUNTED:
            return self._counted_out(np.exp(epsilons))
        either, third, weights = self._counts()
        low = max(0, int(either[0]) // 2 - _reach(int(either[-1]) / 4))
        firsts = np.arange(low, min(int(either[-1]), int(either[-1]) // 2 + _reach(int(either[-1]) / 4)) + 2)
        at_least = _tails(firsts, either)
        pulled = either[:, None] / 2 * _tails(firsts - 1, either - 1)
        rows = np.arange(len(either))[:, None]
        found = []
        for x in np.exp(epsilons):
            step = (self.ratio - 1) * (1 + x)
            base = either[:, None] * (1 - self.ratio * x) - third * self.gain * (x - 1)
            least = np.clip(np.floor(-base / step) + 1 - low, 0, len(firsts) - 1).astype(np.int64)
            gains, losses = step * pulled[rows, least], -base * at_least[rows, least]
            sums = np.maximum(gains - losses, 0.0) + _ROUNDED * (gains + np.abs(losses))
            found.append(float((weights * sums).sum()) / self.users)
        return np.minimum(1.0, np.array(found) * (1 + _ROUNDED) + _TINY * self.ratio)

    def _counts(self) -> tuple[NDArray[np.int64], Floats, Floats]:
        """Return numbers of users who name one of the two, places of third reports, and the weights of all pairs."""
        two = min(1.0, 2 * self.least)
        either = _window(self.users, two)
        if not self.others:
            return either, np.zeros(1), binomial_pmf(either, self.users, two)[:, None]
        third = _window(self.users, self.others)
        a, b = either[:, None], third[None, :]
        left = self.users - a - b
        logs = gammaln(self.users + 1) - gammaln(a + 1) - gammaln(b + 1) - gammaln(np.maximum(left, 0) + 1)
        logs += a * math.log(two) + b * math.log(self.others)
        logs += np.maximum(left, 0) * math.log(self.rest)
        law = np.exp(np.where(left >= 0, logs, -math.inf))
        places = np.unique(np.linspace(third[0], third[-1], min(_PLACES, len(third))))
        shares = np.array([np.interp(third, places, row) for row in np.eye(len(places))])
        return either, places, law @ shares.T

    def _counted_out(self, xs: Floats) -> Floats:
        """Return the largest delta of all numbers of others who hold the first answer; both orders are among them."""
        truth, others = self.ratio * self.least, self.users - 1
        heights = np.zeros(len(xs))
        for first in range(others + 1):
            counts = np.convolve(
                binomial_pmf(np.arange(first + 1), first, truth),
                binomial_pmf(np.arange(others - first + 1), others - first, self.least),
            )
            p, q = (np.convolve(counts, own) for own in ([self.least, truth], [truth, self.least]))
            gains = np.maximum(p * (1 + _ROUNDED) - xs[:, None] * q * (1 - _ROUNDED), 0.0)
            heights = np.maximum(heights, gains.sum(axis=1))
        return np.minimum(1.0, heights + _TINY)


def responses(*, epsilon: float, users: int, categories: tuple[int, ...]) -> Reports:
    """Return the reports of one k-ary response of `epsilon`, or of two binary ones of half of it that both change.

    The other value is a third category where there is one, else the second; of two responses it is the first.
    """
    p = math.exp(epsilon)
    if len(categories) == 2:
        half = math.exp(epsilon / 2)
        lie = 1 / (half + 1)
        rest = (half - 1) * lie * (1 + 2 * lie)
        return Reports(
            users=users, ratio=p, least=lie**2, others=2 * lie**2, rest=rest, gain=half, beside=(p * lie**2, lie**2)
        )
    (answers,) = categories
    lie = 1 / (p + answers - 1)
    others, rest = (answers - 2) * lie, math.expm1(epsilon) * lie
    beside = (lie, lie) if answers > 2 else (lie, p * lie)
    return Reports(users=users, ratio=p, least=lie, others=others, rest=rest, gain=1.0, beside=beside)


def _reach(variance: float) -> int:
    """Return how far a count may lie from its mean."""
    return math.ceil(_SPREAD * math.sqrt(variance)) + _MORE


def _window(trials: int, rate: float) -> NDArray[np.int64]:
    """Return the likely values of a binomial number."""
    reach = _reach(trials * rate * (1 - rate))
    return np.arange(max(0, math.floor(trials * rate) - reach), min(trials, math.ceil(trials * rate) + reach) + 1)


def _tails(firsts: NDArray[np.int64], coins: NDArray[np.int64]) -> Floats:
    """Return the chance of so many heads or more, for each number of fair coins (rows)."""
    m, t = np.maximum(coins, 0)[:, None], firsts[None, :]
    inside = (t >= 1) & (t <= m)
    tail = betainc(np.where(inside, t, 1.0), np.where(inside, m - t + 1, 1.0), 0.5)
    return np.asarray(np.where(inside, tail, np.where(t < 1, 1.0, 0.0)))
