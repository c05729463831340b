"""Rounding up: lattices that dominate a loss, for upper bounds."""

import math
from fractions import Fraction

import numpy as np

from dpaudit.engines.verified.discretised_loss import DiscretisedLoss
from dpaudit.engines.verified.lattice import Lattice, Rounding, ceiled, dot, gaps, tail_length
from dpaudit.engines.verified.placing import place
from dpaudit.engines.verified.polynomial import fastest, scaled_product

_BLURRED = 64  # bits by which a mass may exceed 1 before it says nothing


def _from_cells(cells: DiscretisedLoss, bits: int) -> Lattice:
    """Return a lattice that dominates the loss: each cell is split between its ends, keeping p and q."""
    masses = cells.knots.copy()
    masses[1:] += cells.up
    masses[:-1] += cells.down
    masses[0] += cells.below
    factor = (1 + cells.error) * (1 + 1e-14)
    outside = Fraction(cells.infinite) + Fraction(cells.above * factor)
    return Lattice(
        origin=cells.origin + cells.slack,
        width=cells.width,
        masses=tuple(ceiled(masses * factor, bits)),
        infinite=math.ceil(outside * 2**bits),
        bits=bits,
    )


def _product(left: Lattice, right: Lattice) -> Lattice:
    """Return the composition, each probability rounded up; everything lost where rounding has taken over."""
    both = left.infinite + right.infinite - (left.infinite * right.infinite >> left.bits)
    shift = left.bits
    masses = tuple(mass + 1 for mass in scaled_product(left.masses, right.masses, shift, fastest()))
    if max(masses).bit_length() > shift + _BLURRED:
        masses, both = (0,), 1 << shift
    return Lattice(
        origin=left.origin + right.origin,
        width=left.width,
        masses=masses,
        infinite=min(both, 1 << shift),
        bits=shift,
    )


def _coarsened(lattice: Lattice, width: Fraction) -> Lattice:
    """Return a lattice of another width: atoms between knots are split between them, keeping p and q."""
    places = place(lattice, width)
    masses = [0] * (places.cells + 1)
    for mass, at, lift, stay in zip(lattice.masses, places.at, places.lift, places.stay, strict=True):
        if lift == 0:
            masses[at] += mass
        else:
            masses[at + 1] += (mass * (lift + (lift >> 45) + 2) >> 62) + 1
            masses[at] += (mass * (stay + (stay >> 45) + 2) >> 62) + 1
    return Lattice(
        origin=places.origin + places.slack,
        width=width,
        masses=tuple(masses),
        infinite=lattice.infinite,
        bits=lattice.bits,
    )


def _trimmed(lattice: Lattice, mass: int) -> Lattice:
    """Return the lattice without a tail of `mass` on each side: the upper becomes infinite, the lower moves up."""
    masses = lattice.masses
    first, last = tail_length(masses, mass), tail_length(reversed(masses), mass)
    if first + last >= len(masses):
        return lattice
    kept = list(masses[first : len(masses) - last])
    kept[0] += sum(masses[:first])
    return Lattice(
        origin=lattice.origin + lattice.width * first,
        width=lattice.width,
        masses=tuple(kept),
        infinite=lattice.infinite + sum(masses[len(masses) - last :]),
        bits=lattice.bits,
    )


def _delta(lattice: Lattice, epsilon: float) -> float:
    """Return delta(epsilon), rounded up."""
    first, gap = gaps(lattice, epsilon)
    scaled = [w + 1 for w in (-np.expm1(-gap) * ((1 + 1e-13) * 2.0**62)).astype("int64").tolist()]
    total = Fraction(dot(lattice.masses[first:], scaled) + (lattice.infinite << 62), 1 << (62 + lattice.bits))
    return min(1.0, math.nextafter(float(total), math.inf)) if total else 0.0


DOMINATING = Rounding(from_cells=_from_cells, product=_product, coarsened=_coarsened, trimmed=_trimmed, delta=_delta)
