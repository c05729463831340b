"""Pairs of any loss that is met, as fine as a question asks for, and bounds for one that is met once."""

import math
from functools import lru_cache

from dpaudit.engines.pairs.closed import closed_pair
from dpaudit.engines.pairs.derived import pair_above, pair_below
from dpaudit.engines.pairs.finite_pair import FinitePair, placed
from dpaudit.engines.pairs.mixture import mixture_loss, range_of
from dpaudit.engines.precision import DEFAULT
from dpaudit.model.losses import (
    AllocatedLoss,
    ChoiceLoss,
    DerivedLoss,
    GaussianLoss,
    MixtureLoss,
    SampledGaussianLoss,
    SimpleLoss,
)

_LOOK = 0.05  # nats; the width of a first look
_MOST = 1 << 16  # cells over the span of a loss that is met once, unless it is an allocation
_TAIL, _SECRET = 1e-40, (1e-11, 1e-16)  # what such a loss may lose; a secret step in turn, the better bound counting
_CELLS, _SEEN = 1000, 1e-9  # of a loss that is compared with others, and what is left out of it
_RARER = 1e-5  # of a tail, below: what shows a secret step lies far out
_FINER = 3  # atoms of a pair for one cell, which then says nearly all that errs


def met_above(loss: SimpleLoss, width: float, tail: float) -> FinitePair:
    """Return a pair that dominates a loss, fine enough for knots of a width, without atoms that underflow."""
    if not isinstance(loss, DerivedLoss | ChoiceLoss):
        return closed_pair(loss, width, tail, above=True).without_dust()
    return pair_above(loss, *_steps(width, tail)).without_dust()


def met_below(loss: SimpleLoss, width: float, tail: float) -> FinitePair:
    """Return a pair that a loss dominates, fine enough for knots of a width."""
    if not isinstance(loss, DerivedLoss | ChoiceLoss):
        return closed_pair(loss, width, tail, above=False)
    return pair_below(loss, *_steps(width, tail * _RARER))


def _steps(width: float, tail: float) -> tuple[float, float]:
    """Return a finer width and a smaller tail, out of few, so that pairs are made once for many questions."""
    return 2.0 ** math.floor(math.log2(width / _FINER)), 1e-5 ** math.ceil(math.log(tail) / math.log(1e-5))


@lru_cache(maxsize=256)
def span(loss: SimpleLoss, tail: float) -> float:
    """Return about how far a derived loss reaches from its lowest value to its highest, as seen from above."""
    return _extent(pair_above(loss, _LOOK, max(tail, 1e-30))) or _LOOK


def reach_above(loss: SimpleLoss, tail: float) -> float:
    """Return the span of a derived loss, 0 of any other."""
    return span(loss, tail) if isinstance(loss, DerivedLoss | ChoiceLoss) else 0.0


def reach(loss: SimpleLoss, tail: float) -> float:
    """Return how far a derived loss reaches on either side, 0 of any other: labels from below may reach further."""
    if not isinstance(loss, DerivedLoss | ChoiceLoss):
        return 0.0
    return max(span(loss, tail), _extent(pair_below(loss, _LOOK, max(tail, 1e-30))))


def _extent(pair: FinitePair) -> float:
    """Return how far the losses of a pair lie apart, 0 among them."""
    return float(pair.losses.max(initial=0.0) - pair.losses.min(initial=0.0))


def span_of(loss: SimpleLoss, tail: float) -> float:
    """Return about how far a loss reaches from its lowest value to its highest."""
    match loss:
        case GaussianLoss(mu=mu):
            low, high = range_of(mu, 1.0, tail)
            return mu * (high - low)
        case SampledGaussianLoss(mu=mu, rate=rate):
            low, high = range_of(mu, rate, tail)
            return mixture_loss(high, mu, rate) - mixture_loss(low, mu, rate)
        case MixtureLoss(above=above, below=below):
            reach = math.sqrt(2 * math.log(1 / max(tail, 1e-290))) + 0.1 if loss.noise == "gaussian" else 0.0
            ends = below[0][0] - reach, above[-1][0] + reach
            return max(loss.loss_at(ends[1]) - loss.loss_at(ends[0]), 1e-12)
        case ChoiceLoss(options=options):
            return max(span_of(option, tail) for option in options)
        case _ if isinstance(loss, DerivedLoss):
            return span(loss, tail)
        case _:
            return 2 * max(loss.supremum, loss.reversed().supremum) or 1.0


def deviation(loss: SimpleLoss) -> float:
    """Return the standard deviation of a loss under P, in floating point; it only tells which of several costs most."""
    pair = met_above(loss, span_of(loss, _SEEN) / _CELLS, _SEEN)
    share = pair.masses / pair.masses.sum()
    return math.sqrt(float(share @ (pair.losses - share @ pair.losses) ** 2))


def derived_delta(
    loss: SimpleLoss, epsilon: float, cells: int = DEFAULT.cells, *, above_alone: bool = False
) -> tuple[float, float]:
    """Return lower and upper bounds on delta(epsilon) of one derived loss; of a secret step by pairs on so many cells.

    The lower bound is 0 where the upper one is asked for alone, which takes half the time.
    """
    cells, tails = (cells, _SECRET) if isinstance(loss, AllocatedLoss) else (_MOST, (_TAIL,))
    upper = min(_fine_above(loss, tail, cells).delta_above(epsilon) for tail in tails)
    if above_alone:
        return 0.0, upper
    return max(_fine_below(loss, tail, cells).delta_below(epsilon) for tail in tails), upper


@lru_cache(maxsize=64)
def _fine_below(loss: SimpleLoss, tail: float, cells: int) -> FinitePair:
    """Return a pair that a loss dominates, on so many cells."""
    width = _width(loss, tail, cells)
    return pair_below(loss, width, tail).gathered(width)


@lru_cache(maxsize=64)
def _fine_above(loss: SimpleLoss, tail: float, cells: int) -> FinitePair:
    """Return a pair that dominates a loss, on so many cells."""
    width = _width(loss, tail, cells)
    return placed(pair_above(loss, width, tail), width)


def _width(loss: SimpleLoss, tail: float, cells: int) -> float:
    """Return the width of so many cells over the span of a loss."""
    return 2.0 ** math.floor(math.log2(span(loss, tail) / cells))
