"""The places of the atoms of a lattice among the cells of another one."""

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from dpaudit.engines.verified.discretised_loss import split_phase, split_weights
from dpaudit.engines.verified.lattice import Lattice


@dataclass(frozen=True, slots=True, kw_only=True)
class Placing:
    """The new first knot and number of cells; for each atom the knot below it and the shares for both ends.

    Unit: shares are whole multiples of 2^-62; an atom on a knot has `lift` 0. Losses are off by `slack` at most.
    """

    origin: Fraction
    cells: int
    at: list[int]
    lift: list[int]
    stay: list[int]
    slack: Fraction


def place(lattice: Lattice, width: Fraction) -> Placing:
    """Return the places of all atoms among cells of `width`, the likeliest atom lying on a knot.

    Losses of a mechanism with atoms have peaks a fixed number of knots apart; an anchor on one of them keeps
    the others on knots, too, as long as widths double. When the width is 2^n times as large, every place is
    exact; otherwise `slack` covers its rounding.
    """
    ratio = lattice.width / width
    number = len(lattice.masses)
    anchor = lattice.masses.index(max(lattice.masses))
    below, above = (math.ceil(steps * ratio) for steps in (anchor, number - 1 - anchor))
    at, part = split_phase(np.asarray(below + (np.arange(number) - anchor) * float(ratio), np.float64))
    lift, stay = split_weights(part, float(width))
    exact = ratio.numerator == 1 and ratio.denominator & (ratio.denominator - 1) == 0
    return Placing(
        origin=lattice.origin + lattice.width * anchor - width * below,
        cells=below + above,
        at=at.tolist(),
        lift=(lift * 2.0**62).astype(np.int64).tolist(),
        stay=(stay * 2.0**62).astype(np.int64).tolist(),
        slack=Fraction(0) if exact else 3 * width / 10**9,
    )
