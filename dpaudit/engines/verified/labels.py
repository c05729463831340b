"""Labels in place of losses: a lower side that is right on average where lattices of unlike widths meet.

Each atom's label is drawn from the two knots around it, with the same chances under both laws, and the lattice holds
both laws of the label. The label errs by a width and is right on average, and a test by the label errs by the square
of that.
"""

import math
from fractions import Fraction

import numpy as np

from dpaudit.engines.verified.lattice import Lattice, gaps
from dpaudit.engines.verified.placing import Placing

_WHOLE = 1 << 62
_BELOW = 1  # labels that lie lower than this below epsilon are not worth a look


def labelled(lattice: Lattice, width: Fraction, places: Placing) -> Lattice:
    """Return the lattice with each atom's label drawn from the two knots around it, `lift` being the upper's chance.

    An atom of label l and weight m under Q times e^l gives knot b the weight m chance e^(b - l). As the lift is
    (1 - e^-(l - a)) / (1 - e^-width), e^-(l - a) follows from it. Labels that are told lower than they are cost
    nothing, as the weights only fall with them; beyond a width of 1 every label is told so.
    """
    masses, others = [0] * (places.cells + 1), [0] * (places.cells + 1)
    lifts = np.array(places.lift, np.int64) if width <= 1 else np.zeros(len(places.lift), np.int64)
    from_lower = (1 + lifts / _WHOLE * math.expm1(-float(width))) * (1 + 1e-12)
    raised = (lifts * from_lower * math.exp(min(1.0, float(width)))).tolist()
    lowered = ((_WHOLE - lifts) * from_lower).tolist()
    held = lattice.others or lattice.masses
    for mass, other, at, lift, high, low in zip(
        lattice.masses, held, places.at, lifts.tolist(), raised, lowered, strict=True
    ):
        if lift == 0:
            masses[at] += mass
            others[at] += other
        else:
            masses[at + 1] += mass * lift >> 62
            masses[at] += mass * (_WHOLE - lift) >> 62
            others[at + 1] += (other * (int(high) + 1) >> 62) + 1
            others[at] += (other * (int(low) + 1) >> 62) + 1
    return Lattice(
        origin=places.origin - places.slack,
        width=width,
        masses=tuple(masses),
        infinite=lattice.infinite,
        bits=lattice.bits,
        others=tuple(others),
    )


def delta_of_labels(lattice: Lattice, others: tuple[int, ...], epsilon: float) -> float:
    """Return P(S) - e^epsilon Q(S), rounded down, S being the labels near `epsilon` or above that add to it."""
    first, gap = gaps(lattice, epsilon, _BELOW)
    factors = (np.exp(-gap) * ((1 + 1e-12) * 2.0**60) + 1).astype(np.int64).tolist()
    terms = ((m << 60) - o * f for m, o, f in zip(lattice.masses[first:], others[first:], factors, strict=True))
    total = Fraction(sum(term for term in terms if term > 0) + (lattice.infinite << 60), 1 << (60 + lattice.bits))
    return max(0.0, math.nextafter(float(total), 0)) if total else 0.0
