"""Earned power: what the attack of an audit would have caught, measured by its guesses on a control.

A control has few runs. Exact limits of the share of guesses and of the share of right ones among them bound the
probability that as many runs as an audit counts refute the claim on the control.
"""

import math

import numpy as np
from scipy.special import bdtrik

from audits.bounds.binomial import proportion_lower, tail
from audits.bounds.error_rates import threshold_counts
from audits.bounds.gaussian import gaussian_bound
from audits.bounds.guessing import leak_allowance
from dpaudit import Claim
from dpaudit.model.audit_result import Counts, Power
from dpaudit.model.mechanism import Array

CAUGHT, ERROR = 0.9, 0.1
"""The probability of an accusation that a control must show, and the probability that what it shows is wrong."""

_MOST, _SHARE, _SHARE_OF_MANY, _SHARE_OF_FEW = 2_000, 5, 20, 4
_FEWER_GUESSES, _GUESS_ERROR = 0.01, 0.2
_NUMBERS = 250


def nothing_earned(runs: int = 0) -> Power:
    """Return the power of an audit that earned none with `runs` runs of controls."""
    return Power(epsilon=math.inf, probability=0.0, error=0.0, kind="none", repetitions=runs)


def usual_control_runs(runs: int, *, alone: bool, less_noise: bool = False) -> int:
    """Return how many runs a control takes by default: those of the audit up to 2,000, or a twentieth if that is more.

    Of runs that are calls of their own (`alone`), a fifth of the audit's takes the place of as many. The code with
    `less_noise`, whose epsilon is known, is the strongest control: half the audit's up to 1,000, or a quarter.

    >>> usual_control_runs(2_000, alone=False), usual_control_runs(2_000, alone=True)
    (2000, 400)
    """
    if less_noise:
        return max(min(runs // 2, _MOST // 2), runs // _SHARE_OF_FEW)
    return max(min(runs // _SHARE if alone else runs, _MOST), runs // _SHARE_OF_MANY)


def would_refute(
    control: Counts, runs: int, claim: Claim, delta: float, significance: float, error: float, *, gaussian: bool = False
) -> bool:
    """Return whether the guesses counted on a control show that `runs` runs of it refute the claim.

    With `gaussian` the declared Gaussian bound may refute it as well, each bound at this `significance`.
    Guarantee: where the same attack on `runs` runs of the control refutes the claim with probability below `CAUGHT`,
    the answer is true with probability at most `error`. Source: Clopper and Pearson (1934) for the shares.
    """
    level = error / 2 if gaussian else error
    if control.runs == 0 or control.guesses == 0:
        return False
    guessed = float(proportion_lower(control.guesses, control.runs, _GUESS_ERROR * level))
    right = float(proportion_lower(control.correct, control.guesses, (1 - _GUESS_ERROR) * level))
    if _surely_refutes(runs, guessed, right, claim.epsilon, delta, significance):
        return True
    if not gaussian:
        return False
    hits = control.true_positives + control.negatives - control.false_positives
    accurate = _low(runs, float(proportion_lower(hits, control.runs, level)), 1 - CAUGHT)
    counts = threshold_counts(accurate, 0, runs, 0)
    return gaussian_bound(counts, delta, significance).epsilon > claim.epsilon


def _surely_refutes(runs: int, guessed: float, right: float, epsilon: float, delta: float, significance: float) -> bool:
    """Return whether the guessing bound exceeds `epsilon` with probability `CAUGHT` or more, by both shares.

    More guesses have more right ones and need more. So between two numbers of guesses, the right ones of the smaller
    number against the need of the larger one are a limit. The first pair of numbers is asked first, as it mostly fails.
    """
    least = max(1, _low(runs, guessed, _FEWER_GUESSES))
    numbers = np.unique(np.concatenate([np.geomspace(least, runs, _NUMBERS).astype(int), [least, runs]]))
    leaks, level_left = leak_allowance(runs, delta, significance)

    def caught(numbers: Array) -> float:
        trials = np.maximum(numbers - leaks, 1)
        needed = np.ceil(bdtrik(1 - level_left, trials, 1 / (1 + math.exp(-epsilon)))) + 1 + leaks
        right_ones = tail(needed[1:], numbers[:-1], right) if len(numbers) > 1 else tail(needed, numbers, right)
        return (1 - _FEWER_GUESSES) * float(right_ones.min())

    return caught(numbers[:2]) >= CAUGHT and caught(numbers) >= CAUGHT


def _low(runs: int, share: float, missed: float) -> int:
    """Return a count that Bin(runs, share) falls below with probability at most `missed`."""
    quantile = float(bdtrik(missed, runs, share)) if 0 < share < 1 else runs * share
    return int(np.floor(quantile)) if math.isfinite(quantile) and quantile > 0 else 0
