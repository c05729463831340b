"""Cells of any loss, from above and from below: its own where it has some, those of a finite pair where it has none."""

import math
from dataclasses import dataclass
from functools import lru_cache

from dpaudit.engines.tilted.pairs.derived import pair_above, pair_below
from dpaudit.engines.tilted.pairs.finite_pair import FinitePair, as_cells, placed
from dpaudit.engines.verified.discretised_loss import DiscretisedLoss, own_cells
from dpaudit.model.losses import (
    AllocatedLoss,
    AverageLoss,
    ChoiceLoss,
    DerivedLoss,
    SampledLoss,
    SimpleLoss,
    StitchedLoss,
)

_KINDS = (SampledLoss, AverageLoss, StitchedLoss, AllocatedLoss, ChoiceLoss)
_LOOK = 0.05  # nats; the width of a first look
_MOST = 1 << 16  # cells over the span of a loss that is met once, unless it is an allocation
_TAIL = 1e-40
_FINER = 3  # atoms of a pair for one cell, which then says nearly all that errs


def cells_above(loss: SimpleLoss, width: float, tail: float) -> DiscretisedLoss:
    """Return cells that dominate a loss."""
    if not isinstance(loss, _KINDS):
        return own_cells(loss, width, tail)
    return as_cells(pair_above(loss, *_steps(width, tail)), width)


def cells_below(loss: SimpleLoss, width: float, tail: float) -> DiscretisedLoss:
    """Return cells that a loss dominates."""
    if not isinstance(loss, _KINDS):
        return own_cells(loss, width, tail)
    return as_cells(pair_below(loss, *_steps(width, tail)), width)


def _steps(width: float, tail: float) -> tuple[float, float]:
    """Return a finer width and a smaller tail, out of few, so that pairs are made once for many questions."""
    return 2.0 ** math.floor(math.log2(width / _FINER)), 1e-5 ** math.ceil(math.log(tail) / math.log(1e-5))


@lru_cache(maxsize=256)
def span(loss: DerivedLoss | ChoiceLoss, tail: float) -> float:
    """Return about how far a derived loss reaches from its lowest value to its highest, on either side."""
    sides = (pair(loss, _LOOK, max(tail, 1e-30)).losses for pair in (pair_above, pair_below))
    return max(float(losses.max(initial=0.0) - losses.min(initial=0.0)) for losses in sides) or _LOOK


def reach(loss: SimpleLoss, tail: float) -> float:
    """Return the span of a derived loss, 0 of any other."""
    return span(loss, tail) if isinstance(loss, _KINDS) else 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """How an allocation that is met once is looked at: cells over its span, and what may be lost in turn.

    `tails` are probabilities, lost before its likelihood ratios are capped; the better bound counts.
    """

    cells: int
    tails: tuple[float, ...]


FINE_LOOK = Look(cells=1 << 14, tails=(1e-11, 1e-16))
QUICK_LOOK = Look(cells=1 << 9, tails=(1e-16,))
"""Several times quicker, and up to a hundredth wide."""


def derived_delta(loss: DerivedLoss | ChoiceLoss, epsilon: float, look: Look = FINE_LOOK) -> tuple[float, float]:
    """Return lower and upper bounds on delta(epsilon) of one derived loss, by pairs as fine as `look` says."""
    secret = isinstance(loss, AllocatedLoss)
    pairs = [_fine(loss, tail, look.cells if secret else _MOST) for tail in (look.tails if secret else (_TAIL,))]
    return max(low.delta_below(epsilon) for low, _ in pairs), min(high.delta_above(epsilon) for _, high in pairs)


@lru_cache(maxsize=64)
def _fine(loss: DerivedLoss | ChoiceLoss, tail: float, cells: int) -> tuple[FinitePair, FinitePair]:
    """Return pairs below and above a loss, on so many cells."""
    width = 2.0 ** math.floor(math.log2(span(loss, tail) / cells))
    low, high = pair_below(loss, width, tail), pair_above(loss, width, tail)
    return low.gathered(width), placed(high, width)
