"""The tilted engine: brackets from a proved transform in doubles, on numpy alone.

Losses are put on knots of one width, above for the upper side and below for the lower one (`grid`), weighted by
e^(tilt loss) so that a delta of 1e-30 is as easy as one of 0.1, and composed by a power of a Fourier transform whose
rounding is bounded (`transform`, `law`). What lies outside the window is bounded by Chernoff's inequality (`tails`).
The choice of tilt, width and window (`steering`, `window`) enters no proof.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache

import numpy as np

from dpaudit.engines.basic import total_infinite_mass
from dpaudit.engines.engine import Ends, Engine
from dpaudit.engines.gaussian import all_gaussian
from dpaudit.engines.law import Weights, composed, weighted
from dpaudit.engines.limits import gridded
from dpaudit.engines.pairs.finite_pair import FinitePair
from dpaudit.engines.pairs.grid import Grid, dominated, dominating
from dpaudit.engines.pairs.looks import met_above, met_below, reach, reach_above
from dpaudit.engines.pairs.merging import CLASSED, Parts, merged
from dpaudit.engines.precision import DEFAULT, Precision
from dpaudit.engines.tilted.classes import few_kinds
from dpaudit.engines.tilted.curve import Frame, LowerCurve, UpperCurve
from dpaudit.engines.tilted.once import delta_once, epsilon_once, is_met_once
from dpaudit.engines.tilted.steering import COARSE, Aim, Atoms, aimed_at_delta, aimed_at_epsilon
from dpaudit.engines.tilted.tails import log_mass_beyond
from dpaudit.engines.tilted.window import Window, coarse, window
from dpaudit.model.losses import Composition, SampledGaussianLoss, SimpleLoss

_SMALLEST = 1e-280  # the smallest delta that is resolved
_FLOOR = 1e-40  # the smallest delta at an epsilon that is resolved well
_BELOW = 1e-2  # of an estimated delta, which may be that much smaller
_AIMS = 3  # times that a tail is cut
_FARTHER = 1e6  # how far an expected delta may lie from that at which tails were cut
_FINER = 8  # times the cells, where they spread the sum
_ATOMS = 1 / 16  # of the knots, which are cells enough
_KINDS = 64  # losses that are told apart; of more, those with a size are put into classes
_OTHERS = 256  # losses without a size, which are told apart
_ANSWERS = 32  # that are kept: a certificate asks for its ends again to find the pair that attains them
_RAREST = 2.0**-53  # of a rate: below, losses that a sample has are smaller than what rounds them
_LONGEST = 1 << 18  # knots of one loss that is made of others, on either side
Cut = Sequence[tuple[FinitePair, int]]


def _upper(parts: Cut, view: Window) -> UpperCurve:
    """Return the upper curve on a window."""
    grids = [(dominating(pair, view.width), times) for pair, times in parts]
    weights = [weighted(grid.masses, view.tilt, times, upwards=True) for grid, times in grids]
    frame = _frame(grids, view)
    infinite = -math.fsum(times * math.log1p(-min(grid.infinite, 1 - 1e-16)) for grid, times in grids)
    return UpperCurve(
        frame=frame,
        law=composed(weights, frame.first, view.size, frame.size),
        infinite=-math.expm1(-infinite * (1 + 1e-14)) * (1 + 1e-14),
        log_tail=_log_beyond(weights, frame, view, above=True),
    )


def _lower(parts: Cut, view: Window, infinite: float) -> LowerCurve:
    """Return the lower curve on a window."""
    grids = [(dominated(pair, view.width), times) for pair, times in parts]
    weights = [weighted(grid.masses, view.tilt, times, upwards=False) for grid, times in grids]
    others = [weighted(grid.others, view.tilt, times, upwards=True) for grid, times in grids]
    frame = _frame(grids, view)
    over, under = (_log_beyond(weights, frame, view, above=above) for above in (True, False))
    return LowerCurve(
        frame=frame,
        law=composed(weights, frame.first, view.size, frame.size),
        other=composed(others, frame.first, view.size, frame.size),
        infinite=infinite,
        log_alias=float(np.logaddexp(over, under)),
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
    return log_mass_beyond(parts, knot, frame.centre, view.aim.deviation / view.width, above=above)


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A composition, what to aim the tilt at, a probability far below which nothing counts, and the precision."""

    composition: Composition
    steer: Callable[[Sequence[Atoms]], Aim]
    floor: float
    precision: Precision

    def curves(self) -> tuple[LowerCurve, UpperCurve]:
        """Return both curves."""
        low, high = self._parts()
        view, tail = self._view(high, reach)
        below = tuple((met_below(loss, view.width, tail), times) for loss, times in low)
        above = tuple((met_above(loss, view.width, tail), times) for loss, times in high)
        return _lower(below, view, total_infinite_mass(Composition(low))[0]), _upper(above, view)

    def upper(self) -> UpperCurve:
        """Return the upper curve alone."""
        _, high = self._parts()
        view, tail = self._view(high, reach_above)
        return _upper(tuple((met_above(loss, view.width, tail), times) for loss, times in high), view)

    @property
    def _joined(self) -> bool:
        """Return whether classes stand for the losses."""
        return len(self.composition.parts) > _KINDS

    def _parts(self) -> tuple[Parts, Parts]:
        """Return the losses that are put on knots, of the lower side and of the upper one."""
        if not self._joined:
            return merged(self.composition)
        return few_kinds(self.composition, self.precision.joined)

    def _view(self, parts: Parts, reach_of: Callable[[SimpleLoss, float], float]) -> tuple[Window, float]:
        """Return the window for the question, and the probability of a tail that may be cut off one loss."""
        atoms, aim, tail = self._aimed(parts)
        precision = replace(self.precision, most=self.precision.joined) if self._joined else self.precision
        longest = max((reach_of(loss, tail) for loss, _ in parts), default=0.0)
        return window(parts, atoms, aim, precision, longest / _LONGEST), tail

    def _aimed(self, parts: Parts) -> tuple[tuple[Atoms, ...], Aim, float]:
        """Return the parts in floating point, the aim, and the probability of a tail that is cut off one loss.

        A tail that is far rarer than what is asked for may hide the saddle: it is cut anew at what the aim expects.
        """
        floor = self.floor
        aimed = self._aimed_below(parts, floor)
        for _ in range(_AIMS - 1):
            expected = max(self.floor, math.exp(min(aimed[1].log_delta, 0.0)) * _BELOW)
            if floor / _FARTHER <= expected <= floor * _FARTHER:
                break
            floor = expected
            aimed = self._aimed_below(parts, floor)
        return aimed

    def _aimed_below(self, parts: Parts, floor: float) -> tuple[tuple[Atoms, ...], Aim, float]:
        """Return the same for one loss cut where its tail is far rarer than `floor`.

        Cells spread the sum: of closed losses, put on many as quickly, they are made finer until it is little.
        """
        tail = max(floor * (1e-7 / self.composition.events), 1e-290)
        cells = max(200, COARSE // len(parts))
        atoms = coarse(parts, tail, cells)
        target = self.steer(atoms)
        closed = all(isinstance(loss, CLASSED) for loss, _ in parts)
        while target.spread and closed and cells * len(parts) < self.precision.most * _ATOMS:
            cells *= _FINER
            atoms = coarse(parts, tail, cells)
            target = self.steer(atoms)
        return atoms, target, tail


def _for_epsilon(composition: Composition, delta: float, precision: Precision) -> Question | None:
    """Return the question for the smallest epsilon with delta(epsilon) <= delta; None where delta is too small."""
    finite = delta - total_infinite_mass(composition)[1]
    if not finite >= _SMALLEST:
        return None
    return Question(
        composition=composition, steer=lambda atoms: aimed_at_delta(atoms, finite), floor=finite, precision=precision
    )


def _for_delta(composition: Composition, epsilon: float, precision: Precision) -> Question:
    """Return the question for delta(epsilon)."""
    return Question(
        composition=composition,
        steer=lambda atoms: aimed_at_epsilon(atoms, epsilon),
        floor=_FLOOR,
        precision=replace(precision, widest=0),
    )


def curves_near(
    composition: Composition, epsilon: float, precision: Precision = DEFAULT
) -> tuple[LowerCurve, UpperCurve] | None:
    """Return both curves, each sound everywhere and sharp near `epsilon`; None where no transform covers it."""
    return _for_delta(composition, epsilon, precision).curves() if _is_summed(composition) else None


def upper_near(composition: Composition, epsilon: float, precision: Precision = DEFAULT) -> UpperCurve | None:
    """Return the upper curve of `curves_near` alone."""
    return _for_delta(composition, epsilon, precision).upper() if _is_summed(composition) else None


@lru_cache(maxsize=_ANSWERS)
def _delta(composition: Composition, epsilon: float, precision: Precision) -> Ends:
    """Bound delta(epsilon)."""
    if is_met_once(composition):
        return delta_once(composition, epsilon, precision)
    question = _for_delta(composition, epsilon, precision)
    if precision.above_alone:
        return 0.0, question.upper().delta(epsilon)
    lower, upper = question.curves()
    return lower.delta(epsilon), upper.delta(epsilon)


@lru_cache(maxsize=_ANSWERS)
def _epsilon(composition: Composition, delta: float, precision: Precision) -> Ends:
    """Bound the smallest epsilon with delta(epsilon) <= delta."""
    if is_met_once(composition):
        return epsilon_once(composition, delta, precision)
    question = _for_epsilon(composition, delta, precision)
    if question is None:
        return 0.0, math.inf
    if precision.above_alone:
        return 0.0, question.upper().epsilon(delta)
    lower, upper = question.curves()
    return lower.epsilon(delta), upper.epsilon(delta)


def _covers(composition: Composition) -> bool:
    """Return whether one loss made of others is met once, or the parts can be summed."""
    return gridded(composition) if is_met_once(composition) else _is_summed(composition)


def _is_summed(composition: Composition) -> bool:
    """Return whether the parts are few, or so many that they become classes, and nothing closed or counted does it."""
    if all_gaussian(composition):
        return False
    if all(isinstance(loss, SampledGaussianLoss) and loss.rate < _RAREST for loss, _ in composition.parts):
        return False  # by moments
    if sum(not isinstance(loss, CLASSED) for loss, _ in composition.parts) > _OTHERS:
        return False
    if composition.events < 2 or any(loss.infinite_mass >= 1 for loss, _ in composition.parts):
        return False
    return gridded(composition)


TILTED = Engine(name="tilted", covers=_covers, delta_ends=_delta, epsilon_ends=_epsilon)
