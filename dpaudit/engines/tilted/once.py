"""One release whose loss is made of others, met once: bounds by fine pairs above and below it."""

from collections.abc import Callable

from dpaudit.engines.basic import total_infinite_mass
from dpaudit.engines.engine import Engine
from dpaudit.engines.gaussian import GAUSSIAN
from dpaudit.engines.limits import gridded, is_derived
from dpaudit.engines.tilted.pairs.cells import FINE_LOOK, QUICK_LOOK, Look, Paired, derived_delta, derived_upper
from dpaudit.model.bracket import Bracket, largest_epsilon, smallest_epsilon
from dpaudit.model.losses import (
    AllocatedLoss,
    AverageLoss,
    ChoiceLoss,
    Composition,
    SampledLoss,
    StitchedLoss,
)


def _loss(composition: Composition) -> Paired | None:
    """Return the one loss made of others that is met once, or a choice with such an option, or None."""
    loss = composition.parts[0][0] if composition.events == 1 else None
    if isinstance(loss, ChoiceLoss):
        return loss if is_derived(loss) else None
    return loss if isinstance(loss, SampledLoss | AverageLoss | StitchedLoss | AllocatedLoss) else None


def _known(loss: Paired | None) -> Callable[[float], float]:
    """Return the delta that a secret step of Gaussian releases has at most: that of the same step in public."""
    if isinstance(loss, AllocatedLoss) and loss.places == 1:
        alone = Composition.total(Composition.of(part) * times for part, times in loss.inside)
        if GAUSSIAN.covers(alone):
            return lambda epsilon: GAUSSIAN.delta(alone, epsilon).upper
    return lambda _: 1.0


def _covers(composition: Composition) -> bool:
    """Return whether there is one such loss, once, within the limits of grids."""
    return _loss(composition) is not None and gridded(composition)


def _at(*looks: Look, epsilon_width: float = 1.0, delta_width: float = 1.0) -> Engine:
    """Return the engine that brackets both quantities by looks at secret steps, each until a bracket is narrow."""

    def delta(composition: Composition, epsilon: float) -> Bracket:
        loss = _loss(composition)
        found = Bracket(lower=0.0, upper=_known(loss)(epsilon), engines=("tilted",))
        for look in looks:
            lower, upper = derived_delta(loss, epsilon, look) if loss else (0.0, 1.0)
            found = found.intersect(Bracket(lower=lower, upper=upper, engines=("tilted",)))
            if found.upper - found.lower <= delta_width * found.upper:
                break
        return found

    def epsilon(composition: Composition, delta: float) -> Bracket:
        loss = _loss(composition)
        found = Bracket(lower=0.0, upper=float("inf"), engines=("tilted",))
        if not loss or delta <= total_infinite_mass(composition)[1]:  # only infinite losses are as small
            return found
        for look in looks:
            lower = _largest(loss, delta, look)
            found = found.intersect(Bracket(lower=lower, upper=_smallest(loss, delta, look), engines=("tilted",)))
            if found.upper - found.lower <= epsilon_width * found.upper:
                break
        return found

    return Engine(name="tilted", covers=_covers, delta=delta, epsilon=epsilon)


def _largest(loss: Paired, delta: float, look: Look) -> float:
    """Return the largest epsilon whose lower bound on delta is too large."""
    return largest_epsilon(lambda at: derived_delta(loss, at, look)[0], delta)


def _smallest(loss: Paired, delta: float, look: Look) -> float:
    """Return the smallest epsilon whose upper bound on delta is small enough."""
    known = _known(loss)
    return smallest_epsilon(lambda at: min(derived_upper(loss, at, look), known(at)), delta)


def _delta_above(composition: Composition, epsilon: float) -> Bracket:
    """Return the upper bound of `ONCE` on delta, above 0."""
    loss = _loss(composition)
    upper = min(derived_upper(loss, epsilon), _known(loss)(epsilon)) if loss else 1.0
    return Bracket(lower=0.0, upper=upper, engines=("tilted",))


def _epsilon_above(composition: Composition, delta: float) -> Bracket:
    """Return the upper bound of `ONCE` on epsilon, above 0."""
    loss = _loss(composition)
    covered = loss is not None and delta > total_infinite_mass(composition)[1]
    upper = _smallest(loss, delta, FINE_LOOK) if loss and covered else float("inf")
    return Bracket(lower=0.0, upper=upper, engines=("tilted",))


ONCE = _at(FINE_LOOK)

ONCE_UPPER = Engine(name="tilted", covers=_covers, delta=_delta_above, epsilon=_epsilon_above)
"""The upper side of `ONCE` alone, in about half the time."""

ONCE_QUICK = _at(QUICK_LOOK)
"""As sound, wider for secret steps, and several times quicker."""

ONCE_SOON = _at(QUICK_LOOK, FINE_LOOK, epsilon_width=5e-2, delta_width=0.5)
"""A quick look at secret steps, and a fine one where that is wide."""
