"""Earned power: what an audit would have caught, measured by repeating the whole audit on controls."""

import math
from collections.abc import Callable

import numpy as np

from audits.bounds.guessing import guessing_bound
from audits.decision.controls import Control
from audits.decision.power import ceiling
from dpaudit import AuditCase, Claim, Power

Accuses = Callable[[AuditCase, int, np.random.Generator], bool]
"""accuses(case, runs, rng) -> whether the audit with so many runs finds a violation in `case`."""

CAUGHT, ERROR = 0.9, 0.1

FIXED_TRIES, ANYTIME_TRIES = (36, 1), (1,)
"""What the audit's runs are divided by in the tries on one control; an anytime audit stops early by itself."""

_REPETITIONS = {1: 29, 2: 36}
"""Repetitions by tries: 0.9^29 < 0.05 for each of two controls, 0.9^36 < 0.023 for each of four tries."""

_LEAST_FACTOR, _MOST_FACTOR, _USUAL = 4, 40, 100_000
_LEAST_RUNS = 4


def nothing_earned(repetitions: int = 0) -> Power:
    """Return the power of an audit that earned none."""
    return Power(epsilon=math.inf, probability=0.0, error=0.0, kind="none", repetitions=repetitions)


def usual_control_runs(runs: int) -> int:
    """Return the most runs that one control may take by default: 40 times the audit's up to 100,000, 4 times above."""
    return max(_LEAST_FACTOR * runs, min(_MOST_FACTOR * runs, _USUAL))


def measured_power(
    controls: tuple[Control, ...],
    accuses: Accuses,
    claim: Claim,
    *,
    runs: int,
    significance: float,
    most: int,
    tries: tuple[int, ...],
    rng: np.random.Generator,
) -> Power:
    """Return the power of the first control that all repetitions of the audit accuse.

    The controls are tried in their order, each with the audit's runs divided by each of `tries`, the fewest first, and
    at most with as many as `most` allows. A try with fewer runs than the audit takes for granted that more catch no
    less often. Does not advance `rng`; spawns child generators.
    Guarantee: a `probability` above the true one is stated with probability at most `ERROR`, under that assumption.
    """
    repetitions = _REPETITIONS[len(tries)]
    tried = False
    for control in controls:
        cost = control.factor if control.kind == "repeated_runs" else 1
        affordable = most // (repetitions * cost)
        for size in sorted({min(runs // share, affordable) for share in tries}):
            if size < _LEAST_RUNS or ceiling(guessing_bound, size, claim.delta, significance) <= claim.epsilon:
                continue
            tried = True
            if all(accuses(control.case, size, rng.spawn(1)[0]) for _ in range(repetitions)):
                epsilon = control.factor * claim.epsilon
                return Power(
                    epsilon=epsilon, probability=CAUGHT, error=ERROR, kind=control.kind, repetitions=repetitions
                )
    return nothing_earned(repetitions if tried else 0)
