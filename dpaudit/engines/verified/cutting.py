"""Cells of any loss that has some: its own, or those of the curve that dominates a choice."""

from fractions import Fraction

import numpy as np

from dpaudit.engines.verified.choices import dominating_masses
from dpaudit.engines.verified.discretised_loss import DiscretisedLoss, deviation, own_cells
from dpaudit.model.losses import ChoiceLoss, SimpleLoss

FINEST_CHOICE = 100.0
"""Knots per standard deviation of a choice, whose curve is dear; it then errs by about 1e-5 of the loss."""


def cut(loss: SimpleLoss, width: float, tail: float) -> DiscretisedLoss:
    """Return `loss` in cells of about `width`; losses of probability about `tail` may be left outside.

    The cells of a choice dominate it, and are good for upper bounds only.
    """
    if isinstance(loss, ChoiceLoss):
        return _choice(loss, max(width, deviation(loss) / FINEST_CHOICE), tail)
    return own_cells(loss, width, tail)


def _choice(loss: ChoiceLoss, width: float, tail: float) -> DiscretisedLoss:
    """Return atoms on knots that dominate an adaptive choice between losses."""
    h, below, masses, infinite = dominating_masses(loss, width, tail)
    none = np.zeros(len(masses) - 1)
    return DiscretisedLoss(
        origin=-Fraction(h) * below,
        width=Fraction(h),
        knots=masses,
        up=none,
        down=none,
        infinite=infinite,
        error=1e-15,
    )
