"""Losses on a lattice with whole-number probabilities, and the two ways to round them.

A lattice that *dominates* has probabilities rounded up, losses above its last knot counted as infinite and
losses below its first moved up to it. A lattice that is *dominated* stands for a post-processing of the
outputs, with probabilities rounded down. Products of either kind keep its meaning, so that both may be
composed and coarsened at will; delta computed from them is a true bound.

What a dominated lattice holds need not be losses: any label of an output will do, if both laws of the label are
known. `others` are the probabilities under Q, each times e^label and rounded up; an event S of labels shows
that delta(epsilon) >= P(S) - e^epsilon Q(S), whichever S is taken.
"""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from dpaudit.engines.verified.discretised_loss import DiscretisedLoss, Floats


@dataclass(frozen=True, slots=True, kw_only=True)
class Lattice:
    """Probabilities `masses[i]` / 2^bits of losses origin + i width, and `infinite` / 2^bits of an infinite one.

    `others[i]` / 2^bits is e^(origin + i width) times the probability under Q; left out, it is `masses` too.
    """

    origin: Fraction
    width: Fraction
    masses: tuple[int, ...]
    infinite: int
    bits: int
    others: tuple[int, ...] | None = None

    @property
    def top(self) -> Fraction:
        """The largest finite loss."""
        return self.origin + self.width * (len(self.masses) - 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Rounding:
    """One of the two ways to round: everything the verified engine does with lattices of one kind."""

    from_cells: Callable[[DiscretisedLoss, int], Lattice]
    product: Callable[[Lattice, Lattice], Lattice]
    coarsened: Callable[[Lattice, Fraction], Lattice]
    trimmed: Callable[[Lattice, int], Lattice]
    delta: Callable[[Lattice, float], float]


def floored(values: Floats, bits: int) -> list[int]:
    """Return floor(value 2^bits) of non-negative floats, exactly."""
    mantissas, shifts = _parts(values, bits)
    return [m << s if s >= 0 else m >> -s for m, s in zip(mantissas, shifts, strict=True)]


def ceiled(values: Floats, bits: int) -> list[int]:
    """Return ceil(value 2^bits) of non-negative floats, exactly."""
    mantissas, shifts = _parts(values, bits)
    return [m << s if s >= 0 else -(-m >> -s) for m, s in zip(mantissas, shifts, strict=True)]


def _parts(values: Floats, bits: int) -> tuple[list[int], list[int]]:
    """Return whole mantissas and the shifts that scale them to 2^bits."""
    mantissas, exponents = np.frexp(values)
    return (mantissas * 2.0**53).astype(np.int64).tolist(), (exponents.astype(np.int64) - 53 + bits).tolist()


def floats(masses: Sequence[int], bits: int) -> Floats:
    """Return masses / 2^bits in floating point, each right to one unit in the last place."""
    return np.asarray(np.ldexp(np.array(masses, np.float64), -bits), np.float64)


def gaps(lattice: Lattice, epsilon: float, below: int = 0) -> tuple[int, Floats]:
    """Return the first index whose loss exceeds `epsilon` - `below`, and loss - `epsilon` from there on.

    Guarantee: where `below` is 0, each gap is right to a relative 1e-15.
    """
    start = lattice.origin - Fraction(epsilon)
    first = max(0, math.floor((-below - start) / lattice.width) + 1)
    number = max(0, len(lattice.masses) - first)
    nearest = float(start + lattice.width * first)
    return first, np.asarray(nearest + float(lattice.width) * np.arange(number), np.float64)


def tail_length(masses: Iterable[int], most: int) -> int:
    """Return how many leading masses sum to `most` or less."""
    total = length = 0
    for mass in masses:
        total += mass
        if total > most:
            break
        length += 1
    return length


def dot(masses: Sequence[int], scaled: list[int]) -> int:
    """Return the sum of products, exactly."""
    return sum(map(int.__mul__, masses, scaled))


def positions(lattice: Lattice) -> Floats:
    """Return the losses in floating point."""
    return np.asarray(float(lattice.origin) + float(lattice.width) * np.arange(len(lattice.masses)), np.float64)
