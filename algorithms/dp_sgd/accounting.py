"""The epsilon of a history of noisy, Poisson-sampled steps, for both neighbour relations.

One step sees a record with probability `rate`; with z the noise multiplier and m = 1/z its output laws are

    remove    (1 - rate) N(0, 1) + rate N(m, 1)   against   N(0, 1)          and the reverse, add
    replace   (1 - rate) N(0, 1) + rate N(m, 1)   against   (1 - rate) N(0, 1) + rate N(-m, 1)

The third pair is the worst under replacement: with N(E) = p for noise alone, no event of two records u, v has more
than Phi(Phi^-1(p) + m) under u or less than Phi(Phi^-1(p) - m) under v, a half line attains both, and
P(E) - a Q(E) with a >= 1 grows in the first and falls in the second; a < 1 is the same pair read backwards.

Each loss is put on a lattice that dominates it (connecting the dots), weighted by e^(tilt L) so that the epsilon in
question lies in the middle, and composed by a power of its Fourier transform. Everything that floating point may
have lost is bounded and added: an upper bound, within 1e-4 or so of the truth.
Source: Doroshenko et al. (2022), Section 4; Zhu, Dong and Wang (2022), Theorem 11, for add and remove.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy.special import logsumexp, ndtr

from dpaudit import UnsupportedError
from dpaudit.checks import count, one_of, open_probability, positive
from dpaudit.model.claim import NEIGHBOURS, Neighbours
from dpaudit.model.mechanism import Array

Order = Literal["remove", "add", "replace"]
History = Sequence[tuple[float, float, int]]
"""(noise_multiplier, sample_rate, num_steps) for each stretch of equal steps, as Opacus keeps it."""

_UNIT = 2.0**-53
_ORDERS: dict[Neighbours, tuple[Order, ...]] = {
    "add_remove": ("remove", "add"),
    "replace_one": ("replace",),
    "zero_out": ("remove", "add"),
}
_SPREAD = 6e-5  # what the lattice's width may add to epsilon, about
_WIDEST = 5e-4
_MOST = 1 << 21


@dataclass(frozen=True, slots=True, kw_only=True)
class _Lattice:
    """Masses at losses (first, first + 1, ...) * width, for one step that occurs `times` times."""

    first: int
    masses: Array
    infinite: float
    times: int


def epsilon_of_history(history: History, delta: float, neighbours: Neighbours) -> float:
    """Return an epsilon at which the whole history is (epsilon, delta)-private; never below the smallest one.

    Unit: nats. Unequal stretches compose; their order does not matter.
    Guarantee: an upper bound for every training run that draws each record independently with the stated rate and
    adds the stated noise to sums of clipped gradients.
    Edge cases: a rate of 1 is the plain Gaussian mechanism, m = 1/z, or 2/z where a record is replaced.
    Raises: ValueError: no stretch, or one out of range. UnsupportedError: too little noise for this lattice.
    Source: see the module.

    >>> round(epsilon_of_history([(1.1, 1 / 12, 240)], 1e-5, "add_remove"), 3)
    7.548
    """
    one_of("neighbours", neighbours, NEIGHBOURS)
    target = open_probability("delta", delta)
    stretches = checked_history(history)
    return max(_epsilon(stretches, target, order) for order in _ORDERS[neighbours])


def checked_history(history: History) -> tuple[tuple[float, float, int], ...]:
    """Return the stretches, each number checked.

    Raises: ValueError: no stretch, noise that is not positive, a rate outside (0, 1], or fewer than 1 step.
    """
    if not history:
        raise ValueError("Expected at least one stretch in the history; no step was accounted for.")
    for _, rate, _ in history:
        if not 0 < rate <= 1:
            raise ValueError(f"Expected sample_rate={rate!r} in (0, 1].")
    return tuple((positive("noise_multiplier", z), float(rate), count("num_steps", n)) for z, rate, n in history)


def _epsilon(history: tuple[tuple[float, float, int], ...], delta: float, order: Order) -> float:
    """Return an upper bound for one pair of output laws."""
    steps = sum(times for _, _, times in history)
    reach = math.sqrt(-2 * math.log(delta * 1e-9 / steps))
    if max(reach / z for z, _, _ in history) > 150:
        raise UnsupportedError("A step has next to no noise: the epsilon of this history is in the hundreds.")
    width = min(_WIDEST, math.sqrt(8 * _SPREAD / steps))
    span = sum(_largest(1 / z, q, order, reach) for z, q, _ in history)
    width = max(width, 4 * span / _MOST)
    parts = [_lattice(1 / z, q, times, order, width, reach) for z, q, times in history]
    tilt = _tilt(parts, width, delta)
    losses, tilted, scale, lost = _composed(parts, width, tilt)
    infinite = math.fsum(part.infinite * part.times for part in parts)

    def exceeds(epsilon: float) -> bool:
        above = losses > epsilon
        terms = tilted[above] * np.exp(scale - tilt * losses[above]) * -np.expm1(epsilon - losses[above])
        rounding = lost * math.exp(min(700.0, scale - tilt * epsilon))
        total = float(terms.sum()) * (1 + 1e-12 * steps**0.5 + 1e-14 * steps)
        return bool(total + rounding + infinite > delta)

    low, high = 0.0, float(losses[-1])
    if not exceeds(low):
        return 0.0
    if exceeds(high):
        raise UnsupportedError("The lattice does not reach this epsilon; the history has next to no noise.")
    while high - low > 1e-9:
        middle = (low + high) / 2
        low, high = (middle, high) if exceeds(middle) else (low, middle)
    return high + steps * 1e-14 * (1 + max(1 / z for z, _, _ in history) * 2 * reach)


def _largest(shift: float, rate: float, order: Order, reach: float) -> float:
    """Return about how far losses of one step reach."""
    top = float(_loss(np.array([reach + shift]), shift, rate, order)[0])
    return top - math.log1p(-rate) if rate < 1 else 2 * top


def _loss(x: Array, shift: float, rate: float, order: Order) -> Array:
    """Return the log likelihood ratio at `x`, growing in x; for "add" that of the reversed pair."""
    mixed = _mixed(shift * x - shift**2 / 2, rate)
    if order == "replace":
        return mixed - _mixed(-shift * x - shift**2 / 2, rate)
    return mixed


def _mixed(exponent: Array, rate: float) -> Array:
    """Return ln(1 - rate + rate e^exponent) without overflow."""
    if rate == 1:
        return exponent
    return np.asarray(np.logaddexp(math.log1p(-rate), math.log(rate) + exponent))


def _place(losses: Array, shift: float, rate: float, order: Order) -> Array:
    """Return where the log likelihood ratio takes each value; -infinity where it never does."""
    if rate == 1:
        return losses / (2 * shift) if order == "replace" else losses / shift + shift / 2
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        if order != "replace":
            inner = (np.expm1(losses) + rate) / rate
            return (np.log(np.maximum(inner, 0.0)) + shift**2 / 2) / shift
        # y = e^(shift x) solves w y^2 + b y - e^l w = 0 with w = rate e^(-shift^2/2) and b = (1 - rate)(1 - e^l);
        # the ratio is odd in x, so that positive losses suffice.
        size = np.abs(losses)
        weight = math.log(rate) - math.log1p(-rate) - shift**2 / 2
        half = -np.expm1(-size) / 2
        root = half + np.sqrt(half**2 + np.exp(2 * weight - size))
        return np.sign(losses) * (size + np.log(root) - weight) / shift


def _lattice(shift: float, rate: float, times: int, order: Order, width: float, reach: float) -> _Lattice:
    """Return masses on multiples of `width` that dominate the loss of one step."""
    ends = _loss(np.array([-reach - shift, reach + shift]), shift, rate, order)
    first, last = math.floor(ends[0] / width) - 1, math.ceil(ends[1] / width) + 1
    knots = np.arange(first, last + 1) * width
    x = _place(knots, shift, rate, order)
    x[0] = -np.inf
    noise, up = _cells(x), _cells(x - shift)
    down = _cells(x + shift) if order == "replace" else (noise[0], noise[1])
    p = ((1 - rate) * noise[0] + rate * up[0], (1 - rate) * noise[1] + rate * up[1])
    q = ((1 - rate) * down_[0] + rate * down[0] for down_ in (noise,)) if order == "replace" else iter((noise[0],))
    q_mass = next(q)
    q_error = noise[1] + down[1]
    beyond = float(ndtr(-x[-1]) * (1 - rate) + rate * ndtr(shift - x[-1])) if order != "add" else 0.0
    if order != "add":
        masses = _dotted(p[0] + p[1], q_mass, p[1] + q_error, knots)
        return _Lattice(first=first, masses=masses, infinite=beyond + 1e-300, times=times)
    # Read backwards, a cell between l and l + width lies between -l - width and -l, and the laws change places;
    # what lies beyond the last knot has losses below the first one, and is put there.
    masses = _dotted((noise[0] + noise[1])[::-1], p[0][::-1], (q_error + p[1])[::-1], -knots[::-1])
    masses[0] += float(ndtr(-x[-1]))
    return _Lattice(first=-last, masses=masses, infinite=1e-300, times=times)


def _cells(x: Array) -> tuple[Array, Array]:
    """Return standard normal probabilities between neighbouring points, and bounds on their rounding."""
    low, high = x[:-1], x[1:]
    flip = low > 0
    left, right = np.where(flip, -high, low), np.where(flip, -low, high)
    larger = ndtr(right)
    return np.maximum(larger - ndtr(left), 0.0), 8 * _UNIT * larger * (1 + np.minimum(right**2, 1e4))


def _dotted(p: Array, q: Array, error: Array, knots: Array) -> Array:
    """Return masses at the knots: each cell's p is split between its ends so that q is kept, rounded upwards."""
    width = float(knots[1] - knots[0])
    scaled = q * np.exp(np.minimum(knots[:-1], 700.0))
    doubt = 2 * error * (1 + np.exp(np.minimum(knots[:-1], 700.0))) + 16 * _UNIT * (p + scaled)
    lifted = np.clip((p - scaled + doubt) / -math.expm1(-width), 0.0, p)
    masses = np.zeros(len(knots))
    masses[1:] += lifted
    masses[:-1] += p - lifted
    return masses


def _log_moment(part: _Lattice, width: float, tilt: float) -> float:
    """Return ln sum of masses e^(tilt loss) of one step."""
    positive_mass = part.masses > 0
    losses = (part.first + np.flatnonzero(positive_mass)) * width
    return float(logsumexp(tilt * losses + np.log(part.masses[positive_mass])))


def _tilt(parts: list[_Lattice], width: float, delta: float) -> float:
    """Return the weight at which the moment bound on epsilon is smallest, by golden section in its logarithm."""

    def bound(log_tilt: float) -> float:
        tilt = math.exp(log_tilt)
        return (math.fsum(p.times * _log_moment(p, width, tilt) for p in parts) - math.log(delta)) / tilt

    low, high, golden = math.log(1e-3), math.log(3e3), (math.sqrt(5) - 1) / 2
    left, right = high - golden * (high - low), low + golden * (high - low)
    at_left, at_right = bound(left), bound(right)
    for _ in range(22):
        if at_left <= at_right:
            high, right, at_right = right, left, at_left
            left = high - golden * (high - low)
            at_left = bound(left)
        else:
            low, left, at_left = left, right, at_right
            right = low + golden * (high - low)
            at_right = bound(right)
    return math.exp((low + high) / 2)


def _composed(parts: list[_Lattice], width: float, tilt: float) -> tuple[Array, Array, float, float]:
    """Return losses, tilted masses of the whole, the logarithm of their scale, and how much mass was lost at most.

    The transform's entries are sums of products along a tree of log2(n) levels, so that each is off by at most
    some units times the sum of the masses, which is 1; a power multiplies that by its exponent, and by the modulus.
    What wraps round from above is bounded by the moments a little further out; from below it only adds.
    """
    logs = [_log_moment(part, width, tilt) for part in parts]
    scale = math.fsum(part.times * log for part, log in zip(parts, logs, strict=True))
    weighted = [
        part.masses * np.exp(tilt * (part.first + np.arange(len(part.masses))) * width - log)
        for part, log in zip(parts, logs, strict=True)
    ]
    losses_of = [(part.first + np.arange(len(part.masses))) * width for part in parts]
    means = [float(w @ at) for w, at in zip(weighted, losses_of, strict=True)]
    spreads = [float(w @ (at - mean) ** 2) for w, at, mean in zip(weighted, losses_of, means, strict=True)]
    centre = math.fsum(p.times * mean for p, mean in zip(parts, means, strict=True))
    deviation = math.sqrt(math.fsum(p.times * spread for p, spread in zip(parts, spreads, strict=True)))
    top = _quiet(parts, width, tilt, scale, centre, deviation)
    bottom = centre - min(10 * deviation + 1, 2 * (top - centre))
    size = 1 << max(10, math.ceil(math.log2((top - bottom) / width)))
    modulus, whole = np.ones(size // 2 + 1), np.ones(size // 2 + 1, dtype=complex)
    doubt = np.zeros(size // 2 + 1)
    level = 8 * _UNIT * math.log2(size)
    for part, tilted in zip(parts, weighted, strict=True):
        folded = np.bincount(np.arange(len(tilted)) % size, weights=tilted, minlength=size)
        phase = np.exp(2j * math.pi * ((np.arange(size // 2 + 1) * (part.first % size)) % size) / -size)
        power = np.fft.rfft(folded)
        size_of = np.abs(power) + level
        whole = whole * (power * phase) ** part.times
        modulus = modulus * size_of**part.times
        doubt += part.times * (level / size_of + 40 * _UNIT)
    start = math.floor(bottom / width)
    masses = np.roll(np.fft.irfft(whole, size), -(start % size))
    rounding = 2 * float((modulus * (doubt + level)).sum())
    losses = (start + np.arange(size)) * width
    return losses, np.maximum(masses, 0.0), scale, rounding + 1e-12


def _quiet(parts: list[_Lattice], width: float, tilt: float, scale: float, centre: float, deviation: float) -> float:
    """Return a loss above which the tilted masses hold less than 1e-12 in all, by Chernoff's bound."""
    best = math.inf
    for step in (0.25, 0.5, 1, 2, 4, 8):
        further = tilt + step / max(deviation, 1e-9) * 2
        moment = math.fsum(p.times * _log_moment(p, width, further) for p in parts)
        best = min(best, (moment - scale + 28.0) / (further - tilt))
    return max(best, centre + deviation)
