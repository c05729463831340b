"""Upper bounds on the tail of the privacy loss: how often an output moves the odds of two neighbours by a given factor.

The loss of an output is L = ln(dP/dQ), and e^L is the factor by which the output moves the odds of one data set
against its neighbour. An (epsilon, delta) claim does not say that L exceeds epsilon with probability delta at most.
Three facts are used, for any pair of neighbours in any order, with h(y) its delta at epsilon = ln y.

* An event A = {L > epsilon} has P(A) > x Q(A) with x = e^epsilon. For y < x, h(y) >= P(A) - y Q(A) >= P(A)(1 - y/x).
  Hence P(L > epsilon) <= h(y) / (1 - y/x). For the one point of a bare claim: P(L > epsilon + t) <= delta / (1 - e^-t).
* Whatever is computed from an output has a curve that is nowhere higher, so that the same bound holds for it. A coarser
  output can have a heavier tail than the output itself: the bound is attained by publishing whether L exceeds ln y.
* A record that meets one Gaussian release, with a distance m of mu at most, has L normal with mean m^2/2 and variance
  m^2 in the output itself. P(L > epsilon) = Phi(m/2 - epsilon/m) grows with m where epsilon is not negative.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from scipy.special import log_ndtr

from dpaudit.accounting.accountant import bracket_delta
from dpaudit.accounting.normal_form import NormalForm
from dpaudit.engines import UPPERS
from dpaudit.model.bracket import smallest_epsilon
from dpaudit.model.losses import Composition, GaussianLoss

_ULP = 2.0**-52
_UPWARDS = 1 + 16 * _ULP
_POINTS = 24
_REFINED = 8

Points: TypeAlias = tuple[tuple[float, float], ...]
"""Pairs (epsilon, an upper bound on delta)."""


def tail_of_claim(delta: float, excess: float) -> float:
    """Return an upper bound on P(L > epsilon + excess) under any (epsilon, delta)-private mechanism.

    Guarantee: for both orders of the neighbours and for whatever is computed from the output; attained by one atom.
    Edge cases: 1 at excess 0, where a claim alone says nothing; 0 at delta 0.

    >>> round(tail_of_claim(1e-5, math.log(2)), 12)
    2e-05
    """
    if delta == 0:
        return 0.0
    share = -math.expm1(-excess)
    return min(1.0, delta / share * _UPWARDS) if share > 0 else 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class LossTail:
    """Bounds on P(L > epsilon) for a declaration; `points` are (epsilon, an upper bound on delta) along its curve.

    `single_gaussian` is the largest distance mu of a Gaussian release if a record meets one release of that kind and
    nothing else, else None.
    """

    points: Points
    single_gaussian: float | None = None

    def above(self, epsilon: float) -> float:
        """Return an upper bound on P(L > epsilon), for the outputs and for whatever is computed from them.

        Guarantee: every pair of neighbours, both orders.
        """
        if any(at <= epsilon and delta == 0 for at, delta in self.points):
            return 0.0
        below = ((at, delta) for at, delta in self.points if at < epsilon)
        return min((tail_of_claim(delta, (epsilon - at) * (1 - _ULP)) for at, delta in below), default=1.0)

    def exceeded_with(self, probability: float) -> float:
        """Return an epsilon that L exceeds with at most `probability`, the smallest that the points show, or infinity.

        Guarantee: as for `above`. Of each point it is epsilon - ln(1 - delta / probability).
        """
        return min((_exceeded(epsilon, delta, probability) for epsilon, delta in self.points), default=math.inf)

    def above_in_releases(self, epsilon: float) -> float | None:
        """Return P(L > epsilon), rounded up, for somebody who sees the noisy release itself; None where not known.

        Guarantee: an upper bound for every pair of neighbours, attained where the sensitivity is.
        """
        return None if self.single_gaussian is None else _normal_tail(self.single_gaussian, epsilon)

    def exceeded_in_releases(self, probability: float) -> float | None:
        """Return the smallest epsilon that L exceeds with at most `probability` in the noisy release itself."""
        mu = self.single_gaussian
        return None if mu is None else smallest_epsilon(lambda epsilon: _normal_tail(mu, epsilon), probability)


def loss_tail(form: NormalForm, epsilon: float, probability: float, known: Points = ()) -> LossTail:
    """Return the tail of a declaration, with the points that make it tight at `epsilon` and at `probability`.

    `known` are points (epsilon, an upper bound on delta) of the same declaration; the engines are asked for them where
    none are given.
    Raises: UnsupportedError: no engine covers what `form` holds.
    """

    def delta(at: float) -> float:
        """Return an upper bound on the curve."""
        return bracket_delta(form, at, UPPERS).upper

    start = known or tuple((at, delta(at)) for at in _grid(epsilon))
    below = [(at, tail_of_claim(value, epsilon - at)) for at, value in start if at < epsilon]
    beyond = [(at, _exceeded(at, value, probability)) for at, value in start]
    places = {epsilon} - {at for at, _ in start}
    if epsilon > 0:
        places.add(_lowest(lambda at: tail_of_claim(delta(at), epsilon - at), below or [(0.0, 1.0)], epsilon))
    if probability > 0:
        places.add(_lowest(lambda at: _exceeded(at, delta(at), probability), beyond, beyond[-1][0]))
    points = (*start, *((asked, delta(asked)) for asked in places))
    return LossTail(points=tuple(sorted(set(points))), single_gaussian=_single_gaussian(form))


def _grid(epsilon: float) -> tuple[float, ...]:
    """Return places from 0 to somewhat beyond `epsilon`."""
    further = 0.5 + epsilon / 2
    return tuple(
        sorted(
            {epsilon * step / _POINTS for step in range(_POINTS + 1)}
            | {epsilon + further * step / _POINTS for step in range(_POINTS + 1)}
        )
    )


def _exceeded(epsilon: float, delta: float, probability: float) -> float:
    """Return the epsilon that one point of the curve proves to be exceeded with at most `probability`."""
    if delta == 0:
        return epsilon
    if delta >= probability:
        return math.inf
    share = delta / probability * _UPWARDS
    return (epsilon - math.log1p(-share)) * _UPWARDS if share < 1 else math.inf


def _lowest(bound: Callable[[float], float], values: list[tuple[float, float]], end: float) -> float:
    """Return a place where `bound` is small: the best of `values`, refined by golden section between its neighbours."""
    best = min(range(len(values)), key=lambda number: values[number][1])
    low, high = values[max(0, best - 1)][0], values[best + 1][0] if best + 1 < len(values) else end
    seen = {values[best][0]: values[best][1]}
    golden = (math.sqrt(5) - 1) / 2
    left, right = high - golden * (high - low), low + golden * (high - low)
    seen |= {left: bound(left), right: bound(right)}
    for _ in range(_REFINED):
        if seen[left] <= seen[right]:
            high, right = right, left
            left = high - golden * (high - low)
            seen.setdefault(left, bound(left))
        else:
            low, left = left, right
            right = low + golden * (high - low)
            seen.setdefault(right, bound(right))
    return min(seen, key=lambda tried: (seen[tried], tried))


def _single_gaussian(form: NormalForm) -> float | None:
    """Return the largest mu of the alternatives if each of them is one Gaussian release or nothing."""
    mus = [_mu(composition) for composition in form.upper]
    return max((mu for mu in mus if mu is not None), default=None) if None not in mus else None


def _mu(composition: Composition) -> float | None:
    """Return the mu of one Gaussian release, 0 for no release at all, None for everything else."""
    if not composition.parts:
        return 0.0
    ((loss, times), *more) = composition.parts
    return loss.mu if isinstance(loss, GaussianLoss) and times == 1 and not more else None


def _normal_tail(mu: float, epsilon: float) -> float:
    """Return Phi(mu/2 - epsilon/mu), rounded up as the Gaussian engine rounds, for epsilon of 0 or more."""
    if mu == 0:
        return 0.0
    z = mu / 2 - epsilon / mu
    log_tail = float(log_ndtr(z))
    error = _ULP * (4 * z * z + 16 * abs(log_tail) + 4 * (mu + epsilon / mu) + 8)
    return min(1.0, max(math.exp(min(0.0, log_tail + error)) * _UPWARDS, math.nextafter(0, 1)))
