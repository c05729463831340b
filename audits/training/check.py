"""The result of one check of a training run, and its power as a factor of missing noise."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from audits.bounds.bisection import bisected
from dpaudit.model.audit_result import AuditVerdict
from dpaudit.training.evidence import TrainingVerdict

_POWER = 0.9
_LEAST_FACTOR = 1e-3
_HALVINGS = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingCheck:
    """One check's verdict; `noise_caught` is the largest factor of missing noise that it would have caught, 0 if none.

    `epsilon_lower` and `epsilon` are the lower bound and the declared value, of one step or of the whole run. `rule` is
    the rule of the finding, empty where there is none. `gaussian_lower` is a lower bound on the same epsilon that
    assumes a Gaussian trade-off, and decides nothing. `assumption` says what `epsilon_lower` rests on, if anything.
    """

    name: str
    verdict: TrainingVerdict
    noise_caught: float
    sentence: str
    epsilon_lower: float = 0.0
    gaussian_lower: float = 0.0
    epsilon: float = 0.0
    rule: str = ""
    assumption: str = ""


def concluded(name: str, sentence: str, *, wrong: bool, caught: float, **bounds: Any) -> TrainingCheck:
    """Return a check that compared a bound with what is declared or claimed; `bounds` are its further fields."""
    verdict = "violation" if wrong else quiet_verdict(caught)
    rule = "DPA301" if wrong else ""
    return TrainingCheck(name=name, verdict=verdict, noise_caught=caught, sentence=sentence, rule=rule, **bounds)


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
