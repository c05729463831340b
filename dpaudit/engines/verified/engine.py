"""The verified engine: upper and lower bounds in exact integers, true statements about real numbers.

Every loss is cut into cells (`cells`), rounded to a lattice that dominates it and to one that it dominates
(`dominating`, `dominated`), and composed by exact products of integer polynomials (`composer`). Nothing is
transformed in floating point, so that the bounds hold for any number of events and down to delta = 1e-30
and below. A coarse pass shows what width is needed; a second one delivers it.
"""

import math
from collections.abc import Callable, Sequence

from dpaudit.engines.engine import Engine
from dpaudit.engines.limits import gridded, is_derived
from dpaudit.engines.verified.composer import Composer
from dpaudit.engines.verified.crossing import epsilon_above, epsilon_below
from dpaudit.engines.verified.cutting import FINEST_CHOICE
from dpaudit.engines.verified.discretised_loss import deviation
from dpaudit.engines.verified.dominated import DOMINATED
from dpaudit.engines.verified.dominating import DOMINATING
from dpaudit.engines.verified.lattice import Lattice, Rounding
from dpaudit.engines.verified.merging import CLASSED, MOST_JOINED, MOST_KINDS, Parts, merged
from dpaudit.engines.verified.polynomial import by_python, fastest
from dpaudit.model.bracket import Bracket
from dpaudit.model.losses import (
    ChoiceLoss,
    Composition,
    DiscreteLoss,
    GaussianLoss,
    MixtureLoss,
    SampledGaussianLoss,
    SimpleLoss,
)

Question = Callable[[Lattice, Lattice], Bracket]
_FIRST = 24.0  # knots per standard deviation in the first pass
_TOLERANCE = 4e-7  # relative width of a bracket that needs no finer pass
_SHORT = 70.0  # bits of a probability beyond which the finest lattice has fewer knots, for the same work
_SMALLEST = 1e-200  # the smallest delta that is resolved
_MOST = 1 << 15  # knots of one lattice
_COPIES = 32  # of each loss, from which on powers need few products


def _finest(composition: Composition) -> float:
    """Return the finest resolution that the last pass may use: fewer knots where there are more products.

    Sampled losses have long tails for their deviation, and need many knots at any resolution. Choices are cut no finer
    than `FINEST_CHOICE`.
    """
    products = _products(merged(composition)[1])
    sampled = any(isinstance(loss, SampledGaussianLoss | MixtureLoss) for loss, _ in composition.parts)
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
    if len(composition.parts) > MOST_KINDS:  # a first pass would cost as much as the last
        return _epsilon_at(delta)(*_lattices(composition, delta, _finest(composition), _MOST))
    return _refined(composition, delta, _epsilon_at(delta), _coarse_epsilon(composition, delta))


def _coarse_epsilon(composition: Composition, delta: float) -> Bracket:
    """Bracket the smallest epsilon by the first pass alone."""
    if delta < _SMALLEST:
        return _bracket(0.0, math.inf)
    return _epsilon_at(delta)(*_lattices(composition, delta, _FIRST, 1 << 12))


def _epsilon_at(delta: float) -> Question:
    """Return the question for epsilon at `delta`."""
    return lambda lower, upper: _bracket(epsilon_below(lower, delta), epsilon_above(upper, delta))


def _refined(composition: Composition, floor: float, answer: Question, first: Bracket) -> Bracket:
    """Return the answer on lattices fine enough for the tolerance, or as fine as the budget allows."""
    width = (first.upper - first.lower) / first.upper if first.upper else 0.0
    if width <= _TOLERANCE or math.isnan(width):
        return first
    resolution = min(_FIRST * math.sqrt(width / _TOLERANCE), _finest(composition) / _length(floor))
    if resolution < 1.5 * _FIRST:
        return first
    return first.intersect(answer(*_lattices(composition, floor, resolution, _MOST)))


def _lattices(composition: Composition, floor: float, resolution: float, most: int) -> tuple[Lattice, Lattice]:
    """Return a dominated and a dominating lattice of the whole composition, precise far below `floor`."""
    low, high = merged(composition)
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


def _dominating(composition: Composition, floor: float, resolution: float = _FIRST, most: int = 1 << 12) -> Lattice:
    """Return the dominating lattice of the whole composition, that of the first pass by default."""
    _, high = merged(composition)
    return _lattice(DOMINATING, high, {loss: deviation(loss) for loss, _ in high}, floor, resolution, most)


def _proved_delta(composition: Composition, epsilon: float) -> Bracket:
    """Bound delta(epsilon) from above by the first pass and by the finest one."""
    first = _upper_delta(composition, epsilon)
    floor = min(max(first.upper * 1e-3, _SMALLEST), 1.0)
    lattice = _dominating(composition, floor, _finest(composition) / _length(floor), _MOST)
    return first.intersect(_bracket(0.0, DOMINATING.delta(lattice, min(epsilon, 1e300))))


def _proved_epsilon(composition: Composition, delta: float) -> Bracket:
    """Bound the smallest epsilon from above by the finest pass."""
    if delta < _SMALLEST:
        return _bracket(0.0, math.inf)
    lattice = _dominating(composition, delta, _finest(composition) / _length(delta), _MOST)
    return _bracket(0.0, epsilon_above(lattice, delta))


def _length(floor: float) -> float:
    """Return how much longer the probabilities are, far below `floor`, than the finest lattice allows; 1 or more."""
    return max(1.0, (32 - math.log2(floor)) / _SHORT)


def _upper_delta(composition: Composition, epsilon: float) -> Bracket:
    """Bound delta(epsilon) from above by the first pass."""
    return _bracket(0.0, DOMINATING.delta(_dominating(composition, 1e-40), min(epsilon, 1e300)))


def _upper_epsilon(composition: Composition, delta: float) -> Bracket:
    """Bound the smallest epsilon from above by the first pass."""
    if delta < _SMALLEST:
        return _bracket(0.0, math.inf)
    return _bracket(0.0, epsilon_above(_dominating(composition, delta), delta))


def _bracket(lower: float, upper: float) -> Bracket:
    """Return a bracket of this engine."""
    return Bracket(lower=lower, upper=upper, engines=("verified",))


def _covers(composition: Composition) -> bool:
    """Return whether a closed form is missing, and not too many parts resist being put into classes."""
    if any(is_derived(loss) for loss, _ in composition.parts):
        return False  # a pair above or below, in doubles, is the tilted engine's
    if not gridded(composition) or any(loss.infinite_mass >= 1 for loss, _ in composition.parts):
        return False  # nothing finite is left to compose: basic composition is exact
    kinds, often = len(composition.parts), composition.events >= _COPIES * len(composition.parts)
    if kinds > MOST_JOINED and not often:
        return False  # too many products
    if kinds > (MOST_JOINED if often else MOST_KINDS) and all(
        isinstance(loss, CLASSED) for loss, _ in composition.parts
    ):
        return False  # classes of losses are the tilted engine's
    others = sum(
        isinstance(loss, ChoiceLoss | DiscreteLoss | MixtureLoss | SampledGaussianLoss) for loss, _ in composition.parts
    )
    return others <= MOST_KINDS // 2 and not all(isinstance(loss, GaussianLoss) for loss, _ in composition.parts)


VERIFIED = Engine(name="verified", covers=_covers, delta=_delta, epsilon=_epsilon)

COARSE = Engine(name="verified", covers=_covers, delta=_coarse_delta, epsilon=_coarse_epsilon)
"""The first pass alone: as sound, wider, and several times quicker, for searches."""

UPPER = Engine(name="verified", covers=_covers, delta=_upper_delta, epsilon=_upper_epsilon)
"""The upper side of the first pass, for searches that ask for nothing else."""

PROVED = Engine(name="verified", covers=_covers, delta=_proved_delta, epsilon=_proved_epsilon)
"""The upper side alone, on the finest lattice, for one last proof."""
