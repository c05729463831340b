"""The verified engine: upper and lower bounds in exact integers, true statements about real numbers.

Every loss is cut into cells (`cells`), rounded to a lattice that dominates it and to one that it dominates
(`dominating`, `dominated`), and composed by exact products of integer polynomials (`composer`). Nothing is
transformed in floating point, so that the bounds hold for any number of events and down to delta = 1e-30
and below. A coarse pass shows what width is needed; a second one delivers it.
"""

import math
from collections.abc import Callable, Sequence

import numpy as np

from dpaudit.bracket import Bracket
from dpaudit.engines.cells import FINEST_CHOICE, deviation
from dpaudit.engines.composer import Composer
from dpaudit.engines.dominated import DOMINATED
from dpaudit.engines.dominating import DOMINATING
from dpaudit.engines.engine import Engine
from dpaudit.engines.gaussian import total_mu
from dpaudit.engines.lattice import Lattice, Rounding, floats, positions
from dpaudit.engines.polynomial import by_python, fastest
from dpaudit.losses import (
    ApproximateLoss,
    ChoiceLoss,
    Composition,
    DiscreteLoss,
    GaussianLoss,
    LaplaceLoss,
    SampledGaussianLoss,
    SimpleLoss,
)

Question = Callable[[Lattice, Lattice], Bracket]
Parts = tuple[tuple[SimpleLoss, int], ...]
_FIRST = 24.0  # knots per standard deviation in the first pass
_TOLERANCE = 4e-7  # relative width of a bracket that needs no finer pass
_SHORT = 70.0  # bits of a probability beyond which the finest lattice has fewer knots, for the same work
_SMALLEST = 1e-200  # the smallest delta that is resolved
_KINDS = 512  # losses of one family that are told apart, fewer when each occurs often
_JOINED = 2500  # losses of one family that are told apart where they occur equally often
_MOST = 1 << 15  # knots of one lattice


def _finest(composition: Composition) -> float:
    """Return the finest resolution that the last pass may use: fewer knots where there are more products.

    Sampled losses have long tails for their deviation, and need many knots at any resolution. Choices are cut no finer
    than `FINEST_CHOICE`.
    """
    products = _products(_merged(composition)[1])
    sampled = any(isinstance(loss, SampledGaussianLoss) for loss, _ in composition.parts)
    effort = 5_000.0 if fastest() is by_python else 23_500.0
    most = FINEST_CHOICE if any(isinstance(loss, ChoiceLoss) for loss, _ in composition.parts) else 1000.0
    return max(_FIRST, min(most, effort / products) / (3 if sampled else 1))


def _products(parts: Sequence[tuple[SimpleLoss, int]]) -> float:
    """Return the cost of composing in products on the finest lattice: powers in full, joins by a root."""
    return sum(times.bit_length() for times in {times for _, times in parts}) + math.sqrt(len(parts) - 1)


def _delta(composition: Composition, epsilon: float) -> Bracket:
    """Bracket delta(epsilon)."""
    first = _coarse_delta(composition, epsilon)
    floor = min(max(first.lower, first.upper * 1e-3, _SMALLEST), 1.0)
    return _refined(composition, floor, _delta_at(epsilon), first)


def _coarse_delta(composition: Composition, epsilon: float) -> Bracket:
    """Bracket delta(epsilon) by the first pass alone."""
    return _delta_at(epsilon)(*_lattices(composition, 1e-40, _FIRST, 1 << 12))


def _delta_at(epsilon: float) -> Question:
    """Return the question for delta at `epsilon`."""
    finite = min(epsilon, 1e300)
    return lambda lower, upper: _bracket(DOMINATED.delta(lower, finite), DOMINATING.delta(upper, finite))


def _epsilon(composition: Composition, delta: float) -> Bracket:
    """Bracket the smallest epsilon with delta(epsilon) <= delta."""
    if delta < _SMALLEST:
        return _bracket(0.0, math.inf)
    if len(composition.parts) > _KINDS:  # a first pass would cost as much as the last
        return _epsilon_at(delta)(*_lattices(composition, delta, _finest(composition), _MOST))
    return _refined(composition, delta, _epsilon_at(delta), _coarse_epsilon(composition, delta))


def _coarse_epsilon(composition: Composition, delta: float) -> Bracket:
    """Bracket the smallest epsilon by the first pass alone."""
    if delta < _SMALLEST:
        return _bracket(0.0, math.inf)
    return _epsilon_at(delta)(*_lattices(composition, delta, _FIRST, 1 << 12))


def _epsilon_at(delta: float) -> Question:
    """Return the question for epsilon at `delta`."""
    return lambda lower, upper: _bracket(_largest_epsilon(lower, delta), _smallest_epsilon(upper, delta))


def _refined(composition: Composition, floor: float, answer: Question, first: Bracket) -> Bracket:
    """Return the answer on lattices fine enough for the tolerance, or as fine as the budget allows."""
    width = (first.upper - first.lower) / first.upper if first.upper else 0.0
    if width <= _TOLERANCE or math.isnan(width):
        return first
    long = max(1.0, (32 - math.log2(floor)) / _SHORT)
    resolution = min(_FIRST * math.sqrt(width / _TOLERANCE), _finest(composition) / long)
    if resolution < 1.5 * _FIRST:
        return first
    return first.intersect(answer(*_lattices(composition, floor, resolution, _MOST)))


def _lattices(composition: Composition, floor: float, resolution: float, most: int) -> tuple[Lattice, Lattice]:
    """Return a dominated and a dominating lattice of the whole composition, precise far below `floor`."""
    low, high = _merged(composition)
    spreads = {loss: deviation(loss) for loss in dict((*low, *high))}

    def composed(rounding: Rounding, parts: Parts) -> Lattice:
        return _lattice(rounding, parts, spreads, floor, resolution, most)

    return composed(DOMINATED, low), composed(DOMINATING, high)


def _lattice(
    rounding: Rounding, parts: Parts, spreads: dict[SimpleLoss, float], floor: float, resolution: float, most: int
) -> Lattice:
    """Return the composition of `parts` by one rounding."""
    events = sum(times for _, times in parts)
    composer = Composer(
        rounding=rounding,
        resolution=resolution,
        bits=8 * math.ceil((-math.log2(floor) + 48 + math.log2(events + 1)) / 8),
        tail=floor * 2.0**-30,
        most=most,
        deviation=math.sqrt(sum(times * spreads[loss] ** 2 for loss, times in parts)),
    )
    return composer.compose((loss, times, spreads[loss]) for loss, times in parts)


def _dominating(composition: Composition, floor: float) -> Lattice:
    """Return the dominating lattice of the first pass."""
    _, high = _merged(composition)
    return _lattice(DOMINATING, high, {loss: deviation(loss) for loss, _ in high}, floor, _FIRST, 1 << 12)


def _upper_delta(composition: Composition, epsilon: float) -> Bracket:
    """Bound delta(epsilon) from above by the first pass."""
    return _bracket(0.0, DOMINATING.delta(_dominating(composition, 1e-40), min(epsilon, 1e300)))


def _upper_epsilon(composition: Composition, delta: float) -> Bracket:
    """Bound the smallest epsilon from above by the first pass."""
    if delta < _SMALLEST:
        return _bracket(0.0, math.inf)
    return _bracket(0.0, _smallest_epsilon(_dominating(composition, delta), delta))


def _merged(composition: Composition) -> tuple[tuple[tuple[SimpleLoss, int], ...], ...]:
    """Return few losses that the composition dominates, and few that dominate it.

    Gaussian losses become one. Where a family has many members they are put into classes, of which every
    member counts as the smallest or as the largest. A choice dominates each of its options.
    """
    mu_low, mu_high = total_mu(composition)
    low: dict[SimpleLoss, int] = {}
    high: dict[SimpleLoss, int] = {}
    if mu_high > 0:
        low[GaussianLoss(mu=mu_low)] = high[GaussianLoss(mu=mu_high)] = 1
    families: dict[object, list[tuple[SimpleLoss, int]]] = {}
    for loss, times in composition.parts:
        if not isinstance(loss, GaussianLoss):
            key = type(loss), loss.delta if isinstance(loss, ApproximateLoss) else 0.0
            families.setdefault(key, []).append((loss, times))
    for members in families.values():
        for smallest, largest, times in _classes(members):
            least = max(smallest.options, key=deviation) if isinstance(smallest, ChoiceLoss) else smallest
            low[least] = low.get(least, 0) + times
            high[largest] = high.get(largest, 0) + times
    return tuple(low.items()), tuple(high.items())


def _classes(members: list[tuple[SimpleLoss, int]]) -> list[tuple[SimpleLoss, SimpleLoss, int]]:
    """Return classes of similar losses: the smallest, the largest, and how many."""
    events = sum(times for _, times in members)
    kinds = max(48, _KINDS // (events // len(members) + 1).bit_length())
    few = len(members) <= _JOINED and len({times for _, times in members}) <= 4
    if few or len(members) <= kinds or not isinstance(members[0][0], LaplaceLoss | ApproximateLoss):
        return [(loss, loss, times) for loss, times in members]
    ordered = sorted(members, key=lambda member: member[0].supremum)
    sizes = np.array([loss.supremum for loss, _ in ordered])
    edges = np.linspace(sizes[0], sizes[-1], kinds + 1)[1:]
    of = np.minimum(np.searchsorted(edges, sizes), kinds - 1)
    found = []
    for label in np.unique(of):
        held = [ordered[i] for i in np.flatnonzero(of == label)]
        found.append((held[0][0], held[-1][0], sum(times for _, times in held)))
    return found


def _smallest_epsilon(upper: Lattice, delta: float) -> float:
    """Return an epsilon at which the dominating lattice is at most `delta`, or infinity."""
    if DOMINATING.delta(upper, 0.0) <= delta:
        return 0.0
    near = max(_near(upper, delta), 0.0)
    for step in (1e-15, 1e-13, 1e-12, 1e-11, 1e-9, 1e-7, 1e-5, 1e-3):
        epsilon = near * (1 + step) + step * 1e-3
        if DOMINATING.delta(upper, epsilon) <= delta:
            return epsilon
    return math.inf


def _largest_epsilon(lower: Lattice, delta: float) -> float:
    """Return an epsilon at which the dominated lattice still exceeds `delta`, or 0."""
    if lower.infinite > delta * 2.0**lower.bits and DOMINATED.delta(lower, 1e308) > delta:
        return math.inf
    near = _near(lower, delta)
    for step in (1e-15, 1e-13, 1e-12, 1e-11, 1e-9, 1e-7, 1e-5, 1e-3):
        epsilon = near * (1 - step) - step * 1e-3
        if epsilon > 0 and DOMINATED.delta(lower, epsilon) > delta:
            return epsilon
    return 0.0


def _near(lattice: Lattice, delta: float) -> float:
    """Return in floating point where the lattice's curve crosses `delta`."""
    masses, losses = floats(lattice.masses, lattice.bits), positions(lattice)
    others = masses if lattice.others is None else floats(lattice.others, lattice.bits)
    low, high = min(0.0, float(losses[0])), max(float(losses[-1]), 0.0)
    goal = delta - math.ldexp(float(lattice.infinite), -lattice.bits)
    for _ in range(100):
        middle = (low + high) / 2
        if not low < middle < high:
            break
        first = int(np.searchsorted(losses, middle - 1.0))
        gains = masses[first:] - others[first:] * np.exp(middle - losses[first:])
        if float(np.maximum(gains, 0.0).sum()) <= goal:
            high = middle
        else:
            low = middle
    return high


def _bracket(lower: float, upper: float) -> Bracket:
    """Return a bracket of this engine."""
    return Bracket(lower=lower, upper=upper, engines=("verified",))


def _covers(composition: Composition) -> bool:
    """Return whether a closed form is missing, and not too many parts resist being put into classes."""
    if any(loss.infinite_mass >= 1 for loss, _ in composition.parts):
        return False  # nothing finite is left to compose: basic composition is exact
    others = sum(isinstance(loss, ChoiceLoss | DiscreteLoss | SampledGaussianLoss) for loss, _ in composition.parts)
    return others <= _KINDS // 2 and not all(isinstance(loss, GaussianLoss) for loss, _ in composition.parts)


VERIFIED = Engine(name="verified", covers=_covers, delta=_delta, epsilon=_epsilon)

COARSE = Engine(name="verified", covers=_covers, delta=_coarse_delta, epsilon=_coarse_epsilon)
"""The first pass alone: as sound, wider, and several times quicker, for searches."""

UPPER = Engine(name="verified", covers=_covers, delta=_upper_delta, epsilon=_upper_epsilon)
"""The upper side of the first pass, for searches that ask for nothing else."""
