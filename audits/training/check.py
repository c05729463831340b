"""The result of one check of a training run, and its power as a factor of missing noise."""

import math
from collections.abc import Callable

from audits.bounds.bisection import bisected
from dpaudit.model.audit_result import AuditVerdict
from dpaudit.training.evidence import LoopCheck

_POWER = 0.9
_LEAST_FACTOR = 1e-3
_HALVINGS = 12


def concluded(name: str, sentence: str, *, wrong: bool, caught: float, epsilon_lower: float) -> LoopCheck:
    """Return a check that compared a bound with what is declared or claimed."""
    verdict = "violation" if wrong else quiet_verdict(caught)
    return LoopCheck(name=name, verdict=verdict, epsilon_lower=epsilon_lower, noise_caught=caught, sentence=sentence)


def without_result(name: str, sentence: str) -> LoopCheck:
    """Return a check that was not made, or says nothing."""
    return LoopCheck(name=name, verdict="inconclusive", epsilon_lower=0.0, noise_caught=0.0, sentence=sentence)


def quiet_verdict(caught: float) -> AuditVerdict:
    """Return the verdict where nothing was found: *consistent* only if missing noise would have been caught."""
    return "consistent" if caught else "inconclusive"


def largest_factor(power: Callable[[float], float]) -> float:
    """Return the largest factor below 1 at which missing noise is caught with power 0.9; 0 where there is none.

    `power(factor)` is the probability that the check accuses a run with `factor` times the declared noise.
    """

    def catches(log_factor: float) -> bool:
        return power(math.exp(log_factor)) >= _POWER

    lowest = math.log(_LEAST_FACTOR)
    return math.exp(bisected(catches, lowest, 0.0, _HALVINGS)[0]) if catches(lowest) else 0.0


def power_sentence(caught: float) -> str:
    """Return the power in words."""
    if not caught:
        return "Even a run with next to no noise would have passed: this says nothing."
    return f"Noise below {caught:.3g} times the declared would have been caught with probability {_POWER:g}."
