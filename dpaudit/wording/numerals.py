"""Numbers for readers: few digits, bounds rounded outwards, powers of ten written out."""

import math
import re
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN, Decimal

from dpaudit.model.bracket import Bracket
from dpaudit.model.measures.ends import End

TIMES = "\N{MULTIPLICATION SIGN}"
_SMALLEST = 1e-300
_MOST_DIGITS, _ENOUGH_DIGITS = 17, 7
_EXPONENT = re.compile(r"(?<![\w.])(\d+(?:\.\d+)?)e([+-]?\d+)(?!\w)")
_RAISED = re.compile(r"(?<![\w.])(\d+)\^(-?\d+)(?!\w)")
_SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def nearest(value: float, digits: int = 4) -> str:
    """Return `value` to `digits` significant digits.

    >>> nearest(0.0412345), nearest(1e-5), nearest(float("inf"))
    ('0.04123', '10⁻⁵', '∞')
    """
    return _written(value, digits, ROUND_HALF_EVEN)


def at_most(value: float, digits: int = 4) -> str:
    """Return an upper bound rounded up, so that the printed number is still a bound.

    >>> at_most(0.0412301)
    '0.04124'
    """
    return _written(value, digits, ROUND_CEILING)


def at_least(value: float, digits: int = 4) -> str:
    """Return a lower bound rounded down, so that the printed number is still a bound.

    >>> at_least(0.0412399)
    '0.04123'
    """
    return _written(value, digits, ROUND_FLOOR)


def exact(value: float) -> str:
    """Return a number that somebody stated, with all the digits of its shortest decimal.

    >>> exact(23.5946), exact(0.1), exact(6.25e-05)
    ('23.5946', '0.1', '6.25 × 10⁻⁵')
    """
    return _written(value, _MOST_DIGITS, ROUND_HALF_EVEN)


def at_most_beside(value: float, limit: float) -> str:
    """Return an upper bound rounded up, with enough digits to show that it does not exceed `limit` where it does not.

    >>> at_most_beside(23.5941, 23.5946), at_most_beside(0.5, 1.0), at_most_beside(2.0, 1.0)
    ('23.5941', '0.5', '2')
    """
    return _on_the_right_side(value, limit, ROUND_CEILING)


def at_least_beside(value: float, limit: float) -> str:
    """Return a lower bound rounded down, with enough digits to show that it exceeds `limit` where it does.

    >>> at_least_beside(23.5947, 23.5946), at_least_beside(1.5, 1.0)
    ('23.5947', '1.5')
    """
    return _on_the_right_side(value, limit, ROUND_FLOOR)


def number_name(measure: str, at: float | None) -> str:
    """Return the name of a number of a claim: of rho or mu, a Renyi divergence, or the delta at an epsilon.

    >>> number_name("renyi", 2.0), number_name("profile", 0.5), number_name("mu", None)
    ('Renyi divergence of order 2', 'delta at epsilon 0.5', 'mu')
    """
    if at is None:
        return measure
    return f"Renyi divergence of order {exact(at)}" if measure == "renyi" else f"delta at epsilon {exact(at)}"


def interval(bracket: Bracket, digits: int = 4) -> str:
    """Return a bracket as one number, its upper end, where both ends round alike, else as two.

    >>> interval(Bracket(lower=0.5, upper=0.75, engines=()))
    '0.5 to 0.75'
    """
    if nearest(bracket.lower, digits) == nearest(bracket.upper, digits):
        return at_most(bracket.upper, digits)
    lower, upper = ends(bracket, digits)
    return f"{lower} to {upper}"


def ends(bracket: Bracket | End, digits: int = 4) -> tuple[str, str]:
    """Return both ends, rounded outwards, with enough digits that rounding at most doubles the width.

    Edge cases: ends that agree to seven digits are shown to seven.

    >>> ends(Bracket(lower=0.99991, upper=0.99994, engines=()))
    ('0.99991', '0.99994')
    """
    lower, upper = bracket.lower, bracket.upper
    if _SMALLEST < upper - lower < math.inf:
        wide_enough = (d for d in range(digits, _ENOUGH_DIGITS) if _rounded_width(bracket, d) <= 2 * (upper - lower))
        digits = next(wide_enough, max(digits, _ENOUGH_DIGITS))
    return at_least(lower, digits), at_most(upper, digits)


def _rounded_width(bracket: Bracket | End, digits: int) -> float:
    """Return the width of a finite bracket once its ends are rounded outwards."""
    return float(_rounded(bracket.upper, digits, ROUND_CEILING) - _rounded(bracket.lower, digits, ROUND_FLOOR))


def raised(exponent: int) -> str:
    """Return an exponent in superscript digits.

    >>> raised(-772)
    '⁻⁷⁷²'
    """
    return str(exponent).translate(_SUPERSCRIPTS)


def powers(text: str) -> str:
    """Return a sentence with its powers, and its numbers of exponent form, raised, and an infinite epsilon as ∞.

    >>> powers("epsilon 1 at delta 1e-05, or 2.5e-07, from 10^11 users on")
    'epsilon 1 at delta 10⁻⁵, or 2.5 × 10⁻⁷, from 10¹¹ users on'
    """
    raised_powers = _RAISED.sub(lambda power: power[1] + raised(int(power[2])), text)
    return _EXPONENT.sub(_power, raised_powers).replace("epsilon inf ", "epsilon ∞ ")


def unbroken(text: str) -> str:
    """Return a text in which no line of a page breaks inside a power of ten.

    >>> unbroken("2.5 × 10⁻⁷") == "2.5\u00a0×\u00a010⁻⁷"
    True
    """
    return text.replace(f" {TIMES} 10", f"\N{NO-BREAK SPACE}{TIMES}\N{NO-BREAK SPACE}10")


def _power(match: re.Match[str]) -> str:
    """Return one number of exponent form as a power of ten."""
    tens = "10" + raised(int(match[2]))
    return tens if match[1] == "1" else f"{match[1]} {TIMES} {tens}"


def whole(number: int) -> str:
    """Return a count with thousands separated.

    >>> whole(20000)
    '20,000'
    """
    return f"{number:,}"


def counted(number: int, noun: str) -> str:
    """Return a number and its noun, in the singular or the plural.

    >>> counted(1, "audit"), counted(2000, "run")
    ('one audit', '2,000 runs')
    """
    return f"one {noun}" if number == 1 else f"{whole(number)} {noun}s"


def _on_the_right_side(value: float, limit: float, rounding: str) -> str:
    """Return `value` rounded outwards, with four digits or more until it is on the same side of `limit` as before."""
    upwards = rounding == ROUND_CEILING
    right = value <= limit if upwards else value > limit
    if not math.isfinite(value) or not right:
        return _written(value, 4, rounding)
    for digits in range(4, _MOST_DIGITS):
        rounded = _rounded(value, digits, rounding)
        if rounded <= Decimal(repr(float(limit))) if upwards else rounded > Decimal(repr(float(limit))):
            return _written(value, digits, rounding)
    return _written(value, _MOST_DIGITS, rounding)


def _rounded(value: float, digits: int, rounding: str) -> Decimal:
    """Return a finite number rounded to significant digits in the stated direction."""
    exact_value = Decimal(repr(float(value)))
    if exact_value == 0:
        return exact_value
    unit = Decimal((0, (1,), exact_value.adjusted() - digits + 1))
    return exact_value.quantize(unit, rounding=rounding).normalize()


def _written(value: float, digits: int, rounding: str) -> str:
    """Return `value` rounded to significant digits in the stated direction."""
    if math.isinf(value) or math.isnan(value):
        return "∞" if value > 0 else "-∞" if value < 0 else "not a number"
    if 0 < value < _SMALLEST and rounding == ROUND_CEILING:
        value = _SMALLEST
    rounded = _rounded(value, digits, rounding)
    if rounded == 0:
        return "0"
    if Decimal("0.001") <= abs(rounded) < Decimal(1_000_000):
        return f"{rounded:,f}"
    power = rounded.adjusted()
    mantissa = f"{rounded.scaleb(-power).normalize():f}"
    tens = "10" + str(power).translate(_SUPERSCRIPTS)
    return tens if mantissa == "1" else f"{mantissa} {TIMES} {tens}"
