"""Renyi divergences of a declaration at orders above 1, and its concentrated privacy, each with both sides.

Divergences of one order add up over releases, adaptively chosen ones too, so that each loss is bounded alone. Where
no closed form exists, (order - 1) times the divergence is convex in the order: chords between whole orders lie above
it, and their continuations below.
Source: Mironov (2017), Proposition 1 and Table II; Bun and Steinke (2016), Definition 1.1; for samples Mironov, Talwar
and Zhang (2019), Theorems 4 and 5, and Section 3.3 for whole orders.
"""

import math
from typing import TypeAlias, TypeGuard

import numpy as np

from dpaudit.accounting.curves.mixture_moments import mixture_log_moment
from dpaudit.accounting.curves.thresholds import log_moments
from dpaudit.engines.limits import options_of
from dpaudit.engines.renyi import excess_terms, log_moment, ranged_moment
from dpaudit.engines.transform import Floats
from dpaudit.model.losses import (
    AllocatedLoss,
    AverageLoss,
    ChoiceLoss,
    Composition,
    DerivedLoss,
    DiscreteLoss,
    GaussianLoss,
    LaplaceLoss,
    MixtureLoss,
    SampledGaussianLoss,
    SampledLoss,
    SimpleLoss,
    StitchedLoss,
    ThresholdLoss,
)
from dpaudit.model.losses.sampled_ratios import absent, log_absent

Side = tuple[float, float]
ORDERS = (1.25, 1.5, 2.0, 3.0, 4.0, 6.0, 8.0, 12.0, 16.0, 24.0, 32.0, 64.0, 128.0, 256.0)
_Open: TypeAlias = MixtureLoss | DerivedLoss  # no closed form: 0 from below
_MARGIN = 1e-12
_NEAR_ZERO = 1e-15  # what a logarithm of a moment near 1 may be off by, absolutely
_LARGEST_ORDER, _LARGEST_INSIDE = 4096, 1024  # of whole orders, of a sampled Gaussian and of other losses on a sample
_NEAR_ONE, _FAR = 1e-7, 1e9
_STEPS = 6000


def renyi_of_loss(loss: SimpleLoss, order: float) -> Side:
    """Return lower and upper bounds on the Renyi divergence of one loss at an order above 1, in nats.

    Edge cases: infinity where P can have an output that Q cannot. Of a choice, the largest of its options, and of a
    bounded range that of its worst pair: what an adversary reaches who picks them adaptively, not the divergence of the
    pair that dominates them.
    Raises: ValueError: an order that is not above 1 and finite.
    """
    if not 1 < order < math.inf:
        raise ValueError(f"Expected order={order} to be above 1 and finite.")
    if isinstance(loss, _Open):
        return _of_others(loss, order)
    if isinstance(loss, ChoiceLoss):
        sides = [renyi_of_loss(option, order) for option in loss.options]
        return max(low for low, _ in sides), max(high for _, high in sides)
    if loss.infinite_mass > 0:
        return math.inf, math.inf
    if isinstance(loss, SampledGaussianLoss):
        return _sampled(loss, order)
    if isinstance(loss, ThresholdLoss):
        lows, highs = log_moments(loss.shift, np.array([order - 1.0]))
        return float(lows[0]) / (order - 1), float(highs[0]) / (order - 1)
    with np.errstate(over="ignore"):
        moment = float(log_moment(loss, np.array([order - 1.0]))[0]) / (order - 1)
    blur = _MARGIN * abs(moment) + (_doubt(loss) + _NEAR_ZERO) / (order - 1)
    low, high = max(0.0, moment - blur), max(0.0, moment + blur)
    if isinstance(loss, DiscreteLoss) and loss.span is not None:
        ranged, off = float(_ranged(loss.span, np.array([order - 1.0]))[0]), 1e-14 / (order - 1)
        return max(low, ranged * (1 - _MARGIN) - off), min(high, ranged * (1 + _MARGIN) + off)
    return low, high


def _of_others(loss: _Open, order: float) -> Side:
    """Return bounds for a loss that is made of others: those of all that it may hold, its own pair, or its moments."""
    low, high = 0.0, float(_highs(loss, np.array([order]))[0])
    if isinstance(loss, MixtureLoss):
        least, most = mixture_log_moment(loss, order)
        low, high = least / (order - 1) * (1 - _MARGIN), min(high, most / (order - 1) * (1 + _MARGIN))
    if isinstance(loss, SampledLoss):
        high = min(high, _on_a_sample(loss, order))
    if isinstance(loss, StitchedLoss):
        sides = [[renyi_of_loss(part, order)[1]] for part in (loss.positive, loss.negative)]
        high = min(high, float(_stitched(np.array(sides), np.array([order]))[0]))
    return low, high


def _ranged(span: float, powers: Floats) -> Floats:
    """Return the divergences of losses within a bounded range, at orders 1 + `powers` the one of the worst pair."""
    return np.asarray(ranged_moment(span, powers) / powers)


def _stitched(divergences: Floats, orders: Floats) -> Floats:
    """Return bounds from those of both sides: the moment is 1 plus an integral of either curve, none negative."""
    sides = divergences * (orders - 1)
    near = np.log1p(np.expm1(np.minimum(sides, 1.0)).sum(axis=0))
    both = np.where(sides.max(axis=0) <= 1, near, np.logaddexp(*sides))
    return np.asarray(both / (orders - 1) * (1 + _MARGIN))


def _doubt(loss: SimpleLoss) -> float:
    """Return what the stated probabilities of atoms leave open of a moment's logarithm; 0 for other losses."""
    if not isinstance(loss, DiscreteLoss):
        return 0.0
    return 2 * abs(1 - math.fsum(p for _, p in loss.atoms)) + 4e-14


def _sampled(loss: SampledGaussianLoss, order: float) -> Side:
    """Return bounds for a Gaussian release on a Poisson sample; adding a record costs no more than removing it.

    A whole order has a sum for a removed record. For others, cells and chords between whole orders count.
    """
    unsampled = order * loss.mu**2 / 2
    if order > _LARGEST_ORDER:
        return 0.0, unsampled * (1 + _MARGIN)
    below = max(1, math.floor(order))
    at = [_convex(loss, below + step) for step in (-1, 0, 1, 2)]
    share = order - below
    high = at[1] + (at[2] - at[1]) * share if share else at[1]
    lines = [at[2] - (at[3] - at[2]) * (1 - share)] + ([at[1] + (at[1] - at[0]) * share] if below > 1 else [])
    low = max(0.0, *lines) if share else at[1]
    margin = _MARGIN + _rounding(loss, below + 2)
    from_cells = mixture_log_moment(_mixture(loss), order) if share or loss.order == "add" else (0.0, math.inf)
    upper = min(unsampled * (1 + _MARGIN), min(high * (1 + margin), from_cells[1] * (1 + _MARGIN)) / (order - 1))
    lower = (low - 4 * margin * high if loss.order == "remove" else 0.0, from_cells[0] * (1 - _MARGIN))
    return min(max(0.0, *lower) / (order - 1), upper), upper


def _mixture(loss: SampledGaussianLoss) -> MixtureLoss:
    """Return the mixture that a sample is."""
    removed = MixtureLoss(above=((0.0, absent(loss.rate)), (loss.mu, loss.rate)), below=((0.0, 1.0),))
    return removed if loss.order == "remove" else removed.reversed()


def _rounding(loss: SampledGaussianLoss, order: int) -> float:
    """Return a bound on the relative rounding of a moment's excess over 1: that of its largest exponent."""
    logs = order * (abs(math.log(loss.rate)) + abs(log_absent(loss.rate)))
    return 2.0**-49 * (3 * math.lgamma(order + 1) + order**2 * loss.mu**2 / 2 + logs)


def _convex(loss: SampledGaussianLoss, order: int) -> float:
    """Return ln of the moment at a whole order, 0 at order 1 and below: (order - 1) times the divergence."""
    if order < 2:
        return 0.0
    j = np.arange(2, order + 1)
    return _log_moment((j * j - j) * loss.mu**2 / 2, loss.rate)


def _on_a_sample(loss: SampledLoss, order: float) -> float:
    """Return an upper bound on the divergence of a Poisson sample of any losses.

    At a whole order n the moment of the mixture is the binomial sum of (1 - rate)^(n - k) rate^k times the moments of
    order k; (order - 1) times the divergence is convex in the order, so that chords lie above it. Where what is inside
    is the same in both orders of the neighbours, adding a record costs no more than removing it.
    Edge cases: infinity at orders above 1,024, and for an added record where what is inside differs in both orders.
    Source: Mironov, Talwar and Zhang (2019), Section 3.3 and Theorem 5.
    """
    symmetric = all(part == part.reversed() for part, _ in loss.inside)
    if order > _LARGEST_INSIDE or (loss.order == "add" and not symmetric):
        return math.inf
    below = math.floor(order)
    orders = range(2, max(2, math.ceil(order)) + 1)
    inside = [math.fsum(times * renyi_of_loss(part, float(k))[1] for part, times in loss.inside) for k in orders]
    growth = np.array(inside) * (np.array(orders) - 1)
    first, start = (0.0, 1) if below < 2 else (_log_moment(growth[: below - 1], loss.rate), below)
    value = first + (_log_moment(growth, loss.rate) - first) * (order - start)
    return value / (order - 1) * (1 + _MARGIN * order)


def _log_moment(growth: Floats, rate: float) -> float:
    """Return ln of a sample's moment at a whole order, from the logarithms at 2, 3, ... up to it."""
    return float(np.logaddexp(0.0, np.logaddexp.reduce(sum(excess_terms(growth, rate)))))


def _total(composition: Composition, order: float) -> Side:
    """Return the sum over all losses."""
    sides = [(renyi_of_loss(loss, order), times) for loss, times in composition.parts]
    low, high = (math.fsum(side[end] * times for side, times in sides) for end in (0, 1))
    return low * (1 - 1e-15), high * (1 + 1e-15)


def envelope_of(loss: SimpleLoss, times: int) -> tuple[tuple[SimpleLoss, int], ...]:
    """Return losses whose divergences together are no less: a divergence of mixtures is at most that of some parts.

    Source: van Erven and Harremoes (2014), Theorem 13, joint quasi-convexity.
    """
    if isinstance(loss, MixtureLoss):
        reach = loss.furthest
        return ((GaussianLoss(mu=reach) if loss.noise == "gaussian" else LaplaceLoss(shift=reach), times),)
    if isinstance(loss, AverageLoss):
        options = {part for _, option in loss.options for part in options_of(option)}
        return ((ChoiceLoss(options=tuple(options)), times),)
    if isinstance(loss, SampledLoss | AllocatedLoss):
        back = loss.order == "add"
        inside = ((part.reversed() if back else part, times * copies) for part, copies in loss.inside)
        return tuple(row for part, copies in inside for row in envelope_of(part, copies))
    return ((loss, times),)


def _gaussian(loss: SimpleLoss) -> TypeGuard[GaussianLoss | SampledGaussianLoss]:
    """Return whether the divergence over its order is mu^2 / 2 at all orders, or tends to it from below."""
    return isinstance(loss, GaussianLoss | SampledGaussianLoss)


def rho_above(composition: Composition, xi: float = 0.0) -> float:
    """Return an upper bound on rho: mu^2 / 2 of all Gaussian losses, and the supremum of the rest's divergence.

    Of the rest `xi` is taken off before the division by the order, and the cumulant K(s) less xi s is convex as K is.
    Below the first order of the grid the divergence is at most that there; beyond the last, the ratio is at most the
    largest loss over that order.
    """
    parts = tuple(part for loss, times in composition.parts for part in envelope_of(loss, times))
    normal = math.fsum(loss.mu**2 * times for loss, times in parts if _gaussian(loss)) / 2
    others = [(loss, times) for loss, times in parts if not _gaussian(loss)]
    if any(_most(loss) == math.inf for loss, _ in others):
        return math.inf
    orders = np.asarray(1 + np.geomspace(_NEAR_ONE, _FAR, _STEPS), np.float64)  # dense in ratio
    highs = np.zeros(len(orders))
    for loss, times in others:
        highs += times * _highs(loss, orders)
    largest = math.fsum(_most(loss) * times for loss, times in others)
    highs = np.minimum(highs, largest * (1 + _MARGIN)) - xi  # no divergence exceeds it; some have no other bound
    end = max(0.0, largest - xi) / float(orders[-1])
    return (normal + max(end, float(highs[0]), largest_ratio(orders, orders - 1, highs))) * (1 + 4 * _MARGIN)


def largest_ratio(orders: Floats, powers: Floats, highs: Floats) -> float:
    """Return an upper bound on the divergence over its order between the first and the last of `orders`."""
    return float(ratio_in_cells(orders, powers, highs).max())


def ratio_in_cells(orders: Floats, powers: Floats, highs: Floats) -> Floats:
    """Return an upper bound on the divergence over its order between each of `orders` and the next one.

    `powers` are the orders less 1, and `highs` bounds on the divergences. K(s) = s R(1 + s) is convex and 0 at 0, so
    that between two knots it lies below the chord u + v s, with u at most 0; (u + v s) / (s (1 + s)) is largest at a
    knot or where v s^2 + 2 u s + u = 0.
    """
    s = powers
    values = s * highs
    v = np.diff(values) / np.diff(s)
    u = np.minimum(0.0, values[:-1] - v * s[:-1])
    rising = np.maximum(v, 1e-300)  # a chord that falls is nowhere above 0
    inner = np.clip((-u + np.sqrt(u * u - u * rising)) / rising, s[:-1], s[1:])
    chord = values[:-1] + v * (inner - s[:-1])
    ends = highs / orders
    return np.asarray(np.maximum(np.maximum(ends[:-1], ends[1:]), chord / (inner * (1 + inner))))


def _most(loss: SimpleLoss) -> float:
    """Return the largest loss of one that has no infinite mass; infinity where it has."""
    options = options_of(loss)
    return math.inf if any(option.infinite_mass > 0 for option in options) else max(o.supremum for o in options)


def _highs(loss: SimpleLoss, orders: Floats) -> Floats:
    """Return upper bounds on one loss's divergence at many orders."""
    if isinstance(loss, ChoiceLoss):
        return np.asarray(np.max([_highs(option, orders) for option in loss.options], axis=0))
    if isinstance(loss, GaussianLoss | SampledGaussianLoss):
        return orders * loss.mu**2 / 2 * (1 + _MARGIN)
    if loss.infinite_mass > 0:
        return np.full(len(orders), math.inf)
    if isinstance(loss, StitchedLoss):
        return _stitched(np.array([_highs(part, orders) for part in (loss.positive, loss.negative)]), orders)
    if isinstance(loss, _Open):
        return np.asarray(sum(times * _highs(part, orders) for part, times in envelope_of(loss, 1)) * (1 + _MARGIN))
    powers = orders - 1
    if isinstance(loss, ThresholdLoss):
        return log_moments(loss.shift, powers)[1] / powers
    moments = log_moment(loss, powers) / powers
    highs = moments * (1 + _MARGIN) + (_doubt(loss) + _NEAR_ZERO) / powers
    if isinstance(loss, DiscreteLoss) and loss.span is not None:
        highs = np.minimum(highs, _ranged(loss.span, powers) * (1 + _MARGIN) + 1e-14 / powers)
    if isinstance(loss, DiscreteLoss) and loss.pair is not None:  # either order, picked at each release
        either = [_highs(way, orders) for way in (loss.pair, loss.pair.reversed())]
        highs = np.minimum(highs, np.max(either, axis=0))
    return np.asarray(np.minimum.accumulate(highs[::-1])[::-1])  # a divergence grows with its order


def rho_below(composition: Composition, xi: float = 0.0) -> float:
    """Return a lower bound on rho beside `xi`: what some order shows, or what Gaussian losses tend to.

    Orders are dense in ratio, and denser beside the best of them. The larger xi is, the larger is the best order.
    """
    normal = math.fsum(loss.mu**2 * n for loss, n in composition.parts if _gaussian(loss)) / 2
    orders = sorted({1 + 1e-7, 1 + 1e-5, 1 + 1e-3, *ORDERS, *(1 + np.geomspace(0.01, 20.0, 40)).tolist()})
    orders += np.geomspace(400.0, 1e6, 20).tolist() if xi else []

    def at(order: float) -> float:
        return (_total(composition, order)[0] - xi) / order

    shown = [at(order) for order in orders]
    best = int(np.argmax(shown))
    beside = np.linspace(orders[max(0, best - 1)], orders[min(len(orders) - 1, best + 1)], 80)[1:-1]
    nearer = (at(float(order)) for order in beside)
    return float(max(normal * (1 - _MARGIN), *shown, *nearer))
