"""Bounds for one run with many canaries against any declared trade-off, which may leak together.

Source: Mahloujifar, Melis and Chaudhuri (2025), Algorithm 1.
"""

import math

from audits.bounds.bisection import largest_refuted
from audits.bounds.gaussian import ASSUMPTION, gaussian_epsilon
from audits.bounds.trade_offs import GaussianTradeOff, PrivateTradeOff, TradeOff
from dpaudit.checks import count, open_probability
from dpaudit.model.audit_result import LowerBound

STEPS = 30
_STILL = 1e-13


def one_run_refutes(canaries: int, guesses: int, correct: int, trade_off: TradeOff, significance: float) -> bool:
    """Return whether so many right guesses refute that one run is within `trade_off`.

    Guarantee: false with probability at least 1 - `significance` for every algorithm within `trade_off`, for canaries
    that are in or out by independent fair coins and a number of guesses and a guessing rule that were fixed before
    the run. Guesses may follow the output; canaries may leak together.
    Raises: ValueError: more guesses than canaries, or more right ones than guesses.

    >>> one_run_refutes(1000, 200, 190, GaussianTradeOff(mu=0.9), 0.05)
    True
    """
    count("canaries", canaries)
    open_probability("significance", significance)
    if not 0 <= correct <= guesses <= canaries:
        raise ValueError(f"Expected 0 <= correct={correct} <= guesses={guesses} <= canaries={canaries}.")
    if correct == 0:
        return False
    right = significance * correct / canaries  # r and h of the source: right and wrong guesses beyond those seen
    wrong = significance * (guesses - correct) / canaries
    last = math.inf
    for i in range(correct - 1, -1, -1):
        raised = max(wrong, trade_off.inverse(right))
        step = i / (guesses - i) * (raised - wrong)
        right, wrong = min(1.0, right + step), raised
        if right + wrong > guesses / canaries:
            return True
        if step < last and step < _STILL * right:
            return False  # the steps to come are smaller still
        last = step
    return False


def one_run_trade_off_bound(canaries: int, guesses: int, correct: int, delta: float, significance: float) -> LowerBound:
    """Return the largest epsilon at `delta` that the right guesses of one run refute.

    Guarantee: as for `one_run_refutes`; no assumption on the mechanism.

    >>> round(one_run_trade_off_bound(1000, 100, 75, 1e-4, 0.05).epsilon, 5)
    0.68016
    """
    epsilon = largest_refuted(
        lambda e: one_run_refutes(canaries, guesses, correct, PrivateTradeOff.of(e, delta), significance), 20.0, STEPS
    )
    return LowerBound(name="one_run_trade_off", epsilon=epsilon, significance=significance)


def one_run_mu(canaries: int, guesses: int, correct: int, significance: float) -> float:
    """Return the largest mu whose Gaussian trade-off the right guesses of one run refute, or 0.

    >>> round(one_run_mu(500, 60, 55, 0.05), 5)
    0.61485
    """
    return largest_refuted(
        lambda mu: one_run_refutes(canaries, guesses, correct, GaussianTradeOff(mu=mu), significance), 12.0, STEPS
    )


def one_run_gaussian_bound(canaries: int, guesses: int, correct: int, delta: float, significance: float) -> LowerBound:
    """Return the epsilon at `delta` of `one_run_mu`; other claims than Gaussian rest on that assumption.

    >>> one_run_gaussian_bound(1000, 200, 190, 1e-5, 0.05).epsilon > 2
    True
    """
    epsilon = gaussian_epsilon(one_run_mu(canaries, guesses, correct, significance), delta)
    return LowerBound(name="one_run_gaussian", epsilon=epsilon, significance=significance, assumption=ASSUMPTION)
