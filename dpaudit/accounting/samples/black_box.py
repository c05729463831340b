"""The black box that a part is: its largest loss and what it loses beyond, in either order of the neighbours."""

import math

from dpaudit.engines.basic import total_infinite_mass, total_supremum
from dpaudit.model.losses import LOST, ApproximateLoss, Composition, DiscreteLoss


def black_box(composition: Composition) -> ApproximateLoss | DiscreteLoss | None:
    """Return the (epsilon, delta) that both orders of a part keep; None where no loss is the largest.

    >>> from dpaudit.model.losses import LaplaceLoss
    >>> black_box(Composition.of(LaplaceLoss(shift=0.5)) * 2)
    ApproximateLoss(epsilon=1.0, delta=0.0)
    """
    orders = (composition, composition.reversed())
    delta = max(total_infinite_mass(order)[1] for order in orders)
    if delta >= 1:
        return LOST
    epsilon = max(total_supremum(order)[1] for order in orders)
    return None if epsilon == math.inf else ApproximateLoss(epsilon=max(0.0, epsilon), delta=delta)
