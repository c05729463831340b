"""An algorithm with so much less noise that its epsilon is known: the control that shows what an audit would catch."""

from collections.abc import Callable
from dataclasses import fields, replace
from typing import Any

from dpaudit.accounting.accountant import bracket_epsilon
from dpaudit.accounting.fold import fold
from dpaudit.errors import DPAuditError
from dpaudit.model.algorithm import Algorithm
from dpaudit.model.case import AuditCase
from dpaudit.model.claim import Claim
from dpaudit.model.condition import Condition

_TRIES = 4
_NEAR = 0.95


def case_with_less_noise(
    algorithm: Algorithm, problem: Any, number: int, claim: Claim, epsilon: float
) -> AuditCase | None:
    """Return case `number` of an algorithm with so much less noise that it has at most `epsilon` at the claim's delta.

    The calibration is the algorithm's own: only its field `epsilon` changes, or `noise_multiplier` where the noise is
    stated by it. Guarantee: the accountant proves `epsilon` for what the case runs. None where the algorithm has no
    such field or no value of it does.
    """
    settings: Any = algorithm
    names = {field.name for field in fields(settings)}
    stated = settings.noise_multiplier if "noise_multiplier" in names else None
    if stated is None and "epsilon" not in names:
        return None
    calibrated: Callable[..., Any] = replace
    name, power = ("epsilon", 1) if stated is None else ("noise_multiplier", -1)
    setting, found = (epsilon if stated is None else stated), None
    for _ in range(_TRIES):
        try:
            weaker = calibrated(settings, **{name: setting})
            conditions: tuple[Condition, ...] = getattr(weaker, "conditions", tuple)()
            upper = bracket_epsilon(fold(weaker.declaration(), claim.neighbours, conditions), claim.delta).upper
        except (DPAuditError, ValueError):
            break
        if upper <= epsilon:
            found = weaker
        if not 0 < upper < float("inf") or _NEAR * epsilon <= upper <= epsilon:
            break
        setting *= ((1 + _NEAR) / 2 * epsilon / upper) ** power
    return None if found is None else found.cases(problem)[number]
