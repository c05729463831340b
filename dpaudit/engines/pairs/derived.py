"""Pairs above and below every loss: those of a closed form from their cells, the derived ones from what they are of."""

import math
from dataclasses import replace
from functools import lru_cache

import numpy as np

from dpaudit.engines.pairs.allocation import allocated_above, allocated_below
from dpaudit.engines.pairs.chosen import chosen_above
from dpaudit.engines.pairs.closed import closed_pair
from dpaudit.engines.pairs.few_steps import few_above, few_below, is_few
from dpaudit.engines.pairs.finite_pair import FinitePair, average, stitched, stitched_below
from dpaudit.engines.pairs.grid import dominated, dominating
from dpaudit.engines.pairs.moderate import Inside, moderate_above, moderate_below
from dpaudit.engines.transform import Floats
from dpaudit.model.losses import (
    AllocatedLoss,
    AverageLoss,
    ChoiceLoss,
    DiscreteLoss,
    SampledLoss,
    SimpleLoss,
    StitchedLoss,
)

_UNIT = 2.0**-53
_MOST = 1 << 13  # knots of what is composed inside a sample
_NOTHING = FinitePair(losses=np.zeros(1), masses=np.ones(1))
_MOST_LOST = 1e-3  # of the tails of an option, however rare it is
_CAPPED = 1e3  # of a tail; what the cap of a likelihood ratio may lose


@lru_cache(maxsize=160)
def pair_above(loss: SimpleLoss, width: float, tail: float) -> FinitePair:
    """Return a pair that dominates `loss`, on atoms about `width` apart; of tails of about `tail` all is lost."""
    match loss:
        case SampledLoss(inside=inside, rate=rate, order=order):
            removed = _composed(inside, width, tail, above=True).sampled(rate)
            return removed if order == "remove" else removed.reversed()
        case AverageLoss(options=options):
            return average([(weight, pair_above(option, width, _share(tail, weight))) for weight, option in options])
        case StitchedLoss(positive=positive, negative=negative):
            return stitched(pair_above(positive, width, tail), pair_above(negative, width, tail), width)
        case ChoiceLoss(options=options):
            return chosen_above([pair_above(option, width, tail) for option in options], width)
        case AllocatedLoss(inside=inside, steps=steps, order=order, places=places):
            blocks = steps // places  # the curve of places drawn apart from disjoint blocks is no smaller
            inside = tuple((part, times * places) for part, times in inside)
            step = _composed(inside, _step_width(width, blocks), tail, above=True)
            if is_few(step, blocks, order):
                return few_above(step, blocks, width, order)
            return allocated_above(step, blocks, width, tail * _CAPPED, order)
        case _:
            ((moderate, _),) = moderate_above(((loss, 1),), tail, _reach)
            pair = closed_pair(moderate, width, tail, above=True)
            return replace(pair, missing=max(pair.missing, _lacking(pair)))


@lru_cache(maxsize=160)
def pair_below(loss: SimpleLoss, width: float, tail: float) -> FinitePair:
    """Return a pair that `loss` dominates, on atoms about `width` apart.

    A stitched loss is that of a pair, too, though of none that data sets attain; of a choice one option is met. Of
    secret steps P is rounded down and Q up, which says nothing of a sample of them in the other order.
    """
    match loss:
        case SampledLoss(inside=inside, rate=rate, order=order):
            if order == "add" and any(isinstance(part, AllocatedLoss) for part, _ in inside):
                return _NOTHING
            removed = _composed(inside, width, tail, above=False).sampled(rate)
            return removed if order == "remove" else removed.reversed()
        case AverageLoss(options=options):
            return average([(weight, pair_below(option, width, tail)) for weight, option in options])
        case StitchedLoss(positive=positive, negative=negative):
            return stitched_below(pair_below(positive, width, tail), pair_below(negative, width, tail), 2 * width)
        case ChoiceLoss(options=options):
            return max((pair_below(option, width, tail) for option in options), key=lambda pair: pair.delta_below(0.0))
        case AllocatedLoss(inside=inside, steps=steps, order=order, places=places):
            step = _composed(inside, _step_width(width, steps), tail, above=False)
            if places == 1 and is_few(step, steps, order):
                return few_below(step, steps, width, order)
            return allocated_below(step, steps, places, width, tail * _CAPPED, order)
        case _:
            ((moderate, _),) = moderate_below(((loss, 1),), tail, _reach)
            missing = moderate.reverse_infinite_mass if isinstance(moderate, DiscreteLoss) else 0.0
            return replace(closed_pair(moderate, width, tail, above=False), missing=missing)


def _lacking(pair: FinitePair) -> float:
    """Return what the atoms lack of a whole law under Q, rounded up.

    A loss that was raised leaves less under Q; what is left is an output that only Q has, which a sample may show.
    """
    return max(
        0.0, 1 - math.fsum(pair.masses * np.exp(-pair.losses)) + 16 * _UNIT
    )  # exponentials err by 4 units in the last place


def _composed(inside: Inside, width: float, tail: float, *, above: bool) -> FinitePair:
    """Return the pair of all losses inside together, one loss by itself or several on one grid."""
    inside = (moderate_above if above else moderate_below)(inside, tail, _reach)
    if len(inside) == 1 and inside[0][1] == 1:
        return (pair_above if above else pair_below)(inside[0][0], width, tail)
    finest = max(width, _span(inside, tail) / _MOST)
    cut = [((pair_above if above else pair_below)(loss, finest, tail), times) for loss, times in inside]
    grids = [(dominating(pair, finest) if above else dominated(pair, finest), times) for pair, times in cut]
    origin = sum((grid.origin * times for grid, times in grids), start=grids[0][0].origin * 0)
    masses = _product([(grid.masses, times) for grid, times in grids])
    knots = np.asarray(float(origin) + finest * np.arange(len(masses)), np.float64)
    rounding = 4 * _UNIT * (len(masses) + 64) * (sum(times for _, times in grids) + 1)
    blur = 4 * _UNIT * (2 + float(np.abs(knots).max()))
    if above:
        joint = FinitePair(
            losses=knots,
            masses=masses * (1 + rounding),
            infinite=min(1.0, _any([(grid.infinite, times) for grid, times in grids]) * (1 + 1e-12)),
            missing=math.fsum(pair.missing * times for pair, times in cut),
            error=blur,
        )
        return replace(joint, missing=max(joint.missing, _lacking(joint)))
    others = _product([(grid.others, times) for grid, times in grids])
    likely = (masses > 1e-290) & (others > 1e-290)
    return FinitePair(
        losses=knots[likely] + np.log(masses[likely] / others[likely]),
        masses=masses[likely],
        infinite=_any([(pair.infinite, times) for pair, times in cut]) * (1 - 1e-12),
        error=2 * rounding + 2 * blur + sum(_moved(pair) * times for pair, times in cut),
    )


def _share(tail: float, weight: float) -> float:
    """Return what an option may lose of its own tails, of few numbers, so that about `tail` is lost of the whole."""
    return min(_MOST_LOST, tail * 10.0 ** math.floor(-math.log10(weight)))


def _any(chances: list[tuple[float, int]]) -> float:
    """Return the probability that any of several things happens, each tried so often, right to a relative 1e-13.

    One minus a product would lose what is rarer than 1e-16.
    """
    if any(chance >= 1 for chance, _ in chances):
        return 1.0
    return -math.expm1(math.fsum(times * math.log1p(-chance) for chance, times in chances))


def _moved(pair: FinitePair) -> float:
    """Return what `dominated` may have moved either law by, relatively."""
    return 2 * pair.error + 8e-12 + 64 * _UNIT * float(np.abs(pair.losses).max(initial=0.0))


def _reach(loss: SimpleLoss) -> float:
    """Return how far a loss that is made of others reaches to either side of 0, from a coarse look."""
    return float(np.abs(pair_above(loss, 0.05, 1e-20).losses).max(initial=0.0))


def _span(inside: Inside, tail: float) -> float:
    """Return about how far the sum of all losses inside reaches, from a coarse look at each."""
    total = 0.0
    for loss, times in inside:
        losses = pair_above(loss, 0.05, max(tail, 1e-20)).losses
        total += times * float(losses.max() - losses.min())
    return total


def _product(rows: list[tuple[Floats, int]]) -> Floats:
    """Return the convolution of all rows, each so many times; of positive terms, so that rounding stays relative."""
    product = np.ones(1)
    for row, times in rows:
        square: Floats = row
        count = times
        while count:
            if count & 1:
                product = np.convolve(product, square)
            count >>= 1
            if count:
                square = np.convolve(square, square)
    return np.asarray(product, np.float64)


def _step_width(width: float, steps: int) -> float:
    """Return the width for one step of several, whose errors average out."""
    return min(width * math.sqrt(steps) / 4, max(width, 0.01))
