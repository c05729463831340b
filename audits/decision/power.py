"""The reach of an audit before it runs: the most it can show, the runs that it needs, the leaks that it cannot see."""

import math
from collections.abc import Callable

from audits.bounds.binomial import tail
from audits.bounds.bisection import least_count
from audits.bounds.error_rates import perfect_counts
from audits.bounds.guessing import critical_correct
from dpaudit.checks import count, open_probability, positive, probability_below_one
from dpaudit.model.audit_result import Counts, LowerBound

Bound = Callable[[Counts, float, float], LowerBound]
"""bound(counts, delta, significance)"""

POWER = 0.9
_MOST_RUNS = 10**12


def ceiling(bound: Bound, runs: int, delta: float, significance: float) -> float:
    """Return the largest epsilon that `bound` can show with `runs` runs, whatever the attack.

    >>> from audits.bounds.guessing import guessing_bound
    >>> round(ceiling(guessing_bound, 2000, 0.0, 0.05), 2)
    6.5
    """
    return bound(perfect_counts(count("runs", runs)), delta, significance).epsilon


def runs_needed(
    epsilon: float,
    true_epsilon: float,
    *,
    guess_rate: float = 0.5,
    delta: float = 0.0,
    significance: float = 0.01,
    probability: float = POWER,
) -> int:
    """Return how many runs show a loss above `epsilon` with `probability` when `true_epsilon` is true.

    `guess_rate` is the share of runs on which the loss is extreme and the attack guesses.
    Raises: ValueError: true_epsilon <= epsilon, which no number of runs can show.

    >>> runs_needed(1.0, 2.0, guess_rate=0.6)
    163
    """
    open_probability("significance", significance)
    probability_below_one("delta", delta)
    positive("guess_rate", guess_rate)
    if true_epsilon <= epsilon:
        raise ValueError(f"Expected true_epsilon={true_epsilon} above epsilon={epsilon}: there is nothing to show.")
    share = 1 / (1 + math.exp(-true_epsilon))

    def shows(runs: int) -> bool:
        guesses = round(guess_rate * runs)
        needed = critical_correct(guesses, runs, epsilon, delta, significance)
        return float(tail(needed, guesses, share)) >= probability

    high = 1
    while not shows(high) and high < _MOST_RUNS:
        high *= 2
    return least_count(shows, high // 2, high)


def blind_delta(runs: int, significance: float) -> float:
    """Return the probability of a leak at which `runs` runs contain none with probability `significance`.

    No audit can detect leaks that are rarer: ln(1 / significance) / runs.

    >>> round(blind_delta(20_000, 0.05), 6)
    0.00015
    """
    return min(1.0, -math.log(significance) / count("runs", runs))
