"""The tilted engine: brackets from a proved transform in doubles, on numpy alone.

Losses are put on knots of one width, above for the upper side and below for the lower one (`grid`), weighted by
e^(tilt loss) so that a delta of 1e-30 is as easy as one of 0.1, and composed by a power of a Fourier transform whose
rounding is bounded (`transform`, `law`). What lies outside the window is bounded by Chernoff's inequality (`tails`). The
choice of tilt, width and window (`steering`, `window`) enters no proof.
"""

import math
from collections.abc import Callable, Sequence
from fractions import Fraction

import numpy as np

from dpaudit.engines.basic import total_infinite_mass
from dpaudit.engines.engine import Engine
from dpaudit.engines.tilted.curve import Frame, LowerCurve, UpperCurve
from dpaudit.engines.tilted.grid import Grid, dominated, dominating
from dpaudit.engines.tilted.law import Weights, composed, weighted
from dpaudit.engines.tilted.steering import Aim, Atoms, aimed_at_delta, aimed_at_epsilon
from dpaudit.engines.tilted.tails import log_mass_beyond
from dpaudit.engines.tilted.window import Effort, Window, coarse, window
from dpaudit.engines.verified.discretised_loss import cut
from dpaudit.engines.verified.merging import Parts, merged
from dpaudit.model.bracket import Bracket
from dpaudit.model.losses import ChoiceLoss, Composition, GaussianLoss

_SMALLEST = 1e-300
_KINDS = 64
_EVENTS = 10**9
_FULL = Effort(epsilon=2e-5, delta=2e-4, most=1 << 19)
_QUICK = Effort(epsilon=1e-3, delta=5e-3, most=1 << 15)


def _upper(parts: Parts, view: Window, tail: float) -> UpperCurve:
    """Return the upper curve on a window."""
    grids = [(dominating(cut(loss, view.width, tail), view.width), times) for loss, times in parts]
    held = [weighted(grid.masses, view.tilt, times, upwards=True) for grid, times in grids]
    frame = _frame(grids, view)
    infinite = -math.fsum(times * math.log1p(-min(grid.infinite, 1 - 1e-16)) for grid, times in grids)
    return UpperCurve(
        frame=frame,
        law=composed(held, frame.first, view.size, frame.size),
        infinite=-math.expm1(-infinite * (1 + 1e-14)) * (1 + 1e-14),
        log_tail=_log_beyond(held, frame, view, above=True),
    )


def _lower(parts: Parts, view: Window, tail: float, infinite: float) -> LowerCurve:
    """Return the lower curve on a window."""
    grids = [(dominated(cut(loss, view.width, tail), view.width), times) for loss, times in parts]
    held = [weighted(grid.masses, view.tilt, times, upwards=False) for grid, times in grids]
    others = [weighted(grid.others, view.tilt, times, upwards=True) for grid, times in grids]
    frame = _frame(grids, view)
    outside = [_log_beyond(held, frame, view, above=above) for above in (True, False)]
    return LowerCurve(
        frame=frame,
        law=composed(held, frame.first, view.size, frame.size),
        other=composed(others, frame.first, view.size, frame.size),
        infinite=infinite,
        log_alias=float(np.logaddexp(*outside)),
    )


def _frame(grids: Sequence[tuple[Grid, int]], view: Window) -> Frame:
    """Return the knots of the sum that lie in the window."""
    origin = sum((grid.origin * times for grid, times in grids), start=Fraction(0))
    first = max(0, math.floor((Fraction(view.bottom) - origin) / Fraction(view.width)))
    last = sum((len(grid.masses) - 1) * times for grid, times in grids)
    size = max(1, min(view.size, last - first + 1))
    centre = round((Fraction(view.aim.mean) - origin) / Fraction(view.width))
    return Frame(origin=origin, width=view.width, tilt=view.tilt, first=first, size=size, centre=centre)


def _log_beyond(parts: Sequence[Weights], frame: Frame, view: Window, *, above: bool) -> float:
    """Return the logarithm of a bound on the weights above or below the window."""
    knot = frame.first + frame.size if above else frame.first - 1
    if not 0 <= knot <= sum((len(part.weights) - 1) * part.times for part in parts):
        return -math.inf
    return log_mass_beyond(parts, knot, frame.centre, view.aim.deviation / view.width)


Steering = Callable[[Sequence[Atoms]], Aim]


def _curves(composition: Composition, steer: Steering, floor: float, effort: Effort) -> tuple[LowerCurve, UpperCurve]:
    """Return both curves of a composition."""
    low, high = merged(composition)
    tail = max(floor * 1e-7 / composition.events, 1e-290)
    atoms = coarse(high, tail)
    view = window(high, atoms, steer(atoms), effort)
    infinite = total_infinite_mass(composition)[0]
    return _lower(low, view, tail, infinite), _upper(high, view, tail)


def _epsilon_within(effort: Effort) -> Callable[[Composition, float], Bracket]:
    """Return the function that brackets the smallest epsilon with delta(epsilon) <= delta."""

    def epsilon(composition: Composition, delta: float) -> Bracket:
        finite = delta - total_infinite_mass(composition)[1]
        if not finite >= _SMALLEST:
            return _bracket(0.0, math.inf)
        lower, upper = _curves(composition, lambda atoms: aimed_at_delta(atoms, finite), finite, effort)
        return _bracket(lower.epsilon(delta), upper.epsilon(delta))

    return epsilon


def _delta_within(effort: Effort) -> Callable[[Composition, float], Bracket]:
    """Return the function that brackets delta(epsilon)."""

    def delta(composition: Composition, epsilon: float) -> Bracket:
        lower, upper = _curves(composition, lambda atoms: aimed_at_epsilon(atoms, epsilon), 1e-30, effort)
        return _bracket(lower.delta(epsilon), upper.delta(epsilon))

    return delta


def _bracket(lower: float, upper: float) -> Bracket:
    """Return a bracket of this engine."""
    return Bracket(lower=lower, upper=upper, engines=("tilted",))


def _covers(composition: Composition) -> bool:
    """Return whether the parts are few, none of them a choice, and not all Gaussian."""
    if any(isinstance(loss, ChoiceLoss) or loss.infinite_mass >= 1 for loss, _ in composition.parts):
        return False
    few = len(composition.parts) <= _KINDS and 1 < composition.events <= _EVENTS
    return few and not all(isinstance(loss, GaussianLoss) for loss, _ in composition.parts)


TILTED = Engine(name="tilted", covers=_covers, delta=_delta_within(_FULL), epsilon=_epsilon_within(_FULL))
