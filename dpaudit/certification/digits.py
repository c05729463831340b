"""Numbers inside the sentences of a certificate: six digits, bounds rounded outwards, stated numbers in full."""

from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal

_DIGITS = 6


def least(value: float) -> str:
    """Return a lower bound to six digits, rounded down.

    >>> least(9.86074855e-05), least(float("inf"))
    ('9.86074e-05', 'inf')
    """
    return _rounded(value, ROUND_FLOOR)


def most(value: float, limit: float) -> str:
    """Return an upper bound to six digits, rounded up; in full where that would exceed `limit` and the bound does not.

    >>> most(0.04121041, 1.0), most(0.12345671, 0.12345675), most(0.02, 0.01)
    ('0.0412105', '0.12345671', '0.02')
    """
    text = _rounded(value, ROUND_CEILING)
    return stated(value) if value <= limit < float(text) else text


def stated(value: float) -> str:
    """Return a number that somebody stated: its shortest decimal.

    >>> stated(1.0), stated(0.1), stated(1e-05), stated(1234567.0)
    ('1', '0.1', '1e-05', '1234567')
    """
    return repr(float(value)).removesuffix(".0")


def _rounded(value: float, direction: str) -> str:
    """Return a number, by its shortest decimal, to six digits, rounded in one direction."""
    return f"{float(Context(prec=_DIGITS, rounding=direction).create_decimal(Decimal(stated(value)))):.{_DIGITS}g}"
