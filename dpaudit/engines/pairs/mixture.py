"""Cells of the loss of (1 - rate) N(0, 1) + rate N(mu, 1) against N(0, 1), rate 1 being the plain Gaussian.

The loss ln(1 - rate + rate e^(mu x - mu^2/2)) grows with x, so that cells are intervals of x. The first knot is its
infimum ln(1 - rate), at x = -infinity, where that is near the loss of the lowest x that matters; elsewhere it is the
loss at an x below which next to nothing lies. Only x within 40 of mu adds to an integral below: beyond it the normal
density is below 10^-347. Cells and panels have limits in advance, whatever rate and width are, for mu up to 2000.
"""

import math

import numpy as np
from scipy.special import ndtr

from dpaudit.engines.pairs.cells import TINY, Cells
from dpaudit.engines.transform import Floats
from dpaudit.model.losses.sampled_ratios import absent, log_absent, sampled_loss

MOST_CELLS = 1 << 17
_SAMPLED_CELLS = 1 << 20  # at most, of what is sampled, whose large losses are rare and whose small ones are frequent
_FAR = 40.0  # deviations
_NODES = (4, 5, 10)  # of the quadrature in short, middling and long panels


def mixture_cells(mu: float, rate: float, width: float, tail: float) -> Cells:
    """Return cells of about `width`; losses of probability about `tail` may be left outside."""
    most = MOST_CELLS if rate == 1 else _SAMPLED_CELLS
    low, high = range_of(mu, rate, tail)
    left, top = low, mixture_loss(high, mu, rate)
    infimum = log_absent(rate)
    bottom = mixture_loss(low, mu, rate)
    if rate < 1 and bottom - infimum <= max(width, (top - infimum) / most):
        left, bottom = -math.inf, infimum
    h = max(width, (top - bottom) / most)
    steps = np.asarray(h * np.arange(math.ceil((top - bottom) / h) + 1), np.float64)
    ends = _ends(left, bottom, steps, mu, rate)
    up, down, masses = _integrals_of(ends, h, mu, rate)
    size = float(np.abs(ends[np.isfinite(ends)]).max())
    slack = 1.2e-15 * (1 + mu * (size + mu) + abs(math.log(rate))) + 2.5e-16 * (top - bottom)
    shares = masses / np.maximum(up + down, TINY)
    seen = up + down > TINY
    return Cells(
        origin=bottom,
        width=h,
        up=np.maximum(np.where(seen, up * shares, masses), TINY),
        down=np.maximum(np.where(seen, down * shares, 0.0), TINY),
        above=float(absent(rate) * ndtr(-ends[-1]) + rate * ndtr(mu - ends[-1])) + TINY,
        below=float(absent(rate) * ndtr(ends[0]) + rate * ndtr(ends[0] - mu)) + TINY if math.isfinite(left) else 0.0,
        below_other=float(ndtr(ends[0])) + TINY if math.isfinite(left) else 0.0,
        error=3e-15 * (40 + 4 * (min(_FAR, size) + mu) ** 2) + 2 * slack,
        slack=slack,
    )


def range_of(mu: float, rate: float, tail: float) -> tuple[float, float]:
    """Return outputs between which all but a probability of about `tail` lies, on either side."""
    reach = math.sqrt(2 * math.log(1 / max(tail, 1e-290))) + 0.1
    return (mu - reach if rate == 1 else -reach), reach + mu


def mixture_loss(x: float, mu: float, rate: float) -> float:
    """Return ln(1 - rate + rate e^(mu x - mu^2/2)) without overflow."""
    return sampled_loss(mu * x - mu * mu / 2, rate)


def _ends(left: float, bottom: float, steps: Floats, mu: float, rate: float) -> Floats:
    """Return the outputs at which the loss is `bottom` + each step; `left` is the first of them."""
    if rate == 1:
        return np.asarray(np.maximum.accumulate((bottom + steps + mu * mu / 2) / mu), np.float64)
    size = steps + (math.log1p(rate / absent(rate) * math.exp(mu * left - mu * mu / 2)) if left > -math.inf else 0.0)
    later_sizes = size[1:]
    logarithms = np.where(later_sizes > 1, later_sizes, 0.0) + np.log(
        np.where(later_sizes > 1, -np.expm1(-later_sizes), np.expm1(np.minimum(later_sizes, 1.0)))
    )
    ends = (log_absent(rate) - math.log(rate) + logarithms + mu * mu / 2) / mu
    return np.asarray(np.maximum.accumulate(np.concatenate([[left], ends])), np.float64)


def _integrals_of(ends: Floats, h: float, mu: float, rate: float) -> Floats:
    """Return `up` and `down` of each cell between `ends`, both times one factor, and its probability p under P.

    The first two are, over 1 - e^-h, the integrals of

        rate phi(x - mu) (1 - e^(-mu (x - x_j)))  and  rate phi(x - mu) (e^(mu (x_(j+1) - x)) - 1) e^-h.

    With h' the width between the losses l_j of the ends, which rounding moves, p - q e^(l_j) is the first integral and
    q e^(l_j) - p e^-h' is the second one times e^(h - h'). They add up to p (1 - e^-h'): whatever h' is, `up` and
    `down` have this ratio, and the sum p. In a first cell from -infinity, to x_1, all have closed forms; the second is
    (1 - rate) (1 - e^-h') Phi(x_1) - rate e^-h' Phi(x_1 - mu), and is integrated where its terms nearly cancel.
    """
    starts, stops = (np.clip(part, mu - _FAR, mu + _FAR) for part in (ends[:-1], ends[1:]))
    opens, scale = not math.isfinite(ends[0]), -math.expm1(-h)
    if opens:
        starts[0] = stops[0] = mu
    integrals = _panels(starts, stops, ends, h, (mu, rate))
    if opens:
        x = float(ends[1])
        near, moved = float(ndtr(x)), rate * float(ndtr(x - mu))
        step = _first_step(x, h, mu, rate)
        first, second = absent(rate) * step * near, moved * (1 - step)
        integrals[:, 0] = moved / scale, (first - second) / scale, absent(rate) * near + moved
        if second > first / 2 and x > -_FAR:
            cell = _panels(np.array([-_FAR]), np.array([x]), np.array([-_FAR, x]), h, (mu, rate))
            integrals[1, 0] = cell[1, 0]
    return integrals


def _first_step(x: float, h: float, mu: float, rate: float) -> float:
    """Return 1 - e^-h' of the first cell, from -infinity to `x`, also where h' is far below its rounding."""
    if h > 1:
        return -math.expm1(-h)
    grown = math.exp(math.log(rate) + mu * x - mu * mu / 2)
    return grown / (absent(rate) + grown)


def _panels(starts: Floats, stops: Floats, ends: Floats, h: float, sampled: tuple[float, float]) -> Floats:
    """Return the integrals of `_integrals_of` over [`starts`, `stops`] in the cells between `ends`.

    The integrands are positive and entire. Where the length times the largest |x - mu| + mu + 1 is at most 1 / (2 k),
    the integrand on the ellipse of radius 10 k around a panel is below 100 k times its mean, so that n Gauss-Legendre
    nodes err by less than 500 k (10 k)^(-2n) of the integral: below 10^-16 for ten nodes and k = 1, for five and
    k = 10, and for four and k = 100. What remains is floating point: the exponent (x - mu)^2 / 2, right to two units in
    its last place.
    """
    mu = sampled[0]
    lengths = np.maximum(stops - starts, 0.0)
    sizes = 2 * lengths * (max(float(np.abs(starts - mu).max()), float(np.abs(stops - mu).max())) + mu + 1)
    rule = np.searchsorted([0.01, 0.1], sizes)
    integrals = np.zeros((3, len(lengths)))
    for index, number in enumerate(_NODES):
        cells = np.flatnonzero((rule == index) & (lengths > 0))
        if len(cells):
            places = np.array([starts[cells], lengths[cells], sizes[cells], ends[:-1][cells], ends[1:][cells]])
            integrals[:, cells] = _integrals(places, h, sampled, number)
    return integrals


def _integrals(places: Floats, h: float, sampled: tuple[float, float], number: int) -> Floats:
    """Return the integrals of `_panels` over cells, each in as many pieces as its size asks for."""
    (mu, rate), (starts, lengths, sizes, lefts, rights) = sampled, places
    nodes, weights = np.polynomial.legendre.leggauss(number)
    pieces = np.maximum(1, np.ceil(sizes)).astype(np.int64)
    cell = np.repeat(np.arange(len(lengths)), pieces)
    piece = np.arange(len(cell)) - np.repeat(np.cumsum(pieces) - pieces, pieces)
    length = (lengths / pieces)[cell]
    from_start = length[:, None] * (piece[:, None] + (1 + nodes) / 2)
    from_stop = length[:, None] * ((pieces[cell] - 1 - piece)[:, None] + (1 - nodes) / 2)
    from_left = from_start + (starts - lefts)[cell][:, None]
    from_right = from_stop + (rights - (starts + lengths))[cell][:, None]
    x = starts[cell][:, None] + from_start
    measure = length[:, None] / 2 * weights / math.sqrt(2 * math.pi)
    density = measure * rate * np.exp(-((x - mu) ** 2) / 2)
    exponents, scale = mu * from_right, -math.expm1(-h)
    grown = np.where(
        exponents < 1, np.expm1(np.minimum(exponents, 1.0)) * math.exp(-h), np.exp(exponents - h) - math.exp(-h)
    )
    up, down = (density * (part / scale) for part in (-np.expm1(-mu * from_left), grown))
    mass = density + measure * absent(rate) * np.exp(-x * x / 2) if rate < 1 else density
    return np.array([np.bincount(cell, side.sum(axis=1), len(lengths)) for side in (up, down, mass)], np.float64)
