"""Exact products of polynomials with large non-negative integer coefficients.

python-flint is used where it is installed; without it, Python's own integers multiply after Kronecker
substitution (coefficients are laid side by side in one long number). Both give the same integers.
"""

from collections.abc import Callable, Sequence
from functools import cache
from itertools import repeat

Product = Callable[[Sequence[int], Sequence[int]], list[int]]


def by_python(left: Sequence[int], right: Sequence[int]) -> list[int]:
    """Return the coefficients of the product, by one multiplication of two long Python integers."""
    bits = max(left).bit_length() + max(right).bit_length() + min(len(left), len(right)).bit_length()
    size = bits // 8 + 1
    packed = _packed(left, size) * _packed(right, size)
    length = len(left) + len(right) - 1
    raw = packed.to_bytes(size * length, "little")
    return [int.from_bytes(raw[at : at + size], "little") for at in range(0, size * length, size)]


def _packed(coefficients: Sequence[int], size: int) -> int:
    """Return the coefficients side by side, `size` bytes each, as one integer."""
    return int.from_bytes(b"".join(map(int.to_bytes, coefficients, repeat(size), repeat("little"))), "little")


def by_flint(left: Sequence[int], right: Sequence[int]) -> list[int]:
    """Return the coefficients of the product, by python-flint."""
    from flint import fmpz_poly

    product = fmpz_poly(list(left)) * fmpz_poly(list(right))
    found = [int(coefficient) for coefficient in product.coeffs()]
    return found + [0] * (len(left) + len(right) - 1 - len(found))


@cache
def fastest() -> Product:
    """Return python-flint's product where it can be imported, Python's otherwise."""
    try:
        import flint  # noqa: F401  (only asking whether it is there)
    except ImportError:
        return by_python
    return by_flint
