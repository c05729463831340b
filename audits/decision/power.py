"""Power of an audit: the violations it can detect, before and after it runs."""

import math
from collections.abc import Callable

from scipy.special import betaincinv, ndtri

from audits.bounds.binomial import tail
from audits.bounds.bisection import least_count
from audits.bounds.gaussian import gaussian_epsilon
from audits.bounds.guessing import critical_correct, log_odds
from dpaudit import Counts, LowerBound, Power
from dpaudit.checks import count, open_probability, positive, probability_below_one

Bound = Callable[[Counts, float, float], LowerBound]
"""bound(counts, delta, significance)"""

POWER = 0.9
_MOST_RUNS = 10**12


def perfect_counts(runs: int) -> Counts:
    """Return the counts of an attack that is always right in `runs` runs."""
    half = runs // 2
    return Counts(
        runs=runs,
        guesses=runs,
        correct=runs,
        true_positives=runs - half,
        false_positives=0,
        positives=runs - half,
        negatives=half,
    )


def ceiling(bound: Bound, runs: int, delta: float, significance: float) -> float:
    """Return the largest epsilon that `bound` can show with `runs` runs, whatever the attack.

    >>> from audits.bounds.guessing import guessing_bound
    >>> round(ceiling(guessing_bound, 2000, 0.0, 0.05), 2)
    6.5
    """
    return bound(perfect_counts(count("runs", runs)), delta, significance).epsilon


def guessing_power(
    guesses: int, runs: int, epsilon: float, delta: float, significance: float, probability: float = POWER
) -> Power:
    """Return the smallest true loss whose violation of `epsilon` the guessing bound would have shown.

    Guarantee: for outputs on which the attack guesses as often as here and the loss is extreme wherever it
    guesses; an attack that guesses on weaker evidence sees less. Infinite if no count would do.
    """
    needed = critical_correct(guesses, runs, epsilon, delta, significance)
    if needed > guesses:
        return Power(epsilon=math.inf, probability=probability)
    share = float(betaincinv(max(needed, 1e-12), guesses - needed + 1, probability))
    return Power(epsilon=max(epsilon, log_odds(share)), probability=probability)


def gaussian_power(
    runs: int, bound: Bound, epsilon: float, delta: float, significance: float, probability: float = POWER
) -> Power:
    """Return the smallest true epsilon, of a Gaussian loss, that the accuracy bound would have shown.

    Edge cases: infinite if not even a perfect attack would show more than `epsilon`.
    """
    needed = least_count(
        lambda right: bound(_accuracy_counts(right, runs), delta, significance).epsilon > epsilon, -1, runs + 1
    )
    if needed > runs:
        return Power(epsilon=math.inf, probability=probability)
    share = float(betaincinv(max(needed, 1e-12), runs - needed + 1, probability))
    return Power(epsilon=max(epsilon, gaussian_epsilon(2 * float(ndtri(share)), delta)), probability=probability)


def runs_needed(
    epsilon: float,
    true_epsilon: float,
    *,
    guess_rate: float = 0.5,
    delta: float = 0.0,
    significance: float = 0.05,
    probability: float = POWER,
) -> int:
    """Return how many runs show a loss above `epsilon` with `probability` when `true_epsilon` is true.

    `guess_rate` is the share of runs on which the loss is extreme and the attack guesses.
    Raises: ValueError: true_epsilon <= epsilon, which no number of runs can show.

    >>> runs_needed(1.0, 2.0, guess_rate=0.6)
    106
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


def _accuracy_counts(right: int, runs: int) -> Counts:
    """Return counts of a threshold test that is right `right` times in `runs`."""
    return Counts(
        runs=runs,
        guesses=runs,
        correct=right,
        true_positives=right,
        false_positives=0,
        positives=runs,
        negatives=0,
    )


def wealth_power(
    guesses: int, runs: int, epsilon: float, delta: float, significance: float, probability: float = POWER
) -> Power:
    """Return the smallest true loss at which an e-process would have refuted `epsilon` in so many runs.

    A normal approximation to the log wealth after the last run, for stakes that are optimal for the loss and placed on
    `guesses` of the runs. Crossing the boundary earlier only adds to the power.
    """
    target, quantile = -math.log(significance), float(ndtri(probability))
    price = runs * math.log1p(delta * math.exp(-epsilon))

    def shows(loss: float) -> bool:
        share, known = 1 / (1 + math.exp(-loss)), 1 / (1 + math.exp(-epsilon))
        right, wrong = math.log(share / known), math.log1p(-share) - math.log1p(-known)
        mean = share * right + (1 - share) * wrong
        deviation = (right - wrong) * math.sqrt(share * (1 - share) * guesses)
        return guesses * mean - quantile * deviation - price >= target

    high = epsilon + 1e-6
    while not shows(high):
        high += max(0.05, 0.02 * high)
        if high > epsilon + 30:
            return Power(epsilon=math.inf, probability=probability)
    return Power(epsilon=high, probability=probability)
