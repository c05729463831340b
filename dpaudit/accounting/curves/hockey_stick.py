"""The curve h(x) = sup over events S of P(S) - x Q(S), x = e^epsilon, over all neighbours, between proved knots.

Three facts extend the brackets at the knots to every epsilon: h is convex in x; it falls, and by 1 at most where x
grows by 1; and as both orders of the neighbours count, h(x) = 1 - x + x h(1/x).
"""

import math
from dataclasses import dataclass

import numpy as np

from dpaudit.accounting.accountant import bracket_delta, bracket_epsilon
from dpaudit.accounting.normal_form import NormalForm, both_orders
from dpaudit.engines import CLOSED, QUICK, Precision, is_closed
from dpaudit.engines.transform import Floats

POINTS = 48
_REACHED = (1e-12, 1e-9, 1e-6, 1e-3)
_LARGEST, _DEFAULT, _CLOSEST = 600.0, 10.0, 1e-7
_NEAR = 1e-13  # relative; what a handful of floating-point operations can do to a term


@dataclass(frozen=True, slots=True, kw_only=True)
class HockeyStick:
    """Bounds on h at e^epsilon for increasing `epsilons`, the first of which is 0; h is the worst of both orders.

    Raises: ValueError: fewer than two knots, knots out of order, or an empty bracket.
    """

    epsilons: tuple[float, ...]
    lower: tuple[float, ...]
    upper: tuple[float, ...]

    def __post_init__(self) -> None:
        ordered = len(self.epsilons) > 1 and all(np.diff(self.epsilons) > 0) and self.epsilons[0] == 0
        if not ordered or not all(low <= high for low, high in zip(self.lower, self.upper, strict=True)):
            raise ValueError("Expected brackets at two increasing epsilons or more, from 0 on.")

    def above(self, epsilon: Floats) -> Floats:
        """Return upper bounds on h at e^epsilon, of any sign: chords between knots, the last bound beyond them."""
        size = np.abs(epsilon)
        x, knots = np.exp(np.minimum(size, _LARGEST)), np.exp(self.epsilons)
        right = np.interp(x, knots, self.upper) * (1 + _NEAR) + 1e-300
        right = np.where(size >= self.epsilons[-1], self.upper[-1], right)
        left = -np.expm1(-size) + np.exp(-size) * right
        return np.minimum(1.0, np.where(epsilon < 0, left * (1 + _NEAR), right))

    def below(self, epsilon: Floats) -> Floats:
        """Return lower bounds on h at e^epsilon for an epsilon of 0 or more: h falls, so that of the next knot."""
        return np.append(self.lower, 0.0)[np.searchsorted(self.epsilons, epsilon)]

    def vertices(self) -> tuple[Floats, Floats]:
        """Return the corners (x, h) of a curve that h lies above everywhere, in growing x from 0 on.

        Between two knots h lies above the lines through the two knots on either side, taken further; a curve that is
        flat between the last two knots stays so.
        """
        x, low, high = self._both_sides()
        corners = [(float(a), float(b)) for a, b in zip(x, low, strict=True)]
        for i in range(len(x) - 1):
            left = _slope(x, low, high, i, i - 1) if i else -1.0
            right = _slope(x, low, high, i + 1, i + 2) if i + 2 < len(x) else 0.0
            run = x[i + 1] - x[i]
            step = float((low[i + 1] - low[i] - right * run) / (left - right)) if left < right else 0.0
            if 0 < step < run:
                height = min(low[i] + left * step, low[i + 1] - right * (run - step))
                blur = _NEAR * (high[max(0, i - 1)] + high[i] - left * step - right * (run - step))
                corners.append((float(x[i] + step), max(0.0, float(height - blur))))
        last = _slope(x, low, high, len(x) - 1, len(x) - 2)
        if last < 0:
            corners.append((float(x[-1] - low[-1] / last * (1 - _NEAR)), 0.0))
        corners.sort()
        places, heights = np.asarray(corners, np.float64).T
        return places, heights

    def _both_sides(self) -> tuple[Floats, Floats, Floats]:
        """Return all knots x with the bounds there, those below 1 by reversal."""
        epsilons, low, high = (np.asarray(part, np.float64) for part in (self.epsilons, self.lower, self.upper))
        x, back = np.exp(epsilons), np.exp(-epsilons[:0:-1])
        shortfall = -np.expm1(-epsilons[:0:-1])
        lows = (shortfall + back * low[:0:-1]) * (1 - _NEAR)
        highs = (shortfall + back * high[:0:-1]) * (1 + _NEAR)
        places = np.concatenate([[0.0], back, x])
        return places, np.concatenate([[1.0], lows, low]), np.concatenate([[1.0], highs, high])


def _slope(x: Floats, low: Floats, high: Floats, at: int, beside: int) -> float:
    """Return the slope of the line from above the knot `beside` to below the knot `at`, in [-1, 0], on its safe side.

    To the right of a knot a steeper line lies lower, to the left a flatter one.
    """
    rise, run = float(low[at] - high[beside]), float(x[at] - x[beside])
    return max(-1.0, min(0.0, rise / run) * (1 + _NEAR if run > 0 else 1 - _NEAR))


def hockey_stick(
    form: NormalForm, *, violated: bool, points: int = POINTS, also: tuple[float, ...] = ()
) -> HockeyStick:
    """Return brackets at about `points` epsilons, and at those of `also`, for the worst neighbours in either order.

    With a violated condition nothing is proved from above: the upper ends are 1.
    Raises: UnsupportedError: no engine covers what `form` holds.
    """
    end = reach(form)
    steps = {end * step / (points - 1) for step in range(points)} | {e for e in also if 0 <= e <= _LARGEST}
    epsilons = _apart(sorted(steps))
    engines = engines_for(form)
    brackets = [bracket_delta(form, epsilon, engines) for epsilon in epsilons]
    return HockeyStick(
        epsilons=epsilons,
        lower=tuple(bracket.lower for bracket in brackets),
        upper=tuple(1.0 if violated else bracket.upper for bracket in brackets),
    )


def _apart(epsilons: list[float]) -> tuple[float, ...]:
    """Return increasing numbers without those that lie next to the one before."""
    spaced = [epsilons[0]]
    for epsilon in epsilons[1:]:
        if epsilon - spaced[-1] > _CLOSEST * epsilons[-1]:
            spaced.append(epsilon)
    return tuple(spaced)


def engines_for(form: NormalForm) -> Precision:
    """Return closed forms where one covers every composition, and the engines for searches elsewhere."""
    closed = all(map(is_closed, both_orders((*form.upper, *form.lower))))
    return QUICK.by(CLOSED.name) if closed else QUICK


def reach(form: NormalForm) -> float:
    """Return an epsilon beyond which next to nothing is left of a curve, apart from what is infinite."""
    engines = engines_for(form)
    epsilons = (bracket_epsilon(form, delta, engines).upper for delta in _REACHED)
    furthest = next((epsilon for epsilon in epsilons if 0 < epsilon < math.inf), _DEFAULT)
    return min(furthest, _LARGEST)
