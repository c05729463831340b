"""The smallest noise that certifies a claim."""

import math
from collections.abc import Callable

from dpaudit.accounting.accountant import bracket_delta, bracket_epsilon
from dpaudit.accounting.curves.measures import Number, bounds_of, limits_of
from dpaudit.accounting.fold import above, folded
from dpaudit.arguments import named_arguments
from dpaudit.engines import DEFAULT, PROVED_UPPERS, UPPERS, Precision
from dpaudit.engines.gaussian import all_gaussian, gaussian_delta, total_mu
from dpaudit.errors import UnsupportedError
from dpaudit.model.claim import Claim, require_finite
from dpaudit.model.declaration import Declaration, Release, scaled
from dpaudit.model.measures.claims import MeasuredClaim, ProfileClaim
from dpaudit.model.mechanism import Mechanism

LEAST = 1e-12
"""The factor on noise at which a search for the smallest one ends: what holds there may need no noise at all."""
_TOLERANCE = 1e-10
_STRIDE = 4.0
_STEADY = 1.1  # a step upwards that is refused at this size ends a search: noise has its largest size there
_FAR = 700.0
_WIDTH = 2e-5
_NEAR = 2e-4  # how near the search by signs comes to a root before a proof moves it
_LAST = 2e-3  # a secant step that is the last: it errs by a small share of itself
_DISTANCES = (0.0, _WIDTH, _WIDTH, 2 * _WIDTH)  # of proofs from where the root seems to be
_SHIFT = 0.05  # the most that a proof may move it
_WITHIN = 0.5  # how near, relatively, secant steps start where they do not settle from the declared noise
_STEEP = 20.0  # a first guess of how fast ln delta falls with ln noise
_SECANTS = 12


@named_arguments
def smallest_noise(subject: Declaration | Mechanism, claim: Claim) -> float:
    """Return the smallest factor on all the noise in `subject` for which the accountant certifies `claim`.

    Guarantee: scaled by the factor, `subject` is certified. With a closed form the factor is within 1e-9 of the
    smallest one; otherwise within the width of the accountant's bracket, 1e-4 as a rule. Discrete noise need not cost
    less as it grows: there the factor is one that certifies, not the smallest.
    Raises: UnsupportedError: no amount of noise helps (a pure claim on Gaussian noise, a stated part).

    >>> from mechanisms import Gaussian
    >>> noise = Gaussian(stddev=8.0, l2_sensitivity=1.0, neighbours="replace_one")
    >>> claim = Claim(epsilon=1.0, delta=1e-5, neighbours="replace_one")
    >>> round(8.0 * smallest_noise(noise, claim), 3)
    3.731
    """
    tree: Declaration = Release(label="release", mechanism=subject) if isinstance(subject, Mechanism) else subject
    if isinstance(claim, MeasuredClaim):
        points = isinstance(claim, ProfileClaim)
        precision, width = (PROVED_UPPERS, _WIDTH) if points else (UPPERS, _TOLERANCE)
        return smallest_factor(
            lambda factor: excess_scaled(tree, factor, claim, precision), claim.words, tolerance=width
        )
    require_finite(claim, "calibration")
    goal = f"epsilon={claim.epsilon}, delta={claim.delta}"
    alternatives = above(tree, claim.neighbours)
    if claim.delta > 0 and all(map(all_gaussian, alternatives)):
        mu = max(total_mu(alternative)[1] for alternative in alternatives)
        gaussian_factor = smallest_factor(lambda factor: _gaussian_excess(mu / factor, claim), goal)
        for step in (0.0, 1e-14, 1e-12):
            if excess_scaled(tree, gaussian_factor * (1 + step), claim, UPPERS) <= 0:
                return gaussian_factor * (1 + step)
    if claim.delta == 0 or all(map(all_gaussian, alternatives)):  # largest losses, and squares, add up
        return smallest_factor(lambda factor: excess_scaled(tree, factor, claim, UPPERS), goal)
    return _proved_factor(tree, claim, goal)


def _proved_factor(tree: Declaration, claim: Claim, goal: str) -> float:
    """Return a factor at which `tree` is certified and close to the smallest one, with one proof at the end.

    The root is estimated by the quick upper bounds, and moved by what each proof shows: at the root first, then a
    relative 2e-5 above. Where they do not settle, or the proved delta jumps at the root, the proofs are searched.
    Raises: UnsupportedError: as for `smallest_noise`.
    """

    def proved(factor: float) -> float:
        return excess_scaled(tree, factor, claim, PROVED_UPPERS)

    root, slope = _estimated(lambda factor: excess_scaled(tree, factor, claim, UPPERS), goal)
    last: tuple[float, float] | None = None
    for distance in _DISTANCES:
        tried = root * (1 + distance)
        at_tried = proved(tried)
        slope = _slope(last, (math.log(tried), at_tried), slope)
        moved = at_tried / slope
        if not (abs(at_tried) < _FAR and abs(moved) <= _SHIFT):
            break
        if -_WIDTH - 3 * distance <= moved <= 0:
            return tried
        last, root = (math.log(tried), at_tried), tried * math.exp(moved)
    return smallest_factor(proved, goal, start=root, tolerance=_WIDTH, step=1 + 4 * _WIDTH)


def _slope(last: tuple[float, float] | None, now: tuple[float, float], guess: float) -> float:
    """Return how fast the excess falls between proofs at two logarithms, or the guess where they are near."""
    if last is None or abs(now[0] - last[0]) < _WIDTH / 4:
        return guess
    slope = (now[1] - last[1]) / (last[0] - now[0])
    return slope if slope > 0 else guess


def _estimated(excess_at: Callable[[float], float], goal: str) -> tuple[float, float]:
    """Return about where `excess_at` turns from positive to negative, and how fast it falls there, in logarithms.

    Secant steps from the declared noise; where they do not settle, from where a search by signs comes near; where they
    do not settle there either, that search alone.
    """
    if (estimate := _by_secants(excess_at, 1.0)) is not None:
        return estimate
    near = smallest_factor(excess_at, goal, tolerance=_WITHIN)
    if (estimate := _by_secants(excess_at, near)) is not None:
        return estimate
    root = smallest_factor(excess_at, goal, start=near, tolerance=_NEAR, step=1 / (1 - _WITHIN))
    return root, max((excess_at(root * (1 - _SHIFT)) - excess_at(root)) / -math.log1p(-_SHIFT), 1.0)


def _by_secants(excess_at: Callable[[float], float], start: float) -> tuple[float, float] | None:
    """Return the same by secant steps from a factor; None where they do not settle."""
    left, at_left = math.log(start), excess_at(start)
    first = min(max(at_left / _STEEP, -_SHIFT), _SHIFT)
    right = left + (first if abs(first) > _WIDTH else _WIDTH)
    for _ in range(_SECANTS):
        try:
            at_right = excess_at(math.exp(right))
        except UnsupportedError:
            return None
        slope = (at_right - at_left) / (right - left)
        if slope >= 0 or max(abs(at_left), abs(at_right)) >= _FAR or not math.isfinite(slope):
            return None
        step = min(max(-at_right / slope, -1.0), 1.0)
        if abs(step) <= _LAST:
            return math.exp(right + step), -slope
        left, at_left, right = right, at_right, right + step
    return None


def _gaussian_excess(mu: float, claim: Claim) -> float:
    """Return `excess` of Gaussian losses that make `mu` together."""
    if mu == math.inf:
        return _FAR
    return log_ratio(gaussian_delta(mu, claim.epsilon)[1], claim.delta)


def excess(tree: Declaration, claim: Claim, precision: Precision = DEFAULT) -> float:
    """Return how far `tree` is from being certified: 0 or less where it is, on a logarithmic scale.

    The logarithm of proved delta over claimed delta; for a pure claim, of proved over claimed epsilon; of a claim in
    another measure the largest of its numbers, mu as its square.
    """
    if isinstance(claim, ProfileClaim):
        who = claim.neighbours
        each = (Claim(epsilon=epsilon, delta=delta, neighbours=who) for epsilon, delta in claim.profile)
        return max(excess(tree, point, precision) for point in each)
    form = folded(above(tree, claim.neighbours), ())
    if isinstance(claim, MeasuredClaim):
        ends = zip(bounds_of(form, claim), limits_of(claim), strict=True)
        return max(log_ratio(high, limit) for (_, high), limit in ends)
    if claim.delta > 0:
        return log_ratio(bracket_delta(form, claim.epsilon, precision).upper, claim.delta)
    return log_ratio(bracket_epsilon(form, 0.0, precision).upper, claim.epsilon)


def excess_scaled(tree: Declaration, factor: float, claim: Claim, precision: Precision) -> float:
    """Return `excess` of `tree` with `factor` times its noise.

    Noise below the range of a mechanism, or below that of a node that amplifies it, counts as too little.
    Raises: UnsupportedError: noise above a mechanism's range.
    """
    changed = scaled_within(tree, factor)
    if changed is None:
        return _FAR
    try:
        return excess(changed, claim, precision)
    except UnsupportedError:
        if factor < 1:
            return _FAR
        raise


def scaled_within(tree: Declaration, factor: float) -> Declaration | None:
    """Return `tree` with `factor` times its noise; None where that is less than a mechanism takes.

    Raises: UnsupportedError: noise above a mechanism's range.
    """
    try:
        return scaled(tree, factor)
    except (ValueError, OverflowError) as error:
        if factor < 1:
            return None
        raise UnsupportedError(f"The noise that would be enough lies beyond what a mechanism takes: {error}") from None


def log_ratio(value: Number, allowed: Number) -> float:
    """Return ln(value / allowed), at most 700 in size; at most 0 exactly where `value` is at most `allowed`."""
    if value == 0:
        return -_FAR
    if allowed == 0 or value == math.inf:
        return _FAR
    ratio = min(max(math.log(value) - math.log(allowed), -_FAR), _FAR)
    return min(ratio, 0.0) if value <= allowed else max(ratio, 5e-324)


def smallest_factor(
    excess_at: Callable[[float], float],
    goal: str,
    *,
    start: float = 1.0,
    tolerance: float = _TOLERANCE,
    step: float = _STRIDE,
) -> float:
    """Return the smallest factor at which `excess_at` is 0 or less, within a relative `tolerance`, never below.

    `excess_at` must turn from positive to not positive once as the factor grows; `goal` names it in the error.
    The search starts at `start`, moves by `step` and then by its squares until it has both signs, and then halves or
    interpolates in logarithms (the Illinois rule), whichever is quicker. Downwards a step is at most 4, or `step`.
    Edge cases: between `LEAST` and 4 times `LEAST` where it holds at all factors above; smaller ones are not asked.
    Raises: UnsupportedError: it stays positive up to 1e12.
    """
    low, high, growth = start, start, 2.0
    at_low = at_high = excess_at(start)
    while at_high > 0:
        low, at_low = high, at_high
        try:
            at_high = excess_at(high * step)
        except UnsupportedError:
            if step < _STEADY:
                raise
            step, growth = math.sqrt(step), 1.0
            continue
        high *= step
        step **= growth
        if high > 1e12 and at_high > 0:
            raise UnsupportedError(f"No amount of noise reaches {goal}; allow a positive delta or a larger epsilon.")
    while at_low <= 0:
        high, at_high = low, at_low
        low /= step
        if low < LEAST:
            return high
        at_low = excess_at(low)
        step = max(step, min(step * step, _STRIDE))
    return _narrowed(excess_at, (low, at_low), (high, at_high), tolerance)


def smallest_holding(holds: Callable[[float], bool], goal: str) -> float:
    """Return the smallest factor at which `holds`, within a relative 1e-10 and never below; see `smallest_factor`.

    >>> round(smallest_holding(lambda factor: factor**2 >= 2, "a square of at least 2"), 6)
    1.414214
    """
    return smallest_factor(lambda factor: -1.0 if holds(factor) else 1.0, goal)


def _narrowed(
    excess_at: Callable[[float], float], low: tuple[float, float], high: tuple[float, float], tolerance: float
) -> float:
    """Return the upper end of an interval with a change of sign, narrowed to a relative `tolerance`."""
    (left, at_left), (right, at_right) = low, high
    weight_left, weight_right = at_left, at_right
    turn = 0
    while right - left > tolerance * right:
        smooth = turn % 3 < 2 and max(at_left, -at_right) < _FAR  # next to a jump no line tells where it is
        share = weight_left / (weight_left - weight_right) if smooth else 0.5
        span = math.log(right / left)
        share = min(max(share, tolerance / (4 * span)), 1 - tolerance / (4 * span)) if span > tolerance else 0.5
        middle = left * math.exp(share * span)
        if not left < middle < right:
            break
        at_middle = excess_at(middle)
        if at_middle <= 0:
            right, at_right, weight_right, weight_left = middle, at_middle, min(at_middle, -5e-324), weight_left / 2
        else:
            left, at_left, weight_left, weight_right = middle, at_middle, at_middle, weight_right / 2
        turn += 1
    return right
