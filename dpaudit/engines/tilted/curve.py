"""The curve delta(epsilon) of a composed law, from above or from below.

From above: masses m_K of losses l_K give the sum of m_K (1 - e^(epsilon - l_K)) over l_K > epsilon, and what lies
above the window counts as infinite. From below: any set S of labels shows P(S) - e^epsilon Q(S); the sets tried are
the knots of the window from a threshold on.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from dpaudit.engines.law import Law
from dpaudit.engines.transform import Floats

_UNIT = 2.0**-53
_FAR = 340.0  # exponents up to which a crossing is looked for
_LEAST = 1e-290  # covers what underflows
_HALVINGS = 40
_USELESS = 50.0  # how far below epsilon a threshold gains nothing
_NEAR = 64  # knots around a crossing in which the best threshold lies
_STEPS = (1e-14, 1e-12, 1e-10, 1e-8, 1e-6, 1e-4, 1e-3, 1e-2, 1e-1)
"""Relative steps from where floating point puts a crossing."""
_CLOSE, _REFINED = 1e-6, 4  # the largest step that is close enough, and how often the way to a larger one is halved


@dataclass(frozen=True, slots=True, kw_only=True)
class Frame:
    """Where the knots of a window lie: knot k at the loss origin + k width; `tilt` is the weight's, per knot.

    No mass lies below knot 0; the weighted sum has its mean near knot `centre`.
    """

    origin: Fraction
    width: float
    tilt: float
    first: int
    size: int
    centre: int

    def knot_above(self, epsilon: float) -> int:
        """Return the first knot of the window whose loss exceeds `epsilon`, or the one after its last."""
        knot = math.floor((Fraction(epsilon) - self.origin) / Fraction(self.width)) + 1
        return min(max(knot, self.first), self.end)

    @property
    def end(self) -> int:
        """The knot after the last one of the window."""
        return self.first + self.size

    def gaps(self, knot: int, epsilon: float, end: int | None = None) -> Floats:
        """Return loss - `epsilon` from `knot` to the `end` (of the window), each right to a relative 1e-15."""
        nearest = float(self.origin + Fraction(self.width) * knot - Fraction(epsilon))
        return np.asarray(nearest + self.width * np.arange((end or self.end) - knot), np.float64)

    def fading(self, knot: int, end: int | None = None) -> Floats:
        """Return e^(-tilt (k - knot)) from `knot` to the `end`, right to a relative 2e-13 where it is above 1e-290."""
        return np.asarray(np.exp(-self.tilt * np.arange((end or self.end) - knot)), np.float64)

    def first_that(self, holds: Callable[[float], bool]) -> tuple[float, float]:
        """Return two epsilons close together: the first does not hold, the second does.

        Edge cases: 0 for the first where no positive epsilon is known not to hold, infinity for the second where none
        in the window holds.
        """
        low, high = 0.0, float(self.origin + Fraction(self.width) * (self.end))
        if not holds(high):
            return low, math.inf
        for _ in range(_HALVINGS):
            middle = (low + high) / 2
            low, high = (low, middle) if holds(middle) else (middle, high)
        return low, high

    def log_scale(self, law: Law, knot: int) -> tuple[float, float]:
        """Return the logarithm of the mass that a coefficient 1 stands for at `knot`, and its rounding."""
        value = law.log_scale - self.tilt * knot
        return value, law.blur + 4 * _UNIT * (abs(law.log_scale) + abs(self.tilt * knot))


@dataclass(frozen=True, slots=True, kw_only=True)
class UpperCurve:
    """A bound on delta(epsilon) from above; `log_tail` bounds the weights above the window."""

    frame: Frame
    law: Law
    infinite: float
    log_tail: float

    def delta(self, epsilon: float) -> float:
        """Return an upper bound on delta at `epsilon`; 1 where that lies below the window."""
        return float(self.deltas(np.array([epsilon]))[0])

    def deltas(self, epsilons: Floats) -> Floats:
        """Return the same at each of many epsilons, in about the time that one takes.

        The weights w up to the next knot that is asked for are summed with their gains. For those beyond, the sums of w
        and of w e^(-loss) follow from the sums at that knot.
        """
        frame, knot = self.frame, self.frame.end
        mass = shrunk = 0.0  # from `knot` on, each relative to what it is there
        deltas = np.ones(len(epsilons))
        for i in np.argsort(-epsilons):
            epsilon = float(epsilons[i])
            start = frame.knot_above(epsilon)
            if start == frame.first and frame.first > 0:
                break
            coefficients = self.law.coefficients[start - frame.first : knot - frame.first]
            weights = np.maximum(coefficients + self.law.error, 0.0) * frame.fading(start, knot)
            payoff = float((weights * -np.expm1(-frame.gaps(start, epsilon, knot))).sum())
            passed = math.exp(-frame.tilt * (knot - start))
            if mass:
                gap = float(frame.origin + Fraction(frame.width) * knot - Fraction(epsilon))
                gain = max(0.0, mass - math.exp(-gap) * shrunk)
                payoff += passed * (gain + 8 * _UNIT * (frame.size + len(epsilons) + 999) * mass)
            deltas[i] = self._scaled(start, payoff * (1 + 4 * _UNIT * (frame.size + 999)))
            mass = float(weights.sum()) + mass * passed
            shrunk *= passed * math.exp(-frame.width * (knot - start))
            shrunk += float(weights @ np.exp(-frame.width * np.arange(knot - start)))
            knot = start
        return deltas

    def _scaled(self, start: int, payoff: float) -> float:
        """Return the bound on delta of a sum of weighted gains from a knot on."""
        frame = self.frame
        end = frame.tilt * (frame.end - start)
        if not max(self.log_tail - end, self.law.blur) < _FAR:
            return 1.0
        beyond = math.exp(self.log_tail - end) + _LEAST
        scale, blur = frame.log_scale(self.law, start)
        finite = math.exp(min(0.0, scale + blur + math.log((payoff + beyond) * (1 + 1e-12))))
        return min(1.0, (self.infinite + max(finite, math.nextafter(0, 1))) * (1 + 1e-15))

    def epsilon(self, delta: float) -> float:
        """Return an epsilon of 0 or more with delta(epsilon) at most `delta`, or infinity."""
        if self.delta(0.0) <= delta:
            return 0.0
        weights = self.law.coefficients
        near = _crossing(self.frame, self.law, weights, weights, delta - self.infinite)

        def after(step: float) -> float:
            return max(0.0, near * (1 + step) + step * self.frame.width)

        step = _smallest_step(lambda step: self.delta(after(step)) <= delta)
        return after(step) if step else self.frame.first_that(lambda epsilon: self.delta(epsilon) <= delta)[1]


@dataclass(frozen=True, slots=True, kw_only=True)
class LowerCurve:
    """A bound on delta(epsilon) from below; `log_alias` bounds the weights under P outside the window."""

    frame: Frame
    law: Law
    other: Law
    infinite: float
    log_alias: float

    def delta(self, epsilon: float) -> float:
        """Return a lower bound on delta at `epsilon`, by the best threshold a little below it or above."""
        frame = self.frame
        near = frame.knot_above(epsilon)
        start = max(frame.first, near - math.ceil(min(20 / frame.tilt, 2 / frame.width, frame.size)))
        start += int(np.searchsorted(frame.gaps(start, epsilon), -_USELESS))
        fading = frame.fading(start)
        masses = np.maximum(self.law.coefficients[start - frame.first :] - self.law.error, 0.0) * fading
        shift = self.other.log_scale - self.law.log_scale + self.law.blur + self.other.blur + 1e-14
        if not max(shift, self.log_alias, self.law.blur) < _FAR:  # nothing of this window tells the two laws apart
            return self.infinite
        factor = math.exp(shift)
        other = np.maximum(self.other.coefficients[start - frame.first :] + self.other.error, 0.0) * fading * factor
        gains = masses - other * np.exp(-frame.gaps(start, epsilon)) * (1 + 1e-12)
        alias = fading * math.exp(self.log_alias)
        best = int(np.argmax(np.cumsum(gains[::-1])[::-1] - alias)) if len(gains) else 0
        chosen = gains[best:]
        rounding = _UNIT * (len(chosen) + 9) * float(np.abs(chosen).sum()) + 1e-12 * float(masses[best:].sum())
        total = (float(chosen.sum()) - rounding - float(alias[best]) * 1.001) * (1 - 1e-12) if len(chosen) else 0.0
        if not total > 0:
            return self.infinite
        scale, blur = frame.log_scale(self.law, start)
        finite = math.exp(min(0.0, scale - blur + math.log(total))) * (1 - 1e-13)
        return self.infinite + finite * (1 - 1e-15) if finite > 1e-300 else self.infinite

    def epsilon(self, delta: float) -> float:
        """Return an epsilon with delta(epsilon) above `delta`, or 0; infinity where the infinite mass exceeds it."""
        if self.infinite > delta:
            return math.inf
        others = self.other.coefficients * math.exp(min(self.other.log_scale - self.law.log_scale, _FAR))
        near = _crossing(self.frame, self.law, self.law.coefficients, others, delta - self.infinite)

        def before(step: float) -> float:
            return near * (1 - step) - step * self.frame.width

        step = _smallest_step(lambda step: before(step) > 0 and self.delta(before(step)) > delta)
        return before(step) if step else self.frame.first_that(lambda epsilon: self.delta(epsilon) <= delta)[0]


def _smallest_step(holds: Callable[[float], bool]) -> float:
    """Return a step that holds, not much larger than the smallest one; 0 where none of `_STEPS` holds."""
    short = 0.0
    for step in _STEPS:
        if holds(step):
            break
        short = step
    else:
        return 0.0
    for _ in range(_REFINED if step > _CLOSE else 0):
        middle = (short + step) / 2
        short, step = (short, middle) if holds(middle) else (middle, step)
    return step


def _crossing(frame: Frame, law: Law, weights: Floats, others: Floats, delta: float) -> float:
    """Return in floating point the largest epsilon with P(S) - e^epsilon Q(S) = `delta`, S from some knot on.

    Looked for from the top, where no rounding of larger numbers hides a small one.
    """
    middle = min(max(frame.centre, frame.first), frame.end - 1)
    steps = np.arange(frame.size) - (middle - frame.first)
    fading = np.exp(np.clip(-frame.tilt * steps, -_FAR, _FAR))
    losses = frame.width * steps
    goal = math.exp(min(max(math.log(max(delta, 5e-324)) - frame.log_scale(law, middle)[0], -_FAR), _FAR))
    under_p = np.cumsum((weights * fading)[::-1])[::-1]
    with np.errstate(over="ignore", invalid="ignore"):  # a knot beyond floating point is not the one looked for
        under_q = np.cumsum((others * fading * np.exp(-np.clip(losses, -_FAR, _FAR)))[::-1])[::-1]
        reached = np.flatnonzero(under_p - under_q * np.exp(np.clip(losses, -_FAR, _FAR)) >= goal)
    if not len(reached):
        return 0.0
    near = slice(max(0, int(reached[-1]) - _NEAR), int(reached[-1]) + _NEAR + 1)
    excess = under_p[near] - goal
    positive = (excess > 0) & (under_q[near] > 0)
    base = float(frame.origin + Fraction(frame.width) * middle)
    return base + math.log(float((excess[positive] / under_q[near][positive]).max())) if positive.any() else 0.0
