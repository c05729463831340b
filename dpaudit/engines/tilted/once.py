"""One release whose loss is made of others, met once: bounds by fine pairs above and below it."""

import math
from collections.abc import Callable

from dpaudit.engines.basic import total_infinite_mass
from dpaudit.engines.engine import Ends, crossing
from dpaudit.engines.gaussian import all_gaussian, gaussian_delta, total_mu
from dpaudit.engines.limits import is_derived
from dpaudit.engines.pairs.looks import derived_delta
from dpaudit.engines.precision import Look, Precision
from dpaudit.model.bracket import smallest_epsilon
from dpaudit.model.losses import AllocatedLoss, Composition, SimpleLoss

_NARROW_EPSILON, _NARROW_DELTA = 5e-2, 0.5
"""Relative widths of a look at secret steps from which on no finer look is taken."""


def is_met_once(composition: Composition) -> bool:
    """Return whether there is one loss made of others, or a choice with such an option, met once."""
    return composition.events == 1 and is_derived(composition.parts[0][0])


def delta_once(composition: Composition, epsilon: float, precision: Precision) -> Ends:
    """Return bounds on delta(epsilon), by looks until they are narrow."""
    ((loss, _),) = composition.parts
    lower, upper = 0.0, _known(loss)(epsilon)
    for look in precision.looks:
        low, high = derived_delta(loss, epsilon, look, above_alone=precision.above_alone)
        lower, upper = max(lower, low), min(upper, high)
        if upper - lower <= _NARROW_DELTA * upper:
            break
    return lower, upper


def epsilon_once(composition: Composition, delta: float, precision: Precision) -> Ends:
    """Return bounds on the smallest epsilon with delta(epsilon) at most `delta`, by looks until they are narrow."""
    ((loss, _),) = composition.parts
    lower, upper = 0.0, math.inf
    if delta <= total_infinite_mass(composition)[1]:  # only infinite losses are as small
        return lower, upper
    for look in precision.looks:
        low, high = _crossing(loss, delta, look, above_alone=precision.above_alone)
        lower, upper = max(lower, low), min(upper, high)
        if upper - lower <= _NARROW_EPSILON * upper:
            break
    return lower, upper


def _crossing(loss: SimpleLoss, delta: float, look: Look, *, above_alone: bool) -> Ends:
    """Return bounds on the smallest epsilon by one look, the lower one 0 where it is not asked for."""
    known = _known(loss)

    def ends_at(epsilon: float) -> Ends:
        lower, upper = derived_delta(loss, epsilon, look, above_alone=above_alone)
        return lower, min(upper, known(epsilon))

    if above_alone:
        return 0.0, smallest_epsilon(lambda epsilon: ends_at(epsilon)[1], delta)
    return crossing(ends_at, delta)


def _known(loss: SimpleLoss) -> Callable[[float], float]:
    """Return the delta that a secret step of Gaussian releases has at most: that of the same step in public."""
    if isinstance(loss, AllocatedLoss) and loss.places == 1:
        alone = Composition.total(Composition.of(part) * times for part, times in loss.inside)
        if all_gaussian(alone):
            mu = total_mu(alone)[1]
            return lambda epsilon: gaussian_delta(mu, epsilon)[1]
    return lambda _: 1.0
