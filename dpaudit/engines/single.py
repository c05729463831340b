"""Closed form for a single loss of any family: nothing is composed, so that brackets are as wide as rounding.

Where several losses are too large, too many or too small for a grid, the closed forms still say something: all of them
deliver at least what one does, and the total variations add up.

Source: the definition of delta(epsilon) for atoms and for Laplace noise; Kairouz, Oh and Viswanath (2015),
Theorem 3.3; Balle, Barthe and Gaboardi (2018), Theorem 2, for the sampled Gaussian.
"""

import math
import sys
from typing import assert_never

from dpaudit.engines import gaussian
from dpaudit.engines.basic import total_infinite_mass, total_supremum
from dpaudit.engines.engine import Ends, crossing
from dpaudit.engines.exact import exact_sum, outwards
from dpaudit.engines.gaussian import gaussian_delta
from dpaudit.model.losses import (
    ApproximateLoss,
    ChoiceLoss,
    Composition,
    ConcentratedLoss,
    DerivedLoss,
    DiscreteLoss,
    GaussianLoss,
    LaplaceLoss,
    MixtureLoss,
    SampledGaussianLoss,
    SimpleLoss,
)
from dpaudit.model.losses.sampled_ratios import log_absent, loss_before

_ULP = 2.0**-52
_STATED = 1e-14  # relative; what floating point may have done to a stated probability
_LARGE = 700.0
_NEAR, _LAST = math.log(2), 32.0
"""Losses that a sample maps to -epsilon: from the first on 1 - e^-epsilon loses digits, beyond the second all."""
_EXACT_WEIGHTS = 400
_LOSS = 2.0**-49
"""What rounding makes of a loss of mixtures, over 1 + a^2 + |ln w|, for a weight w and an output a away from its shift.

With u = 2^-53 the exponent ln w - a^2 / 2 errs by 2 u a^2 + 3 u |ln w|, and the logarithm of a sum of exponentials by 2
u times the largest of them, and 3 u. A loss is that of two densities: 8 u a^2 + 10 u |ln w| + 6 u, which 16 u covers.
"""
_RAREST = 1e-300  # more than the weights that a mixture leaves out


def single_delta(loss: SimpleLoss, epsilon: float) -> tuple[float, float]:
    """Return lower and upper bounds on delta(epsilon) of one release, for epsilon of 0 or more.

    Differences of two floats are right to half a unit in the last place, expm1 and exp to one; sums have no
    negative term, so that relative errors do not grow.
    Edge cases: from the largest finite loss on, both bounds are the stated infinite mass itself.
    """
    if isinstance(loss, DerivedLoss):
        return 0.0, 1.0  # only a pair says more, see `tilted.once`
    match loss:
        case GaussianLoss(mu=mu):
            return gaussian_delta(mu, epsilon)
        case ConcentratedLoss():
            return 0.0, loss.hockey_stick(epsilon)
        case SampledGaussianLoss():
            return _sampled(loss, epsilon)
        case MixtureLoss():
            return _mixed(loss, epsilon)
        case LaplaceLoss() | ApproximateLoss():
            margin = 16 * _ULP
        case DiscreteLoss():
            margin = _STATED + 16 * _ULP
        case ChoiceLoss(options=options):
            lower, upper = zip(*(single_delta(option, epsilon) for option in options), strict=True)
            return max(lower), max(upper)
        case _:
            assert_never(loss)
    if epsilon >= loss.supremum:
        return loss.infinite_mass, loss.infinite_mass
    blur = 4 * _ULP * loss.supremum  # a ratio is within half a unit of the float that stands for it
    if isinstance(loss, DiscreteLoss):
        blur += loss.rounding * loss.supremum
    nearer = loss.hockey_stick(epsilon + blur) if epsilon + blur < loss.supremum else loss.infinite_mass
    return _outwards(nearer, margin)[0], _outwards(loss.hockey_stick(max(0.0, epsilon - blur)), margin)[1]


def meets(loss: SimpleLoss, epsilon: float, delta: float) -> bool:
    """Return whether one release is proved (epsilon, delta)-private in both orders of the neighbours.

    >>> meets(LaplaceLoss(shift=0.5), 0.5, 0.0), meets(LaplaceLoss(shift=0.5), 0.4, 0.0)
    (True, False)
    """
    return all(single_delta(order, epsilon)[1] <= delta for order in (loss, loss.reversed()))


def _outwards(delta: float, margin: float) -> tuple[float, float]:
    """Return bounds a relative `margin` to either side; what underflows is between 0 and the smallest normal float."""
    lower = delta * (1 - margin) if delta > 4 * sys.float_info.min else 0.0
    return lower, min(1.0, max(delta * (1 + margin), 4 * sys.float_info.min))


def _sampled(loss: SampledGaussianLoss, epsilon: float) -> tuple[float, float]:
    """Return bounds for a sampled Gaussian: the plain curve at the epsilon that sampling maps to this one.

    Removing the record: rate times the plain delta at ln(1 + (e^epsilon - 1) / rate). Adding it: the plain delta at the
    negative of the loss that is mapped to -epsilon, times 1 - e^epsilon (1 - rate).
    """
    rate = loss.rate
    if loss.order == "remove":
        inner = loss_before(epsilon, rate)
        error = 8 * _ULP * inner
        return _scaled(loss.mu, (rate, rate), (inner + error, inner - error))
    room = -(epsilon + log_absent(rate))
    error = 4 * _ULP * (epsilon - log_absent(rate))
    if room + error <= 0:
        return 0.0, 0.0
    high = -math.expm1(-(room + error)) * (1 + 2 * _ULP)
    low = -math.expm1(-max(room - error, 0.0)) * (1 - 2 * _ULP)
    inner = -loss_before(-epsilon, rate)
    if inner > _LAST:
        return 0.0, _scaled(loss.mu, (0.0, high), (_LAST, _LAST - 1))[1]
    error = 8 * _ULP * (inner + (math.exp(inner) if inner > _NEAR else 0.0))
    return _scaled(loss.mu, (low, high), (inner + error, inner - error))


def _mixed(loss: MixtureLoss, epsilon: float) -> tuple[float, float]:
    """Return bounds for two mixtures of shifts: the half line of losses above epsilon.

    Any half line is a test and shows the lower bound. The best one differs in outputs whose losses rounding cannot tell
    from epsilon: by at most that blur times the probability of the first of them and all above.
    """
    if epsilon >= loss.supremum:
        return 0.0, 0.0
    output = loss.output_of(epsilon)
    reach = abs(output) + loss.above[-1][0] - loss.below[0][0]
    rare = -math.log(min(weight for _, weight in (*loss.above, *loss.below)))
    rounding = _LOSS * (1 + reach * reach + rare) * loss.blur_at(output) + _LOSS * epsilon
    blur = abs(loss.loss_at(output) - epsilon) + rounding
    first = loss.above_output(min(output, loss.output_of(epsilon - 2 * blur)))
    if epsilon > _LARGE:
        return 0.0, min(1.0, first * (1 + 1e-9))
    weights = 2e-11 if len(loss.above) + len(loss.below) > _EXACT_WEIGHTS else 1e-14
    margin = weights + 4 * _ULP * (16 + 4 * reach * reach)
    value, size = loss.gain(output, epsilon)
    upper = value + margin * size + math.expm1(min(2 * blur, 1.0)) * first * (1 + margin)
    return max(0.0, value - margin * size), min(1.0, max(upper, 0.0) + _RAREST)


def _scaled(mu: float, factors: tuple[float, float], epsilons: tuple[float, float]) -> tuple[float, float]:
    """Return lower and upper bounds on a factor times the plain Gaussian delta."""
    lower = gaussian_delta(mu, epsilons[0])[0] * factors[0] if math.isfinite(epsilons[0]) else 0.0
    upper = gaussian_delta(mu, epsilons[1])[1] * factors[1]
    return _outwards(lower, 4 * _ULP)[0], _outwards(upper, 4 * _ULP)[1]


def delta_ends(composition: Composition, epsilon: float) -> Ends:
    """Return bounds on delta(epsilon)."""
    ends = [single_delta(loss, epsilon) for loss, _ in composition.parts]
    if composition.events == 1:
        return ends[0]
    lower = max(low for low, _ in ends)
    return lower, max(lower, _variation(composition))


def epsilon_ends(composition: Composition, delta: float) -> Ends:
    """Return bounds on the smallest epsilon with delta(epsilon) <= delta."""
    ends = [_epsilon_of(loss, delta) for loss, _ in composition.parts]
    if composition.events == 1:
        return ends[0]
    if _variation(composition) <= delta:
        return 0.0, 0.0
    return max(low for low, _ in ends), math.inf


def _variation(composition: Composition) -> float:
    """Return an upper bound on delta at any epsilon of 0 or more: total variations add up.

    Source: Dwork, Kenthapadi, McSherry, Mironov and Naor (2006), Theorem 1, for epsilon 0.
    """
    total = exact_sum((single_delta(loss, 0.0)[1], 1, times) for loss, times in composition.parts)
    return min(1.0, outwards(total)[1])


def _epsilon_of(loss: SimpleLoss, delta: float) -> Ends:
    """Bound the smallest epsilon of one loss with delta(epsilon) <= delta."""
    composition = Composition.of(loss)
    if isinstance(loss, GaussianLoss):
        return gaussian.epsilon_ends(composition, delta)
    floor, ceiling = total_infinite_mass(composition)
    low, high = total_supremum(composition)
    if delta < floor:
        return math.inf, math.inf
    if delta == 0 or delta == ceiling:
        return max(0.0, low), max(0.0, high)
    return crossing(lambda epsilon: single_delta(loss, epsilon), delta)
