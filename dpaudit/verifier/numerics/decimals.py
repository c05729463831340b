"""Numbers as the sentences of a certificate write them."""

from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal


def below(value: float) -> str:
    """Return a lower bound to six digits, rounded down."""
    return _six(value, ROUND_FLOOR)


def above(value: float, claimed: float) -> str:
    """Return an upper bound to six digits, rounded up; in full where that would hide that it meets the claim."""
    text = _six(value, ROUND_CEILING)
    return full(value) if value <= float(claimed) < float(text) else text


def full(value: float) -> str:
    """Return a stated number by its shortest decimal."""
    return repr(float(value)).removesuffix(".0")


def _six(value: float, direction: str) -> str:
    """Return a number, by its shortest decimal, to six digits, rounded in one direction."""
    return f"{float(Context(prec=6, rounding=direction).create_decimal(Decimal(full(value)))):.6g}"
