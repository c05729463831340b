"""Compares a stated end with the proved bracket of the checker: confirmed, contradicted, or neither.

An end on its safe side of the whole bracket is proved. One on the other side is contradicted where some pair attains
the curve. Where none is known to, the end may come from a sharper proof than that of the checker: it stays open. An end
inside the bracket is confirmed where the bracket is narrow, and stays open where it is wide. An end that is proved and
lies further from the bracket than the tolerance is not what the declaration gives: unconfirmed where sharp bounds are
known, and told otherwise.
"""

import math
from typing import NamedTuple

from dpaudit.verifier.curve import Worst
from dpaudit.verifier.refusals import Table

# Relative: how far a stated end may lie on its safe side, of curves in closed form, of sums on a lattice, and of losses
# made of others before it is told; and the most that an end may lie inside a bracket of delta, where those are less.
_CLOSED, _SUMMED, _DERIVED, _WIDE, _EXACT = 1e-9, 1e-3, 1e-2, 1e-2, 1e-12
_ROUNDED = 1e-8  # relative: what rare parts of losses made of others are rounded up by
_FURTHEST = 1e4  # nats: beyond, no effort puts losses on a lattice
_COARSE = 5e-2  # the same of choices and of sums of many kinds, which engines know less closely
# No delta below `SMALL` is compared, and none below `_RARE` of sums and of listed outcomes; below `BLUNT` only closed
# forms are known to be sharp. Of losses made of others a delta below `_TRIFLE` times the claimed one need only be true.
SMALL, BLUNT, _TRIFLE, _RARE = 1e-302, 1e-20, 1e-6, 1e-100

_OTHER = {"upper": "what a pair attains", "lower": "what is proved from above"}
LEFT_OPEN = "the declared releases break the claim, and the certificate leaves it open"
"""What is unconfirmed where a pair attains clearly more than is claimed, and the verdict is another one."""


class Outcome(NamedTuple):
    """What contradicts a certificate, what is neither confirmed nor contradicted, and which ends are true but loose.

    `sharper` is the part of what is unconfirmed that lies below a curve of this checker which no known pair attains.
    """

    wrong: tuple[str, ...] = ()
    unconfirmed: tuple[str, ...] = ()
    loose: tuple[str, ...] = ()
    sharper: tuple[str, ...] = ()

    def joined(self, other: "Outcome") -> "Outcome":
        """Return both outcomes as one."""
        return Outcome(*(mine + others for mine, others in zip(self, other, strict=True)))


def small_delta(curve: Worst, claimed: float) -> float:
    """Return the delta below which an end need only not be contradicted."""
    floor = SMALL if curve.closed and not curve.listed else _RARE
    return max(floor, _TRIFLE * claimed) if curve.derived else floor


def tolerance(curve: Worst) -> float:
    """Return how far an end may lie on its safe side, beside the width of the checker's bracket."""
    if curve.derived:
        return _DERIVED
    return _COARSE if curve.coarse else _CLOSED if curve.closed else _SUMMED


def compared(side: str, data: Table, ends: Table, curve: Worst, other: Worst, digits: float = 0.0) -> Outcome:
    """Ask the curve at the stated ends of delta and epsilon, rounded to so many digits where they are assumed.

    What contradicts an end is the curve from the `other` side: upper ends, what pairs attain; lower ones, what is
    proved from above. No room in the bracket of `curve` makes up for that.
    A quick effort is sharp in closed form alone, and no effort is of losses made of others or of what is assumed.
    """
    claim, loose = data["claim"], max(tolerance(curve), digits)
    sharp = not curve.derived and not digits and (curve.closed or data["effort"] != "quick")
    sharp &= (curve.closed or claim["epsilon"] < _FURTHEST) and not (curve.chosen and side == "lower")
    delta, epsilon = (float(ends[name][side]) for name in ("delta", "epsilon"))
    outcome = _delta(side, delta, claim, curve, loose, sharp=sharp)
    outcome = outcome.joined(_epsilon(side, epsilon, float(claim["delta"]), curve, loose, sharp=sharp))
    if other is curve:
        return outcome
    if _contradicted(side, delta, epsilon, claim, other):
        told = f"the {side} ends lie on the wrong side of {_OTHER[side]}"
        return outcome.joined(Outcome(() if outcome.wrong else (told,)))
    if not outcome.wrong or side == "lower":
        return outcome
    sharper = tuple(f"{told}, which no known pair attains" for told in outcome.wrong)
    return Outcome((), (*outcome.unconfirmed, *sharper), outcome.loose, sharper)


def upper_epsilon(epsilon: float, claim: Table, curve: Worst) -> Outcome:
    """Compare a stated upper end of epsilon at the claimed delta, to the tolerance of losses made of others."""
    if epsilon == math.inf or not _exceeds(curve, epsilon * (1 + _DERIVED), float(claim["delta"]), 0)[1]:
        return Outcome()
    return _epsilon("upper", epsilon, float(claim["delta"]), curve, tolerance(curve), sharp=False)


def _contradicted(side: str, delta: float, epsilon: float, claim: Table, other: Worst) -> bool:
    """Return whether some pair has a larger delta or epsilon than upper ends say, or no pair has one of lower ends."""
    low, high = other.delta(claim["epsilon"])
    rounded = _ROUNDED * other.derived
    if side == "upper":
        over = epsilon < math.inf and _exceeds(other, epsilon * (1 + _EXACT), float(claim["delta"]), 0)[0]
        return over or delta < low * (1 - rounded)
    under = _EXACT < epsilon < math.inf and not _exceeds(other, epsilon * (1 - _EXACT), float(claim["delta"]), 0)[1]
    return under or delta > high * (1 + rounded)


def _delta(side: str, delta: float, claim: Table, curve: Worst, loose: float, *, sharp: bool) -> Outcome:
    """Compare a stated end of delta at the claimed epsilon."""
    low, high = curve.delta(claim["epsilon"])
    nearly = 1 - min(max(loose, _SUMMED), _WIDE)
    room = (small := small_delta(curve, float(claim["delta"]))) + high - low
    if side == "upper":  # next to the largest loss delta is steep, so that an epsilon near is asked, too
        true, proved = delta >= low * (1 - _ROUNDED * curve.derived), delta >= high * nearly
        near = delta <= high * (1 + loose) + room or delta <= curve.delta(claim["epsilon"] * (1 - loose))[1]
    else:
        true, proved = delta <= high, delta * nearly <= low
        near = delta >= low * (1 - loose) - room or delta >= curve.delta(claim["epsilon"] * (1 + loose))[0]
    stated, lies = f"the {side} bound on delta, {delta:.9g}", f"this checker's bracket [{low:.9g}, {high:.9g}]"
    if not true:
        return Outcome((f"{stated}, is on the wrong side of {lies}",))
    if not near:
        return _far(f"{stated}, is far from {lies}", sharp=sharp and (high >= BLUNT or curve.closed))
    compared_at_all = high > small or (side == "upper" and not delta)  # a delta of 0 is met from the largest loss on
    proved = proved or not compared_at_all or claim["epsilon"] >= curve.largest * (1 - _EXACT)
    return Outcome((), () if proved else (f"{stated}, is not confirmed by {lies}",))


def _far(told: str, *, sharp: bool) -> Outcome:
    """Return a loose end, which is true: unconfirmed where bounds are known to be sharp."""
    return Outcome((), (told,)) if sharp else Outcome(loose=(told,))


def _epsilon(side: str, epsilon: float, delta: float, curve: Worst, loose: float, *, sharp: bool) -> Outcome:
    """Compare a stated end of epsilon, at which delta falls to the claimed one."""
    stated, upper = f"the {side} bound on epsilon, {epsilon:.9g},", side == "upper"
    blunt = 0 < delta < small_delta(curve, 0.0) or 0 < abs(delta - curve.lost) <= _EXACT * curve.lost
    if epsilon == math.inf:
        free = upper and (blunt or not sharp)
        if free or (curve.never(delta) if upper else curve.surely_never(delta)):
            return Outcome()
        told = f"{stated} is too large"
        return Outcome((), (told,)) if upper else Outcome((told,))
    nearly = 1 - min(max(loose, _SUMMED), _WIDE)
    asked = epsilon * (1 + _EXACT) if upper else epsilon * (1 - _EXACT)
    low, high = curve.delta(asked)
    surely, maybe = _exceeds(curve, asked, delta, 0)
    if upper:
        wrong, proved = surely, not maybe or high * nearly <= delta
        far = epsilon > _EXACT and not _exceeds(curve, epsilon * (1 - loose), delta, 1)[1]
    else:
        wrong = epsilon > 0 and not maybe
        proved = epsilon <= _EXACT or surely or low >= delta * nearly > 0
        far = _exceeds(curve, epsilon * (1 + loose) + _EXACT, delta, 1)[0]
    there = f"this checker's bracket of delta there is [{low:.6g}, {high:.6g}]"
    told = f"{stated} is {'too small' if wrong == upper else 'too large'}: {there}"
    if wrong:
        return Outcome((told,))
    if far and not blunt:
        return _far(told, sharp=sharp and (delta >= BLUNT or curve.closed))
    return Outcome((), () if proved or blunt else (f"{stated} is not confirmed: {there}",))


def _exceeds(curve: Worst, epsilon: float, delta: float, room: int) -> tuple[bool, bool]:
    """Return whether delta is surely above the claimed one at an epsilon, and whether it may be, by a bracket's width.

    A claimed delta of 0 is met from the largest loss on, which is known in closed form, and attained but by losses that
    are made of others.
    """
    low, high = curve.delta(epsilon)
    if not delta and curve.largest < math.inf:
        below = epsilon < curve.largest * (1 - _EXACT / 2)
        return below and (low > 0 or not curve.derived or epsilon < curve.reached * (1 - _EXACT / 2)), below
    return low - room * (high - low) > delta, high + room * (high - low) > delta
