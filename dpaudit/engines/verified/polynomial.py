"""Exact products of polynomials with large non-negative integer coefficients.

By Kronecker substitution: the coefficients are laid side by side in one long number, wide enough that they
cannot run into each other, and two such numbers are multiplied. python-flint multiplies long numbers faster
than Python and is used where it is installed; both give the same integers.
"""

from collections.abc import Callable, Sequence
from functools import cache
from importlib.util import find_spec

import numpy as np

Multiply = Callable[[int, int], int]


def scaled_product(left: Sequence[int], right: Sequence[int], bits: int, multiply: Multiply) -> list[int]:
    """Return floor(coefficient / 2^bits) for each coefficient of the product.

    Raises: ValueError: bits is no multiple of 8, or a coefficient is negative (as OverflowError).
    """
    if bits % 8:
        raise ValueError(f"Expected bits={bits} to be a multiple of 8.")
    widest = max(left).bit_length() + max(right).bit_length() + min(len(left), len(right)).bit_length()
    size, dropped = max(widest, bits) // 8 + 1, bits // 8
    first = _packed(left, size)
    product = multiply(first, first if right is left else _packed(right, size))
    raw = product.to_bytes(size * (len(left) + len(right) - 1), "little")
    kept = np.ascontiguousarray(np.frombuffer(raw, np.uint8).reshape(-1, size)[:, dropped:])
    return [int.from_bytes(held, "little") for held in kept.view(f"V{size - dropped}").ravel().tolist()]


def _packed(coefficients: Sequence[int], size: int) -> int:
    """Return the coefficients side by side, `size` bytes each, as one integer."""
    return int.from_bytes(b"".join([coefficient.to_bytes(size, "little") for coefficient in coefficients]), "little")


def by_python(left: int, right: int) -> int:
    """Return the product of two long integers, by Python."""
    return left * right


def by_flint(left: int, right: int) -> int:
    """Return the product of two long integers, by python-flint."""
    from flint import fmpz

    first = fmpz(left)
    return int(first * (first if right is left else fmpz(right)))  # squaring the same object is quicker


@cache
def fastest() -> Multiply:
    """Return python-flint's multiplication where it can be imported, Python's otherwise."""
    return by_flint if find_spec("flint") else by_python
