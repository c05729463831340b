"""One release whose loss is made of others, met once: bounds by fine pairs above and below it."""

import math
from functools import lru_cache

from dpaudit.engines.basic import total_infinite_mass
from dpaudit.engines.engine import Ends, crossing
from dpaudit.engines.gaussian import all_gaussian, gaussian_delta, total_mu
from dpaudit.engines.limits import is_derived
from dpaudit.engines.pairs.looks import derived_delta
from dpaudit.engines.precision import Precision
from dpaudit.model.bracket import smallest_epsilon
from dpaudit.model.losses import AllocatedLoss, Composition, SimpleLoss


def is_met_once(composition: Composition) -> bool:
    """Return whether there is one loss made of others, or a choice with such an option, met once."""
    return composition.events == 1 and is_derived(composition.parts[0][0])


def delta_once(composition: Composition, epsilon: float, precision: Precision) -> Ends:
    """Return bounds on delta(epsilon)."""
    ((loss, _),) = composition.parts
    lower, upper = derived_delta(loss, epsilon, precision.cells, above_alone=precision.above_alone)
    return lower, min(upper, gaussian_delta(_known_mu(loss), epsilon)[1])


def epsilon_once(composition: Composition, delta: float, precision: Precision) -> Ends:
    """Return bounds on the smallest epsilon with delta(epsilon) at most `delta`; the lower one may not be asked for."""
    if delta <= total_infinite_mass(composition)[1]:  # only infinite losses are as small
        return 0.0, math.inf

    def ends_at(epsilon: float) -> Ends:
        return delta_once(composition, epsilon, precision)

    if precision.above_alone:
        return 0.0, smallest_epsilon(lambda epsilon: ends_at(epsilon)[1], delta)
    return crossing(ends_at, delta)


@lru_cache(maxsize=64)
def _known_mu(loss: SimpleLoss) -> float:
    """Return the mu of a secret step of Gaussian releases in public, which costs no less; infinity of other losses."""
    if not isinstance(loss, AllocatedLoss) or loss.places > 1:
        return math.inf
    alone = Composition.total(Composition.of(part) * times for part, times in loss.inside)
    return total_mu(alone)[1] if all_gaussian(alone) else math.inf
