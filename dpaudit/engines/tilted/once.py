"""One release whose loss is made of others, met once: bounds by fine pairs above and below it."""

from dpaudit.engines.basic import total_infinite_mass
from dpaudit.engines.engine import Engine
from dpaudit.engines.limits import gridded
from dpaudit.engines.tilted.pairs.cells import derived_delta
from dpaudit.model.bracket import Bracket, largest_epsilon, smallest_epsilon
from dpaudit.model.losses import AllocatedLoss, AverageLoss, Composition, DerivedLoss, SampledLoss, StitchedLoss


def _loss(composition: Composition) -> DerivedLoss | None:
    """Return the one loss made of others that is met once, or None."""
    loss = composition.parts[0][0] if composition.events == 1 else None
    return loss if isinstance(loss, SampledLoss | AverageLoss | StitchedLoss | AllocatedLoss) else None


def _delta(composition: Composition, epsilon: float) -> Bracket:
    """Bracket delta(epsilon)."""
    loss = _loss(composition)
    lower, upper = derived_delta(loss, epsilon) if loss else (0.0, 1.0)
    return Bracket(lower=lower, upper=upper, engines=("tilted",))


def _epsilon(composition: Composition, delta: float) -> Bracket:
    """Bracket the smallest epsilon with delta(epsilon) <= delta; nothing where only infinite losses are as small."""
    loss = _loss(composition)
    if not loss or delta <= total_infinite_mass(composition)[1]:
        return Bracket(lower=0.0, upper=float("inf"), engines=("tilted",))
    lower = largest_epsilon(lambda epsilon: derived_delta(loss, epsilon)[0], delta)
    upper = smallest_epsilon(lambda epsilon: derived_delta(loss, epsilon)[1], delta)
    return Bracket(lower=lower, upper=upper, engines=("tilted",))


def _covers(composition: Composition) -> bool:
    """Return whether there is one such loss, once, within the limits of grids."""
    return _loss(composition) is not None and gridded(composition)


ONCE = Engine(name="tilted", covers=_covers, delta=_delta, epsilon=_epsilon)
