"""Bounds for one run with many canaries: a fair coin includes each, the attack guesses some, right guesses are counted.

Canaries share a run, so their leaks may be dependent. For delta > 0 only the expected number of leaked canaries is
known; the tail bound takes the worst distribution with that mean.
"""

import math
from collections.abc import Callable

import numpy as np
from scipy.special import ndtr, ndtri

from audits.bounds.binomial import proportion_lower, tail
from audits.bounds.bisection import bisected, largest_refuted, least_count
from audits.bounds.gaussian import gaussian_epsilon
from audits.bounds.one_run_trade_off import STEPS, one_run_mu
from dpaudit.checks import count
from dpaudit.model.audit_result import LowerBound

ORTHOGONAL = "the noise is Gaussian and each canary leaks by itself, so that guesses are right independently"
"""The assumption of the sharpest bound for one run, beyond a Gaussian claim."""

_TRIED = 60
_SIZES, _POWER, _HALVINGS = 16, 0.9, 20


def one_run_p_value(canaries: int, guesses: int, correct: int, epsilon: float, delta: float) -> float:
    """Return how likely so many right guesses are, at most, under (epsilon, delta)-privacy.

    With B ~ Bin(guesses, 1 / (1 + e^-epsilon)): P(B >= v) + 2 m delta max over i of P(v > B >= v - i) / i. The maximum
    is not further down than 12 deviations below B's mean: from there on only the divisor grows.
    Source: Steinke, Nasr and Jagielski (2023), Theorem 5.2.
    """
    probability = 1 / (1 + np.exp(-epsilon))
    beta = float(tail(correct, guesses, probability))
    if delta == 0 or correct == 0:
        return min(1.0, beta)
    typical = guesses * probability - 12 * np.sqrt(guesses * probability * (1 - probability)) - 12
    steps = np.arange(1, max(1, min(correct, correct - int(typical))) + 1)
    near = tail(correct - steps, guesses, probability) - beta
    return min(1.0, beta + 2 * canaries * delta * float((near / steps).max()))


def one_run_bound(canaries: int, guesses: int, correct: int, delta: float, significance: float) -> LowerBound:
    """Return the largest epsilon whose p-value is below `significance`.

    Guarantee: exact validity for canaries that are in or out by independent fair coins, with guesses fixed by the
    output alone. Tight only if canaries do not interfere with each other (Keinan-Shenfeld and Ligett 2025).
    Raises: ValueError: more guesses than canaries, or more right ones than guesses.

    >>> round(one_run_bound(1000, 100, 75, 1e-4, 0.05).epsilon, 3)
    0.673
    """
    _check(canaries, guesses, correct)
    epsilon = largest_refuted(
        lambda e: one_run_p_value(canaries, guesses, correct, e, delta) < significance, 20.0, STEPS
    )
    return LowerBound(name="one_run", epsilon=epsilon, significance=significance)


def one_run_orthogonal_bound(canaries: int, correct: int, delta: float, significance: float) -> LowerBound:
    """Return the epsilon at `delta` of the smallest mu that explains the right guesses, each canary by itself.

    Every canary is guessed. Guarantee: under its assumption guesses are right independently, each with probability at
    most Phi(mu / 2): one binomial limit, and every smaller mu is refuted. Without it, none: canaries that leak together
    are many guesses and one piece of evidence; `one_run_gaussian_bound` and `one_run_bound` hold for those.
    Source: Dong, Roth and Su (2022), Definition 2.6, canary by canary.

    >>> 4.0 < one_run_orthogonal_bound(10_000, 6_915, 1e-5, 0.05).epsilon < 4.37  # mu = 1 is 4.377
    True
    """
    _check(canaries, canaries, correct)
    accuracy = float(proportion_lower(correct, canaries, significance))
    mu = 2 * float(ndtri(min(max(accuracy, 0.5), 1 - 2.0**-53)))
    epsilon = gaussian_epsilon(max(0.0, mu), delta)
    return LowerBound(name="one_run_orthogonal", epsilon=epsilon, significance=significance, assumption=ORTHOGONAL)


def one_run_guesses(canaries: int, mu: float, significance: float) -> int:
    """Return how many guesses, the surest first, promise the largest Gaussian bound if the canaries' true loss is `mu`.

    To be fixed before the run. The optimum is far below all canaries: the surest guesses have the largest share of
    right ones; with too few guesses the sampling error dominates.

    >>> one_run_guesses(10_000, 1.0, 0.05) < 500
    True
    """
    count("canaries", canaries)
    sizes = np.unique(np.geomspace(10, canaries, _TRIED).astype(int)) if canaries > 10 else np.array([canaries])
    promised = []
    for guesses in sizes:
        right = _right_share(float(guesses) / canaries, mu)
        cautious = guesses * right - math.sqrt(guesses * right * (1 - right)) / 2
        promised.append(one_run_mu(canaries, int(guesses), int(cautious), significance))
    return int(sizes[int(np.argmax(promised))])


def sensitive_guesses(canaries: int, refutes: Callable[[int, int], bool]) -> int:
    """Return how many guesses, the surest first, catch the smallest Gaussian loss with probability .9.

    `refutes(guesses, right)` is the test; it may depend only on what is fixed before the run. If several numbers
    detect the same loss, or none detects a loss, the result is the largest number.

    >>> sensitive_guesses(1000, lambda guesses, right: one_run_p_value(1000, guesses, right, 1.0, 0.0) < 0.001) > 20
    True
    """
    sizes = np.unique(np.geomspace(min(10, canaries), canaries, _SIZES).astype(int))[::-1]
    least = [_least_mu(canaries, int(guesses), refutes) for guesses in sizes]
    return int(sizes[int(np.argmin(least))])


def _least_mu(canaries: int, guesses: int, refutes: Callable[[int, int], bool]) -> float:
    """Return the least mu at which so many of the surest guesses refute with probability .9; infinite if none does."""
    needed = least_count(lambda right: refutes(guesses, right), -1, guesses + 1)
    if needed > guesses:
        return math.inf

    def misses(mu: float) -> bool:
        return float(tail(needed, guesses, _right_share(guesses / canaries, mu))) < _POWER

    return bisected(misses, 0.0, 40.0, _HALVINGS)[1]


def _right_share(share: float, mu: float) -> float:
    """Return the share of right guesses among the surest `share` of the canaries, whose true loss is `mu`."""
    distance = _distance(share, mu)
    hits = float(ndtr(mu / 2 - distance))
    return hits / (hits + float(ndtr(-mu / 2 - distance)))


def _distance(share: float, mu: float) -> float:
    """Return how far from the middle the surest `share` of the canaries' Gaussian scores lie, by bisection."""
    return bisected(
        lambda distance: float(ndtr(mu / 2 - distance) + ndtr(-mu / 2 - distance)) > share, 0.0, 40.0 + mu, 60
    )[0]


def _check(canaries: int, guesses: int, correct: int) -> None:
    """Refuse inconsistent counts."""
    count("canaries", canaries)
    if not 0 <= correct <= guesses <= canaries:
        raise ValueError(f"Expected 0 <= correct={correct} <= guesses={guesses} <= canaries={canaries}.")
