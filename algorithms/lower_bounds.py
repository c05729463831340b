"""Lower bounds on regret: what every private method loses on the worst instance of a family.

The family has a base, where option 1 is the best, and for every other option i an instance in which option i is better
by as much again; two of them differ only where option i is shown. A method that shows option i rarely in the base must
do so in instance i too, as privacy lets few answers change its choices by little only. So it loses either in the base,
by looking, or in an instance, by not looking. Every number is rounded down.

Let an answer that would lose in the base win in instance i with probability at most `moved`. If option i meets others
at most k times in a sequence of choices, the sequence has in instance i at least psi^k times its probability in the
base, psi = 1 - moved (1 - e^-epsilon).
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from dpaudit.model.mechanism import Array

_MOST_LOOKS = 4096
"""So many numbers of looks are tried one by one; beyond it a grid, as every number of looks gives a bound."""

_BELOW = 1e-12
"""What rounding may take, as a share: a bound is accepted only if it holds for a value larger by this share."""

_SINGULAR, _ROUNDED = 1e9, 1e-6
"""A condition number beyond which an inverse is not trusted, and what its rounding takes off a gap, as a share."""

_SHARES = (0.2, 0.4, 0.6, 0.8, 1.0)
"""Gaps that are tried, as shares of the largest one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Privacy:
    """What the choices of a method are known to keep: `epsilon` in nats, `delta`, and whether each answer is noisy."""

    epsilon: float
    delta: float = 0.0
    local: bool = False

    @property
    def contraction(self) -> float:
        """What is left of the divergence of an answer: tanh(epsilon / 2)^2 of pure local privacy, else all of it."""
        return math.tanh(self.epsilon / 2) ** 2 if self.local and self.delta == 0 else 1.0


def fewest_looks(others: int, rounds: float, moved: float, privacy: Privacy) -> float:
    """Return a bound r: the regret of the worst instance is at least r times what a wrong choice costs.

    r is the largest with r <= others * max over m of m (1 - psi^-(m-1) r / (rounds - m + 1)): in the base option i is
    shown m times or else instance i costs too much. With delta > 0, psi is e^-epsilon and delta (e^((m-1) epsilon) - 1)
    / (e^epsilon - 1) comes off the bracket; the guarantee must then hold for whoever asks adaptively.
    `others` is the number of instances besides the base, `rounds` how often a choice is made.
    Edge cases: 0 where rounds < 1 or others < 1.
    """
    if others < 1 or rounds < 1:
        return 0.0
    psi = 1 - moved * -math.expm1(-privacy.epsilon) if privacy.delta == 0 else math.exp(-privacy.epsilon)
    rate = -math.log(psi) if psi > 0 else math.inf

    def reached(regret: float) -> float:
        looks = _looks(rounds, regret, rate)
        grown = np.exp(np.where(looks > 1, np.minimum((looks - 1) * rate, 700.0) if rate < math.inf else 700.0, 0.0))
        bracket = 1 - grown * regret / (rounds - looks + 1)
        if privacy.delta > 0:
            # the sum of e^(j epsilon) over j < m - 1; epsilon may be 0 or very large
            lost = np.where(looks > 1, (grown - 1) / max(math.expm1(min(rate, 700.0)), 1e-300), 0.0)
            bracket = bracket - privacy.delta * (lost if rate > 0 else looks - 1)
        return float((others * looks * bracket).max())

    return _largest(reached, others * rounds)


def _looks(rounds: float, regret: float, rate: float) -> Array:
    """Return the numbers of looks m worth trying: the bracket is negative beyond the last."""
    room = math.log(max(rounds / max(regret, 1e-300), 1.0))
    most = rounds if rate == 0 else min(rounds, 1 + room / rate)
    largest = max(int(min(most, 2.0**53)), 1)
    if largest <= _MOST_LOOKS:
        return np.arange(1.0, largest + 1)
    return np.unique(np.floor(np.geomspace(1, largest, _MOST_LOOKS)))


def _largest(reached: Callable[[float], float], most: float) -> float:
    """Return a value r with r <= reached(r), close to the largest one; `reached` falls. 0 where there is none."""
    low, high = 0.0, most
    for _ in range(200):
        middle = (low + high) / 2
        if middle in (low, high):
            break
        low, high = (middle, high) if middle * (1 + _BELOW) <= reached(middle) * (1 - _BELOW) else (low, middle)
    return low


def fewest_looks_without_privacy(others: int, rounds: float, divergence: float) -> float:
    """Return the same bound for any method: the largest r with r <= others ln(rounds / (4 r)) / divergence.

    `divergence` is that of one answer, base from instance, in nats; times tanh(epsilon / 2)^2 for local privacy, as
    every local channel of a bit is a function of randomised response.
    Source: Bretagnolle and Huber's inequality.
    """
    if others < 1 or rounds < 1:
        return 0.0
    return _largest(lambda regret: others * math.log(rounds / (4 * max(regret, 1e-300))) / divergence, rounds / 4)


def bernoulli_divergence(p: float, q: float) -> float:
    """Return the divergence of two coins in nats."""
    return p * math.log(p / q) + (1 - p) * math.log((1 - p) / (1 - q))


@dataclass(frozen=True, slots=True, kw_only=True)
class Duels:
    """The family for duels: who wins how often, and what a place of a duel costs in each instance.

    `beats_base` is the probability with which option i beats option 1 in instance i, `beats_others` that against the
    others; in the base option 1 beats all others with `beats_base` and the others tie. `cost` is the least that a
    wrong option costs in one place of a duel.
    """

    beats_base: float
    beats_others: float
    cost: float

    @property
    def moved(self) -> float:
        """The largest share of lost answers that must turn into wins."""
        lost = self.beats_base  # in the base option i loses so often against option 1, and half of the others
        return max((2 * self.beats_base - 1) / lost, 2 * self.beats_others - 1)

    @property
    def divergence(self) -> float:
        """The largest divergence of one answer."""
        against_base = bernoulli_divergence(1 - self.beats_base, self.beats_base)
        return max(against_base, bernoulli_divergence(0.5, self.beats_others))


def preferences() -> Duels:
    """Return the family of tables in which the best option beats all others with 3/4.

    Source: Saha and Asi (2024), Theorem 2.
    """
    return Duels(beats_base=0.75, beats_others=0.75, cost=0.25)


def logistic_utilities(span: float = 1.0, *, in_utility: bool = False) -> Duels:
    """Return the family of utilities between 0 and `span`: option 1 has half of it, option i all of it.

    `in_utility` says that a wrong option costs utility, else preference.
    """
    half = span / 2
    share = 1 / (1 + math.exp(-half))
    return Duels(beats_base=share, beats_others=1 / (1 + math.exp(-span)), cost=half if in_utility else share - 0.5)


def duels_regret(family: Duels, arms: int, rounds: float, privacy: Privacy) -> float:
    """Return a lower bound on the regret of the worst of `arms` instances, both places of a duel added up.

    Source: Theorem 2 and Remarks 2 and 4 of Saha and Asi (2024), with constants.
    """
    without = fewest_looks_without_privacy(arms - 1, rounds, family.divergence * privacy.contraction)
    return family.cost * max(without, fewest_looks(arms - 1, 2 * rounds, family.moved, privacy))


def bandit_regret(
    options: int,
    rounds: float,
    privacy: Privacy,
    *,
    unit: float = 1.0,
    copies: int = 1,
    largest_gap: float = 0.25,
    gap: float | None = None,
) -> float:
    """Return a lower bound on the regret of the worst of `options` instances whose answers are coins.

    In the base option 1 wins with 1/2 + D, the others with 1/2, and in instance i option i with 1/2 + 2 D; a coin that
    shows 1 is worth `unit`. D is `gap`, else the best of those tried up to `largest_gap`; none is above 1/4. With
    `copies` there are so many public contexts, taken in turn, each with options of its own.
    The bound of central privacy holds for methods whose *whole* sequence of actions is private, as that of every method
    that acts by what it publishes. It stands in for the d / epsilon that joint privacy is known to cost.
    Edge cases: 0 of fewer than two options.
    """
    if options < 2 or rounds < copies:
        return 0.0
    if gap is None:
        gap = hardest_gap(options, rounds, privacy, copies=copies, largest_gap=largest_gap)
    return unit * gap * bandit_looks(options, rounds // copies, privacy, copies=copies, gap=gap)


def hardest_gap(options: int, rounds: float, privacy: Privacy, *, copies: int = 1, largest_gap: float = 0.25) -> float:
    """Return the gap D up to `largest_gap` at which the bound of `bandit_regret` is largest, of those tried."""
    each = rounds // copies
    answers = privacy.contraction * each / (options - 1)
    gaps = (*(share * largest_gap for share in _SHARES), _best_gap(answers, largest_gap))
    return max(gaps, key=lambda gap: gap * bandit_looks(options, each, privacy, copies=copies, gap=gap))


def bandit_looks(options: int, rounds: float, privacy: Privacy, *, copies: int, gap: float) -> float:
    """Return the larger of both bounds for one gap, in wrong choices; `rounds` are those of one context.

    By estimation: an option is shown at most rounds / (options - 1) times in the base, and an answer about it has the
    divergence -ln(1 - 16 D^2) / 2, times the contraction of local privacy; so rounds / 8 exp(-divergence).
    """
    by_privacy = fewest_looks(copies * (options - 1), rounds, 4 * gap, privacy)
    answers = privacy.contraction * rounds / (options - 1)
    apart = -0.5 * math.log1p(-16 * gap**2) if gap < 0.25 else math.inf
    return max(by_privacy, rounds / 8 * math.exp(-answers * apart) * (1 - _BELOW))


def _best_gap(answers: float, largest: float) -> float:
    """Return the D at which D (1 - 16 D^2)^(answers / 2) is largest."""
    return min(1 / math.sqrt(16 + 16 * answers), largest)


def largest_gap_in_ball(gram: Array, radius: float) -> float:
    """Return the largest D, at most 1/4, whose means 2 D e_1 + 4 D e_i have norm at most `radius` in a kernel's space.

    Shape: `gram` (K, K), the kernel at the options. The base may be any option; the best one counts.
    Edge cases: 0 where the kernel is singular, as then not every table of means is a function of the space.
    """
    if np.linalg.cond(gram) > _SINGULAR:
        return 0.0
    inverse = np.linalg.inv(gram)
    diagonal = np.diag(inverse)
    squares = 4 * diagonal[:, None] + 16 * inverse + 16 * diagonal[None, :]  # of e_j + 2 e_i, times 4
    np.fill_diagonal(squares, 4 * diagonal)
    return float(min(0.25, (1 - _ROUNDED) * radius / math.sqrt(squares.max(axis=1).min())))
