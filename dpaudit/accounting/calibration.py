"""The smallest noise that certifies a claim."""

import math
from collections.abc import Callable

from dpaudit.accounting.accountant import bracket_delta, bracket_epsilon
from dpaudit.accounting.fold import fold
from dpaudit.engines import ENGINES, GAUSSIAN, UPPERS, Engine
from dpaudit.errors import UnsupportedError
from dpaudit.model.claim import Claim
from dpaudit.model.declaration import Declaration, Release, scaled
from dpaudit.model.mechanism import Mechanism

_TOLERANCE = 1e-10
_FAR = 700.0
_WIDTH = 2e-5


def smallest_noise(subject: Declaration | Mechanism, claim: Claim) -> float:
    """Return the smallest factor on all the noise in `subject` for which the accountant certifies `claim`.

    Guarantee: scaled by the factor, `subject` is certified. With a closed form the factor is within 1e-9 of the
    smallest one; otherwise within the width of the accountant's bracket, 1e-4 as a rule.
    Raises: UnsupportedError: no amount of noise helps (a pure claim on Gaussian noise, a stated part).

    >>> from mechanisms import Gaussian
    >>> noise = Gaussian(stddev=8.0, l2_sensitivity=1.0, neighbours="replace_one")
    >>> claim = Claim(epsilon=1.0, delta=1e-5, neighbours="replace_one")
    >>> round(8.0 * smallest_noise(noise, claim), 3)
    3.731
    """
    tree: Declaration = Release(label="release", mechanism=subject) if isinstance(subject, Mechanism) else subject
    goal = f"epsilon={claim.epsilon}, delta={claim.delta}"
    closed = in_closed_form(tree, claim)
    quick = smallest_factor(
        lambda factor: excess(scaled(tree, factor), claim, UPPERS), goal, tolerance=_TOLERANCE if closed else _WIDTH / 4
    )
    if closed:
        return quick
    return smallest_factor(
        lambda factor: excess(scaled(tree, factor), claim), goal, start=quick, tolerance=_WIDTH, step=1 + 4 * _WIDTH
    )


def in_closed_form(tree: Declaration, claim: Claim) -> bool:
    """Return whether the upper bound on what `tree` delivers has a closed form, so that a search may be exact.

    Gaussian losses have one, and so has a pure claim: largest losses add up.
    """
    return claim.delta == 0 or all(GAUSSIAN.covers(alternative) for alternative in fold(tree, claim.neighbours).upper)


def excess(tree: Declaration, claim: Claim, engines: tuple[Engine, ...] = ENGINES) -> float:
    """Return how far `tree` is from being certified: 0 or less where it is, on a logarithmic scale.

    The logarithm of proved delta over claimed delta; for a pure claim, of proved over claimed epsilon.
    """
    form = fold(tree, claim.neighbours)
    if claim.delta > 0:
        return log_ratio(bracket_delta(form, claim.epsilon, engines).upper, claim.delta)
    return log_ratio(bracket_epsilon(form, 0.0, engines).upper, claim.epsilon)


def log_ratio(value: float, allowed: float) -> float:
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
    step: float = 4.0,
) -> float:
    """Return the smallest factor at which `excess_at` is 0 or less, within a relative `tolerance`, never below.

    `excess_at` must turn from positive to not positive once as the factor grows; `goal` names it in the error.
    The search starts at `start`, moves by `step` until it has both signs, and then halves or interpolates in
    logarithms (the Illinois rule), whichever is quicker.
    Raises: UnsupportedError: it stays positive up to 1e12.
    """
    low, high = start, start
    at_low = at_high = excess_at(start)
    while at_high > 0:
        low, at_low = high, at_high
        high *= step
        at_high = excess_at(high)
        step *= step
        if high > 1e12 and at_high > 0:
            raise UnsupportedError(f"No amount of noise reaches {goal}; allow a positive delta or a larger epsilon.")
    while at_low <= 0:
        high, at_high = low, at_low
        low /= step
        if low < 1e-12:
            return high
        at_low = excess_at(low)
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
        share = weight_left / (weight_left - weight_right) if turn % 3 < 2 else 0.5
        span = math.log(right / left)
        share = min(max(share, tolerance / (4 * span)), 1 - tolerance / (4 * span)) if span > tolerance else 0.5
        middle = left * math.exp(share * span)
        if not left < middle < right:
            break
        at_middle = excess_at(middle)
        if at_middle <= 0:
            right, weight_right, weight_left = middle, min(at_middle, -5e-324), weight_left / 2
        else:
            left, weight_left, weight_right = middle, at_middle, weight_right / 2
        turn += 1
    return right
