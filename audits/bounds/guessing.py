"""The guessing bound: guess which neighbour ran, or abstain; count the right guesses.

A fair coin b picks the neighbour, the view is X ~ M(D_b), and a fixed rule guesses b or abstains. Under pure
epsilon-privacy each guess is right with probability at most q = 1 / (1 + e^-epsilon), whatever the rest of the
run looked like, so the right guesses among r are stochastically at most Bin(r, q): one exact binomial limit,
no union bound, and abstaining where the view says little is free.

For delta > 0 an (epsilon, delta)-private pair is a mixture: with probability 1 - delta a pair that is purely
epsilon-private, with probability delta anything at all (Kairouz, Oh and Viswanath 2015; Murtagh and Vadhan 2016,
Lemma 3.2). The runs of the second kind number K ~ Bin(N, delta), independently of the coins. Outside an event
of probability a_1 at most k of them happen; count those k as right guesses, and the others obey the pure bound:

    P(V >= v) <= P(K > k) + P(Bin(r - k, q) >= v - k),    with k fixed by N, delta and the significance alone.
"""

import numpy as np

from audits.bounds.binomial import proportion_lower, tail, tail_quantile
from audits.bounds.bisection import least_count
from dpaudit.model.audit_result import Counts, LowerBound
from dpaudit.model.mechanism import Array

_LEAK_SHARE = 0.1


def guessing_bound(counts: Counts, delta: float, significance: float) -> LowerBound:
    """Return the largest epsilon that so many right guesses refute.

    Guarantee: exact for independent runs and a rule fixed on other runs; no assumption on the mechanism.
    Edge cases: 0 without guesses, or when fewer than half are right.
    Source: Steinke, Nasr and Jagielski (2023), Theorem 3.1, for independent runs; see the module for delta > 0.

    >>> from audits.examples import COUNTS
    >>> round(guessing_bound(COUNTS, 0.0, 0.05).epsilon, 2)
    1.87
    """
    epsilon = float(guessing_epsilon(counts.correct, counts.guesses, counts.runs, delta, significance))
    return LowerBound(name="guessing", epsilon=epsilon, significance=significance)


def guessing_epsilon(
    correct: Array | float, guesses: Array | float, runs: int, delta: float, significance: float
) -> Array:
    """Return the bound for whole arrays of counts, as for `guessing_bound`.

    >>> float(guessing_epsilon(2000, 2000, 2000, 0.0, 0.05).round(2))
    6.5
    """
    leaks, level_left = leak_allowance(runs, delta, significance)
    trials = np.maximum(np.asarray(guesses, dtype=float) - leaks, 0)
    right = np.clip(np.asarray(correct, dtype=float) - leaks, 0, trials)
    share = np.minimum(proportion_lower(right, np.maximum(trials, right), level_left), 1 - 2.0**-53)
    epsilon: Array = np.log(np.maximum(share, 0.5) / (1 - np.maximum(share, 0.5)))
    return np.where(trials > 0, np.maximum(epsilon, 0.0), 0.0)


def leak_allowance(runs: int, delta: float, significance: float) -> tuple[int, float]:
    """Return how many right guesses are discounted as leaks of delta, and the significance that is left.

    At most a tenth of the significance covers the event of more leaks; what that event does not use is left.
    """
    if delta == 0:
        return 0, significance
    leaks = tail_quantile(runs, delta, _LEAK_SHARE * significance)
    return leaks, significance - float(tail(leaks + 1, runs, delta))


def critical_correct(guesses: int, runs: int, epsilon: float, delta: float, significance: float) -> int:
    """Return how many of `guesses` must be right before the bound exceeds `epsilon`; guesses + 1 if none is enough."""

    def exceeds(correct: int) -> bool:
        return float(guessing_epsilon(correct, guesses, runs, delta, significance)) > epsilon

    return least_count(exceeds, -1, guesses + 1)
