"""An algorithm with so much less noise that its epsilon is known: the control that shows what an audit would catch."""

import math
from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from typing import Any

from dpaudit.accounting.accountant import bracket_epsilon
from dpaudit.accounting.fold import fold
from dpaudit.errors import DPAuditError
from dpaudit.model.algorithm import Algorithm
from dpaudit.model.case import AuditCase
from dpaudit.model.claim import Claim
from dpaudit.model.condition import Condition

_TRIES = 12
_NEAR = 0.95
_INNER = 0.1


def case_with_less_noise(
    algorithm: Algorithm, problem: Any, number: int, claim: Claim, epsilon: float
) -> AuditCase | None:
    """Return case `number` of an algorithm with so much less noise that it has at most `epsilon` at the claim's delta.

    None where `with_less_noise` finds no such algorithm; its guarantee holds for what the case runs.
    """
    weaker = with_less_noise(algorithm, claim, epsilon)
    return None if weaker is None else weaker.cases(problem)[number]


def with_less_noise(algorithm: Algorithm, claim: Claim, epsilon: float) -> Algorithm | None:
    """Return the algorithm with so much less noise that it has at most `epsilon` at the claim's delta.

    The calibration is the algorithm's own: only its field `epsilon` changes, or `noise_multiplier` where the noise is
    stated by it. Its epsilon is at least 0.95 times `epsilon` where twelve tries find such a setting.
    Guarantee: the accountant proves `epsilon`. None where the algorithm has no such field or no value of it does.
    """
    settings: Any = algorithm
    names = {field.name for field in fields(settings)}
    stated = settings.noise_multiplier if "noise_multiplier" in names else None
    if stated is None and "epsilon" not in names:
        return None
    calibrated: Callable[..., Any] = replace
    name, power = ("epsilon", 1) if stated is None else ("noise_multiplier", -1)

    def tried(strength: float) -> _Tried | None:
        try:
            weaker = calibrated(settings, **{name: math.exp(power * strength)})
            conditions: tuple[Condition, ...] = getattr(weaker, "conditions", tuple)()
            upper = bracket_epsilon(fold(weaker.declaration(), claim.neighbours, conditions), claim.delta).upper
        except (DPAuditError, ValueError, OverflowError):
            return None
        return _Tried(weaker=weaker, strength=strength, upper=upper) if 0 < upper < math.inf else None

    strongest = _strongest(tried, power * math.log(epsilon if stated is None else stated), epsilon)
    return None if strongest is None else strongest.weaker


@dataclass(frozen=True, slots=True, kw_only=True)
class _Tried:
    """An algorithm with less noise, the logarithm of the strength that made it, and its proved epsilon."""

    weaker: Any
    strength: float
    upper: float


def _strongest(tried: Callable[[float], _Tried | None], start: float, epsilon: float) -> _Tried | None:
    """Return the strongest try whose proved epsilon is at most `epsilon`, within a twentieth where the tries suffice.

    Epsilon grows with the strength, by no known law: a secant in logarithms that stays within the known bracket.
    """
    below: _Tried | None = None
    above: _Tried | None = None
    goal, strength = math.log((1 + _NEAR) / 2 * epsilon), start
    for _ in range(_TRIES):
        this = tried(strength)
        if this is None:
            break
        below, above = (this, above) if this.upper <= epsilon else (below, this)
        if this.upper <= epsilon and this.upper >= _NEAR * epsilon:
            break
        if below is None or above is None:
            strength = this.strength + goal - math.log(this.upper)
            continue
        width = above.strength - below.strength
        share = (goal - math.log(below.upper)) / math.log(above.upper / below.upper)
        strength = below.strength + width * min(max(share, _INNER), 1 - _INNER)
    return below
