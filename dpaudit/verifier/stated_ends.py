"""Compares a stated end with the proved bracket of the checker: confirmed, contradicted, or neither.

An end on its safe side of the whole bracket is proved. One on the other side of the whole bracket is contradicted. One
inside is confirmed where the bracket is narrow, and stays open where it is wide.
"""

import math
from typing import NamedTuple

from dpaudit.verifier.curve import Worst
from dpaudit.verifier.losses import Table

# Relative: how far a stated end may lie on its safe side, and how wide a bracket may be that confirms. A delta below
# `SMALL` need not be sharp, only true; of losses made of others, one below `_TRIFLE` times the claimed delta.
_LOOSE, _WIDE, SMALL, _TRIFLE = 0.05, 0.02, 1e-32, 1e-6


class Outcome(NamedTuple):
    """What contradicts a certificate, and what is neither confirmed nor contradicted."""

    wrong: list[str]
    unconfirmed: list[str]

    def joined(self, other: "Outcome") -> "Outcome":
        """Return both outcomes as one."""
        return Outcome(self.wrong + other.wrong, self.unconfirmed + other.unconfirmed)


def small_delta(curve: Worst, claimed: float) -> float:
    """Return the delta below which an end need only not be contradicted."""
    return max(SMALL, _TRIFLE * claimed) if curve.derived else SMALL


def compared(side: str, claim: Table, ends: Table, curve: Worst) -> Outcome:
    """Ask the curve at the stated ends of delta and epsilon.

    Losses made of others have no sharp engine for every epsilon: of those, ends that are true may be loose.
    """
    delta, epsilon = (float(ends[name][side]) for name in ("delta", "epsilon"))
    return _delta(side, delta, claim, curve).joined(_epsilon(side, epsilon, float(claim["delta"]), curve))


def _delta(side: str, delta: float, claim: Table, curve: Worst) -> Outcome:
    """Compare a stated end of delta at the claimed epsilon."""
    low, high = curve.delta(claim["epsilon"])
    if side == "upper":
        true, proved, near = delta >= low, delta >= high * (1 - _WIDE), delta <= high * (1 + _LOOSE) + SMALL
    else:
        true, proved, near = delta <= high, delta * (1 - _WIDE) <= low, delta >= low * (1 - _LOOSE) - SMALL
    stated, lies = f"the {side} bound on delta, {delta:.9g}", f"delta, which lies in [{low:.9g}, {high:.9g}]"
    if not true:
        return Outcome([f"{stated}, is contradicted by {lies}"], [])
    if not near and not curve.derived:
        return Outcome([f"{stated}, is far from {lies}"], [])
    known = proved or high <= small_delta(curve, float(claim["delta"]))
    return Outcome([], [] if known else [f"{stated}, is not confirmed by this checker's bracket of {lies}"])


def _epsilon(side: str, epsilon: float, delta: float, curve: Worst) -> Outcome:
    """Compare a stated end of epsilon, at which delta falls to the claimed one."""
    stated = f"the {side} bound on epsilon, {epsilon:.9g},"
    large, small = Outcome([f"{stated} is too large"], []), Outcome([f"{stated} is too small"], [])
    blunt = 0 < delta < SMALL
    if epsilon == math.inf:
        free = side == "upper" and (blunt or curve.derived)
        return Outcome([], []) if free or curve.never(delta) else large
    if side == "upper":
        low, high = curve.delta(epsilon)
        wrong, proved = low > delta, high * (1 - _WIDE) <= delta
        far = not blunt and epsilon > 1e-12 and curve.delta(epsilon * (1 - _LOOSE))[1] <= delta
        if wrong or (far and not curve.derived):
            return small if wrong else large
    else:
        low, high = curve.delta(epsilon * (1 - 1e-12))
        wrong, proved = epsilon > 1e-12 and high <= delta, epsilon <= 1e-12 or low >= delta * (1 - _WIDE)
        far = not blunt and curve.delta(epsilon * (1 + _LOOSE) + 1e-12)[0] > delta
        if wrong or (far and not curve.derived):
            return large if wrong else small
    known = proved or blunt
    told = f"{stated} is not confirmed: this checker's bracket of delta there is [{low:.6g}, {high:.6g}]"
    return Outcome([], [] if known else [told])
