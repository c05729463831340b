"""A privacy loss cut into cells of equal width, from which the pairs above it and below it start.

Knots l_0 < l_1 < ... lie `width` apart. A cell is the event that the loss L lies between two neighbouring
knots; all that matters of it is its probability p under P and q under Q. Those two numbers are held as

    up   = (p - q e^(l_j)) / (1 - e^-width)         down = p - up,

the one way to split p between the two knots that keeps both p and q ("connect the dots"). Each is the
integral of a positive function and computed as such, so that it is right to a *relative* `error`; nothing
is ever the difference of nearly equal numbers.
Source: Doroshenko, Ghazi, Kamath, Kumar and Manurangsi (2022), Section 4.
"""

from dataclasses import dataclass

import numpy as np

from dpaudit.engines.pairs.finite_pair import FinitePair
from dpaudit.engines.transform import Floats

TINY = 1e-300
"""Stands for a probability that underflows: one unit when rounded up, none when rounded down."""
_UNIT = 2.0**-53


@dataclass(frozen=True, slots=True, kw_only=True)
class Cells:
    """`up` and `down` of each cell, from the knot `origin` on, `width` each.

    `above` and `below` bound the probability under P of what lies outside, `below_other` that under Q of what is below.
    Every stated loss is within `slack` of the true one.
    """

    origin: float
    width: float
    up: Floats
    down: Floats
    above: float = 0.0
    below: float = 0.0
    below_other: float = 0.0
    error: float
    slack: float = 0.0

    @property
    def knots(self) -> Floats:
        """The losses of all knots, one more than there are cells."""
        return np.asarray(self.origin + self.width * np.arange(len(self.up) + 1), np.float64)

    def reversed(self) -> "Cells":
        """Return the cells of the reversed loss: an atom of p at l becomes one of p e^-l at -l."""
        weight = np.exp(-self.knots)
        return Cells(
            origin=-float(self.knots[-1]),
            width=self.width,
            up=np.maximum(weight[:-1] * self.down, TINY)[::-1],
            down=np.maximum(weight[1:] * self.up, TINY)[::-1],
            above=self.below_other,
            below=self.above,
            below_other=self.above,
            error=self.error + 2 * self.slack + 1e-15 * (1 + float(np.abs(self.knots).max())),
            slack=self.slack,
        )

    def pair_above(self) -> FinitePair:
        """Return the atoms on all knots, which dominate the loss; each loss is raised by the slack."""
        masses = np.append(self.down, 0.0)
        masses[1:] += self.up
        masses[0] += self.below
        factor = (1 + self.error) * (1 + 1e-14)
        return FinitePair(
            losses=self.knots + self.slack,
            masses=np.asarray(masses * factor, np.float64),
            infinite=self.above * factor,
            missing=self.below_other * factor,
            error=self._rounding,
        )

    def pair_below(self) -> FinitePair:
        """Return one merged output for each cell, which the loss dominates."""
        mass = self.up + self.down
        seen = mass > 1e-290
        under_q = self.up * np.exp(-self.width) + self.down
        return FinitePair(
            losses=np.asarray(self.knots[:-1][seen] - np.log(under_q[seen] / mass[seen]), np.float64),
            masses=np.asarray(mass[seen], np.float64),
            error=2 * self.error + 2 * self.slack + 2 * self._rounding,
        )

    @property
    def _rounding(self) -> float:
        """What the places of the knots may have made of a probability under Q, relatively."""
        return 4 * _UNIT * (2 + float(np.abs(self.knots).max()))
