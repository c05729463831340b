"""Numbers for readers: few digits, bounds rounded outwards, powers of ten written out."""

import math
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN, Decimal

from dpaudit.model.bracket import Bracket

TIMES = "\N{MULTIPLICATION SIGN}"
_SMALLEST = 1e-300
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


def interval(bracket: Bracket, digits: int = 4) -> str:
    """Return a bracket as one number, its upper end, where both ends round alike, else as two.

    >>> interval(Bracket(lower=0.5, upper=0.75, engines=()))
    '0.5 to 0.75'
    """
    if nearest(bracket.lower, digits) == nearest(bracket.upper, digits):
        return at_most(bracket.upper, digits)
    return f"{at_least(bracket.lower, digits)} to {at_most(bracket.upper, digits)}"


def both_ends(bracket: Bracket) -> str:
    """Return a bracket with both its ends, each rounded outwards."""
    return f"between {at_least(bracket.lower)} and {at_most(bracket.upper)}"


def times(ratio: float) -> str:
    """Return a ratio to three digits, with thousands separated."""
    return nearest(ratio, 3)


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


def _written(value: float, digits: int, rounding: str) -> str:
    """Return `value` rounded to significant digits in the stated direction."""
    if math.isinf(value) or math.isnan(value):
        return "∞" if value > 0 else "-∞" if value < 0 else "not a number"
    if 0 < value < _SMALLEST and rounding == ROUND_CEILING:
        value = _SMALLEST
    exact = Decimal(repr(float(value)))
    if exact == 0:
        return "0"
    unit = Decimal((0, (1,), exact.adjusted() - digits + 1))
    rounded = exact.quantize(unit, rounding=rounding).normalize()
    if Decimal("0.001") <= abs(rounded) < Decimal(1_000_000):
        return f"{rounded:,f}"
    power = rounded.adjusted()
    mantissa = f"{rounded.scaleb(-power).normalize():f}"
    tens = "10" + str(power).translate(_SUPERSCRIPTS)
    return tens if mantissa == "1" else f"{mantissa} {TIMES} {tens}"
