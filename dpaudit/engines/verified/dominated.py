"""Rounding down: lattices that a loss dominates, for lower bounds.

Merging outputs is post-processing and can only lose privacy loss. Merged outputs of probabilities p under P
and q under Q have the loss ln(p/q); if that is at least a knot, they may stand at the knot. Here knot j
gathers the cell above it (fraction `1 - lifted`) and lifts a fraction of the cell below it, as much as the
condition p >= q e^(l_j) allows:

    lifted[j-1] down[j-1] <= (1 - lifted[j]) up[j] e^-width.

Where probabilities vary slowly about half of each cell is lifted, and the error is of second order in the
width.

On a width that is no multiple of the old one no such lifting is good, and labels (`labels`) take its place.
"""

import math
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

import numpy as np

from dpaudit.engines.verified.discretised_loss import DiscretisedLoss
from dpaudit.engines.verified.labels import delta_of_labels, labelled
from dpaudit.engines.verified.lattice import Lattice, Rounding, dot, floats, floored, gaps, tail_length
from dpaudit.engines.verified.placing import Placing, place
from dpaudit.engines.verified.polynomial import fastest, scaled_product

_SAFE = 1 - 1e-11
_BLURRED = 64  # bits by which a probability under Q may exceed 1 before its label is given up


def _from_cells(cells: DiscretisedLoss, bits: int) -> Lattice:
    """Return a lattice that the loss dominates."""
    factor = max(0.0, 1 - cells.error) * (1 - 1e-14)
    safe = (1 - 4 * cells.error) * _SAFE
    merged = _gathered(
        floored(cells.knots * factor, bits),
        floored((cells.up + cells.down) * factor, bits),
        cells.up.tolist(),
        cells.down.tolist(),
        math.exp(-float(cells.width)) * safe,
    )
    merged[-1] += int(floored(np.array([cells.above * factor]), bits)[0]) if cells.above > 1e-290 else 0
    return Lattice(
        origin=cells.origin - cells.slack,
        width=cells.width,
        masses=tuple(merged),
        infinite=math.floor(Fraction(cells.infinite) * 2**bits),
        bits=bits,
    )


def _gathered(
    knots: Sequence[int], masses: Sequence[int], up: Sequence[float], down: Sequence[float], decay: float
) -> list[int]:
    """Return the probability of each knot after lifting, from the top knot to the lowest.

    This loop alone makes the result valid, whatever shares are wished for.
    """
    found = list(knots)
    budget = 0.0
    wished = _wished(up, down, decay)
    for j in range(len(masses) - 1, -1, -1):
        mass, gain, cost = masses[j], up[j], down[j]
        if not mass:
            budget = 0.0
            continue
        share = min(wished[j], budget / cost if cost > 0 else 1.0)
        lifted = mass * int(share * 2.0**53) >> 53
        found[j + 1] += lifted
        found[j] += max(0, mass - lifted - 1)
        budget = (1 - share) * gain * decay
    return found


def _wished(up: Sequence[float], down: Sequence[float], decay: float) -> list[float]:
    """Return which share of each cell to lift if the condition allows.

    Equality everywhere would waste nothing. As a recursion it is stable from the top where probabilities fall,
    which the caller's loop follows, and from the bottom where they rise, which is solved here.
    """
    wished = [gain / (gain + cost) if gain > 0 else 0.0 for gain, cost in zip(up, down, strict=True)]
    for j in range(1, len(up)):
        gain = up[j] * decay
        if gain >= down[j - 1] and gain > 0:
            wished[j] = max(0.0, 1 - wished[j - 1] * down[j - 1] / gain)
    return wished


def _product(left: Lattice, right: Lattice) -> Lattice:
    """Return the composition, probabilities under P rounded down and those under Q rounded up.

    Where a lattice holds losses only, each stated mass m of a knot whose true mass is larger stands for outputs that
    are kept with the ratio as their chance under both laws: then P gives m exactly and Q at most m e^-loss.
    """
    both = left.infinite + right.infinite - (-(-left.infinite * right.infinite >> left.bits))
    shift = left.bits
    others = None
    if left.others is not None or right.others is not None:
        first = left.others or left.masses
        second = first if right is left else right.others or right.masses
        others = tuple(mass + 1 for mass in scaled_product(first, second, shift, fastest()))
        if max(others).bit_length() > shift + _BLURRED:
            return _constant(left, max(0, both))
    return Lattice(
        origin=left.origin + right.origin,
        width=left.width,
        masses=tuple(scaled_product(left.masses, right.masses, shift, fastest())),
        infinite=max(0, both),
        bits=shift,
        others=others,
    )


def _constant(lattice: Lattice, infinite: int) -> Lattice:
    """Return the lattice of outputs that are merged into one, but for those that Q cannot produce.

    It replaces labels whose bounds under Q have been rounded up, product by product, until they say nothing.
    """
    whole = 1 << lattice.bits
    return Lattice(
        origin=Fraction(0), width=lattice.width, masses=(whole - infinite,), infinite=infinite, bits=lattice.bits
    )


def _coarsened(lattice: Lattice, width: Fraction) -> Lattice:
    """Return a lattice of another width, by lifting where that wastes nothing and by labels elsewhere."""
    if lattice.others is None and lattice.width * (len(lattice.masses) - 1) < width:
        return _merged(lattice, width)
    places = place(lattice, width)
    if lattice.others is None and not places.slack:
        return _lifted(lattice, width, places)
    return labelled(lattice, width, places)


def _lifted(lattice: Lattice, width: Fraction, places: Placing) -> Lattice:
    """Return the lattice with the atoms between two knots gathered on them."""
    knots, masses = [0] * (places.cells + 1), [0] * places.cells
    up, down = [0.0] * places.cells, [0.0] * places.cells
    sizes = floats(lattice.masses, lattice.bits).tolist()
    for mass, size, at, lift, stay in zip(lattice.masses, sizes, places.at, places.lift, places.stay, strict=True):
        if lift == 0:
            knots[at] += mass
        else:
            masses[at] += mass
            up[at] += size * lift
            down[at] += size * stay
    return Lattice(
        origin=places.origin - places.slack,
        width=width,
        masses=tuple(_gathered(knots, masses, up, down, math.exp(-float(width)) * _SAFE)),
        infinite=lattice.infinite,
        bits=lattice.bits,
    )


def _merged(lattice: Lattice, width: Fraction) -> Lattice:
    """Return the lattice with all finite losses merged into one."""
    masses = floats(lattice.masses, lattice.bits)
    if len(masses) == 1:
        return replace(lattice, width=width)
    relative = float(masses @ np.exp(-float(lattice.width) * np.arange(len(masses)))) / float(masses.sum())
    return Lattice(
        origin=lattice.origin + Fraction(-math.log(relative) - 1e-12),
        width=width,
        masses=(sum(lattice.masses),),
        infinite=lattice.infinite,
        bits=lattice.bits,
    )


def _trimmed(lattice: Lattice, mass: int) -> Lattice:
    """Return the lattice without a tail of `mass` on each side: the upper moves down, the lower is dropped."""
    masses = lattice.masses
    first, last = tail_length(masses, mass), tail_length(reversed(masses), mass)
    if first + last >= len(masses):
        return lattice

    def kept(held: tuple[int, ...]) -> tuple[int, ...]:
        return (*held[first : len(held) - last - 1], sum(held[len(held) - last - 1 :]))

    return Lattice(
        origin=lattice.origin + lattice.width * first,
        width=lattice.width,
        masses=kept(masses),
        infinite=lattice.infinite,
        bits=lattice.bits,
        others=None if lattice.others is None else kept(lattice.others),
    )


def _delta(lattice: Lattice, epsilon: float) -> float:
    """Return delta(epsilon), rounded down."""
    if lattice.others is not None:
        return delta_of_labels(lattice, lattice.others, epsilon)
    first, gap = gaps(lattice, epsilon)
    scaled = np.maximum(-np.expm1(-gap) * ((1 - 1e-13) * 2.0**62) - 1, 0).astype("int64").tolist()
    total = Fraction(dot(lattice.masses[first:], scaled) + (lattice.infinite << 62), 1 << (62 + lattice.bits))
    return max(0.0, math.nextafter(float(total), 0)) if total else 0.0


DOMINATED = Rounding(from_cells=_from_cells, product=_product, coarsened=_coarsened, trimmed=_trimmed, delta=_delta)
