"""The order of magnitude of a delta that is too small for a float."""

import math

from dpaudit.accounting.normal_form import NormalForm, both_orders
from dpaudit.checks import non_negative
from dpaudit.engines.basic import total_supremum
from dpaudit.engines.renyi import has_moments, log_delta
from dpaudit.model.losses import Composition

_SCARCE = 1e-300


def log10_delta(form: NormalForm, epsilon: float, upper: float) -> float:
    """Return a number that the base-10 logarithm of delta(epsilon) does not exceed; `upper` is a proved bound on delta.

    Guarantee: rounded up. Below 1e-300 it is the Renyi bound, which is right to the order of magnitude.
    Edge cases: minus infinity where delta is 0; -300 where delta is smaller and has no closed form (sampled noise).
    Raises: ValueError: epsilon negative or not finite.
    Source: as `dpaudit.engines.renyi`.
    """
    target = non_negative("epsilon", epsilon)
    if upper >= _SCARCE:
        return math.nextafter(math.log10(upper), math.inf) if upper < 1 else 0.0
    return max(_log10_of(order, target) for order in both_orders(form.upper))


def _log10_of(composition: Composition, epsilon: float) -> float:
    """Return the bound for one order of one alternative, whose delta is below 1e-300."""
    if epsilon >= total_supremum(composition)[1] and not any(loss.infinite_mass for loss, _ in composition.parts):
        return -math.inf
    if not has_moments(composition):
        return math.log10(_SCARCE)
    return min(math.log10(_SCARCE), log_delta(composition, epsilon) / math.log(10) * (1 - 1e-14))
