"""Gaussian differential privacy: the mu of the Gaussian mechanism that has the same delta, at each epsilon and at all.

mu(epsilon) is the distance of two Gaussians with that delta at that epsilon. The least mu for which a declaration is
mu-GDP is mu* = sup mu(epsilon); as h comes from both orders, the supremum over epsilon >= 0 is that over all epsilon.
Sampling does not lower mu*: far out a sampled Gaussian is the full one, at a lower probability.
Source: Dong, Roth and Su (2022), Definition 2.6 and Proposition 2.12.
"""

import math
from collections.abc import Callable
from heapq import heapify, heappop, heappush
from itertools import pairwise
from typing import TypeAlias

from scipy.special import log_ndtr

from dpaudit.accounting.accountant import bracket_delta
from dpaudit.accounting.curves.hockey_stick import HockeyStick, engines_for
from dpaudit.accounting.curves.table import CurveTable, Range
from dpaudit.accounting.normal_form import Alternatives, NormalForm, both_orders
from dpaudit.engines.basic import total_infinite_mass, total_supremum
from dpaudit.engines.gaussian import LARGEST_MU, gaussian_delta, mu_of_bounded
from dpaudit.engines.limits import options_of
from dpaudit.model.losses import ChoiceLoss, Composition, GaussianLoss, MixtureLoss, SampledGaussianLoss, SimpleLoss

_ULP = 2.0**-52
_FAR = 600.0  # the largest loss of a curve that is followed to its end
_MOST_CELLS = 200
_NARROW, _FINEST, _LEAST = 2e-8, 1e-12, 1e-100
_UP, _DOWN = 1 + 1e-12, 1 - 1e-12

Cell: TypeAlias = tuple[float, float, float, float]
"""An interval of epsilon with the upper bounds on h at both ends."""


def mu_above(epsilon: float, delta: float) -> float:
    """Return a mu whose Gaussian has a delta of at least `delta` at `epsilon`: the smallest that bisection finds.

    >>> round(mu_above(1.0, 1e-5), 5)
    0.26805
    """
    if delta >= 1:
        return math.inf
    if delta <= 0:
        return 0.0
    return _bisected(lambda mu: gaussian_delta(mu, epsilon)[0] >= delta)[1]


def mu_below(epsilon: float, delta: float) -> float:
    """Return a mu whose Gaussian has a delta of at most `delta` at `epsilon`: the largest that bisection finds."""
    if delta >= 1:
        return LARGEST_MU
    if delta <= 0:
        return 0.0
    return _bisected(lambda mu: gaussian_delta(mu, epsilon)[1] > delta)[0]


def gaussian_table(curve: HockeyStick, form: NormalForm, *, violated: bool) -> CurveTable:
    """Return mu(epsilon) along the curve, with its range and mu*."""
    rows = tuple(
        (epsilon, low, high, mu_below(epsilon, low), mu_above(epsilon, high))
        for epsilon, low, high in zip(curve.epsilons, curve.lower, curve.upper, strict=True)
    )
    resolved = [row for row in rows if row[1] > 0]
    star = _star_below(rows, form.lower), _star_above(curve, form, violated=violated)
    ranges = [Range(name="mu_star", lower=star[0], upper=star[1])]
    if resolved:
        ranges += [
            Range(name="delta_from_to", lower=min(row[1] for row in resolved), upper=max(row[2] for row in resolved)),
            Range(name="mu_from_to", lower=min(row[3] for row in resolved), upper=max(row[4] for row in resolved)),
        ]
    return CurveTable(
        kind="gdp",
        meaning="mu of the Gaussian mechanism that has the same delta at that epsilon; mu_star is the least mu for "
        "which the declaration is mu-GDP",
        columns=("epsilon", "delta_lower", "delta_upper", "lower", "upper"),
        rows=rows,
        ranges=tuple(ranges),
        notes=_notes(form),
    )


def mu_at_every_delta(form: NormalForm) -> tuple[float, float]:
    """Return lower and upper bounds on mu* loss by loss, without a curve; infinity where a loss has none.

    Guarantee: the upper end holds for all neighbours; below stands what the Gaussian releases of one pair need.
    """
    return max(_gaussian_part(a) for a in form.lower), max(_by_loss(a) for a in form.upper)


def _notes(form: NormalForm) -> tuple[str, ...]:
    """Return the remark on samples."""
    losses = (inner for a in form.upper for loss, _ in a.parts for inner in options_of(loss))
    sampled = any(isinstance(loss, SampledGaussianLoss) for loss in losses)
    told = "mu_star credits no sampling: far out, a sampled Gaussian release is the whole one at a lower probability."
    return (told,) if sampled else ()


def _bisected(holds: Callable[[float], bool]) -> tuple[float, float]:
    """Return two mu close together: a condition does not hold at the first, or that is 0, and holds at the second.

    Edge cases: the second is infinity where the condition holds nowhere.
    """
    low, high = 0.0, 1.0
    while not holds(high):
        low, high = high, high * 2
        if high > LARGEST_MU:
            return low, math.inf
    while high - low > _FINEST * high and high > _LEAST:
        middle = (low + high) / 2 if low > 0 else high / 8
        low, high = (low, middle) if holds(middle) else (middle, high)
    return low, high


def _star_below(rows: tuple[tuple[float, ...], ...], alternatives: Alternatives) -> float:
    """Return a lower bound on mu*: the largest mu(epsilon), or that of the Gaussian releases alone.

    Far out, n releases on samples of rate q are the whole ones at a probability of q^n: their mu(epsilon) grows to the
    whole mu. What is released beside them can be left out.
    """
    if any(total_infinite_mass(order)[0] > 0 for order in both_orders(alternatives)):
        return math.inf
    return max(*(row[3] for row in rows), *(_gaussian_part(a) for a in alternatives))


def _gaussian_part(composition: Composition) -> float:
    """Return mu of all Gaussian releases together, sampled or not, rounded down."""
    kinds = (GaussianLoss, SampledGaussianLoss)
    return math.sqrt(math.fsum(loss.mu**2 * n for loss, n in composition.parts if isinstance(loss, kinds))) * _DOWN


def _star_above(curve: HockeyStick, form: NormalForm, *, violated: bool) -> float:
    """Return an upper bound on mu*: loss by loss, or along the curve where it ends."""
    if violated:
        return math.inf
    by_loss = max(_by_loss(a) for a in form.upper)
    orders = both_orders(form.upper)
    end = max(total_supremum(order)[1] for order in orders)
    ended = end < _FAR and not any(total_infinite_mass(order)[1] for order in orders)
    return min(by_loss, _along(curve, form, end)) if ended else by_loss


def _by_loss(composition: Composition) -> float:
    """Return the root of the sum of the squares of what each loss has; infinity where one has none."""
    return math.sqrt(math.fsum(_of(loss) ** 2 * times for loss, times in composition.parts)) * _UP


def _of(loss: SimpleLoss) -> float:
    """Return a mu for which one loss is mu-GDP: its own, or that of randomised response with its largest loss."""
    if isinstance(loss, ChoiceLoss):
        return max(map(_of, loss.options))
    if isinstance(loss, GaussianLoss | SampledGaussianLoss):
        return loss.mu
    if isinstance(loss, MixtureLoss) and loss.noise == "gaussian":
        return loss.furthest
    orders = (loss, loss.reversed())
    largest = max(order.supremum for order in orders)
    if largest == math.inf or any(order.infinite_mass for order in orders):
        return math.inf
    return mu_of_bounded(largest) if largest < 700 else math.inf


def _along(curve: HockeyStick, form: NormalForm, end: float) -> float:
    """Return an upper bound on mu* from cells of epsilon, the worst of which are halved until they are narrow."""
    if end <= 0:
        return 0.0
    knots = [(e, h) for e, h in zip(curve.epsilons, curve.upper, strict=True) if e < end]
    knots.append((end, bracket_delta(form, end, engines_for(form)).upper))
    best = max(mu_above(*knot) for knot in knots)
    heap = [(-_cell((*a, *b)), (*a, *b)) for a, b in pairwise(knots)]
    heapify(heap)
    for _ in range(_MOST_CELLS):
        worst, (left, high, right, low) = heap[0]
        if -worst <= best * (1 + _NARROW) or right - left < 1e-9:
            break
        heappop(heap)
        middle = (left + right) / 2
        bracket = bracket_delta(form, middle, engines_for(form))
        best = max(best, mu_above(middle, bracket.upper))
        for cell in ((left, high, middle, bracket.upper), (middle, bracket.upper, right, low)):
            heappush(heap, (-_cell(cell), cell))
    return -heap[0][0]


def _cell(cell: Cell) -> float:
    """Return a mu whose Gaussian curve lies above the chord of a cell.

    It lies above each of its tangents in x, and one of them lies above both ends of the chord.
    """
    left, high, right, low = cell
    places = (left, (left + right) / 2, right)

    def covers(mu: float) -> bool:
        return any(_tangent(mu, at, left, high) and _tangent(mu, at, right, low) for at in places)

    return _bisected(covers)[1]


def _tangent(mu: float, at: float, epsilon: float, delta: float) -> bool:
    """Return whether the tangent at `at` to the curve of a Gaussian is surely at least `delta` at `epsilon`.

    A tangent below 0 is not, for a `delta` of 0 either: the chord that ends there lies above it.
    """
    a, b = mu / 2 - at / mu, -mu / 2 - at / mu
    log_a, log_b = float(log_ndtr(a)), float(log_ndtr(b)) + epsilon
    error = _ULP * (4 * (a * a + b * b) + 16 * (abs(log_a) + abs(log_b)) + 16 * (mu + epsilon + at / mu) + 16)
    if log_b >= log_a:
        return False
    return math.exp(log_a) * (-math.expm1(log_b - log_a) * (1 - 8 * _ULP) - 4 * error) >= delta
