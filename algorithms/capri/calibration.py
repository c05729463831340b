"""Noise multipliers of CAPRI: five calibrations for (epsilon, delta), from the printed one to the tight one."""

import math

from algorithms.capri.schedule import completed
from dpaudit import Claim
from mechanisms import Gaussian

CALIBRATIONS = ("paper", "classic_epoch", "classic_parallel", "analytic_seq", "analytic_parallel", "tight")
"""The calibrations by name; `tight` is another word for `analytic_parallel`."""


def noise_multiplier(calibration: str, *, epsilon: float, delta: float, horizon: int) -> float:
    """Return the noise of one release over its sensitivity, which has no unit.

    With L = ln(horizon) slots and n completed epochs:

        paper               (2 L / epsilon) sqrt(ln(1.25 L / delta)), Eq. (5)
        classic_epoch       sqrt(2 ln(1.25 L / delta)) L / epsilon, the textbook constant in each of L slots
        classic_parallel    sqrt(2 ln(1.25 / delta)) / epsilon, as a user is in one epoch only
        analytic_seq        sqrt(n) times the exact multiplier, as if a user were in every epoch
        analytic_parallel   the exact multiplier for one release

    Raises: ValueError: the two classic formulas above epsilon = 1 a release, where their theorem stops.
    Source: Dwork and Roth (2014), Theorem A.1; Balle and Wang (2018), Theorem 8.
    """
    slots = math.log(horizon)
    match calibration:
        case "paper":
            return 2 * slots / epsilon * math.sqrt(math.log(1.25 * slots / delta))
        case "classic_epoch":
            _require_classic(calibration, epsilon, limit=slots)
            return slots / epsilon * math.sqrt(2 * math.log(1.25 * slots / delta))
        case "classic_parallel":
            _require_classic(calibration, epsilon, limit=1.0)
            return math.sqrt(2 * math.log(1.25 / delta)) / epsilon
        case "analytic_seq":
            return math.sqrt(completed(horizon)) * _exact(epsilon, delta)
        case _:
            return _exact(epsilon, delta)


def _require_classic(calibration: str, epsilon: float, limit: float) -> None:
    """Refuse the classic formula where its theorem does not hold."""
    if epsilon >= limit:
        raise ValueError(
            f"Expected epsilon={epsilon!r} below {limit:g} for calibration={calibration!r}: the classic formula "
            "is proved below 1 a release only. Use calibration='tight', which holds for every epsilon."
        )


def _exact(epsilon: float, delta: float) -> float:
    """Return the smallest multiplier for which one Gaussian release is (epsilon, delta)-private."""
    claim = Claim(epsilon=epsilon, delta=delta, neighbours="replace_one")
    return float(Gaussian.calibrated(claim, l2_sensitivity=1.0).noise_multiplier)
