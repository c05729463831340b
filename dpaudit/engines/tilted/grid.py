"""Losses on knots of one common width, for either side: masses that dominate a loss, and labels that it dominates.

Upper side: an atom between two knots is split between them so that its probability under both laws stays ("connect
the dots"). Lower side: a cell is given a label, drawn from the two knots around its mean log ratio with the same
chances under both laws. Both laws of the label are held, the one under Q as `others`: times e^loss.
Source: Doroshenko, Ghazi, Kamath, Kumar and Manurangsi (2022), Section 4, for the upper side.
"""

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from dpaudit.engines.cells.discretised_loss import DiscretisedLoss, split_phase, split_weights
from dpaudit.engines.tilted.transform import Floats

_UNIT = 2.0**-53
_SNAP = 3e-9  # what an atom may be moved to lie on a knot, in widths
_SUMMED = 1e-12  # relative; what the shares of up to some thousand atoms on a knot, and their sum, may be wrong by
_TINY = 1e-280  # what stands for less counts as nothing on the lower side


@dataclass(frozen=True, slots=True, kw_only=True)
class Grid:
    """Masses at the losses origin + k width, and the mass at infinity.

    Upper side: both arrays are one, a bound from above. Lower side: `masses` under P from below, `others` under Q times
    e^loss from above; what has no label is in neither.
    """

    origin: Fraction
    masses: Floats
    others: Floats
    infinite: float = 0.0


def dominating(cells: DiscretisedLoss, width: float) -> Grid:
    """Return masses whose curve is nowhere below that of the loss."""
    masses = cells.knots.copy()
    masses[1:] += cells.up
    masses[:-1] += cells.down
    masses[0] += cells.below
    masses *= (1 + cells.error) * (1 + 1e-14)
    infinite = cells.infinite + cells.above * (1 + cells.error) * (1 + 1e-14)
    if cells.width == Fraction(width):
        return Grid(origin=cells.origin + cells.slack, masses=masses, others=masses, infinite=infinite)
    ratio = float(cells.width / Fraction(width))
    top = (len(masses) - 1) * ratio
    number = math.ceil(top - _SNAP)
    phases = np.maximum(number - top + np.arange(len(masses)) * ratio, 0.0)  # a loss within the snap of 0 is raised
    at, part = split_phase(np.asarray(phases, np.float64))
    lift, stay = split_weights(part, width)
    placed = _placed(number, at, masses * np.where(part > 0, stay, 1.0), masses * np.where(part > 0, lift, 0.0))
    placed *= 1 + _SUMMED
    origin = cells.origin + cells.width * (len(masses) - 1) - Fraction(width) * number
    slack = cells.slack + Fraction(width) * Fraction(_SNAP + 8 * _UNIT * number)
    return Grid(origin=origin + slack, masses=placed, others=placed, infinite=infinite)


def dominated(cells: DiscretisedLoss, width: float) -> Grid:
    """Return both laws of a label of the output.

    A cell of `up` and `down` has the probability up + down under P and, times e^(its lower knot), up e^-width + down
    under Q. An output without a label, beyond the cells, belongs to no event that the label decides.
    """
    step = float(cells.width)
    decay = math.exp(-step)
    masses = np.concatenate([cells.knots, cells.up + cells.down])
    masses[masses < _TINY] = 0.0
    others = np.concatenate([cells.knots, cells.up * decay + cells.down])
    ends = np.arange(len(cells.knots)) * (step / width)
    seen = np.where(masses[len(ends) :] > 0, others[len(ends) :] / np.maximum(masses[len(ends) :], 1e-300), 1.0)
    knots = np.concatenate([ends, ends[:-1] + np.clip(-np.log(np.maximum(seen, decay)), 0, step) / width])
    at, part = split_phase(np.asarray(knots, dtype=np.float64))
    base = np.concatenate([ends, ends[:-1]])
    number = int(at.max()) + 1
    rise = np.exp((at - base) * width)  # e^(label - lower knot of the cell), for the lower of two labels
    under = 1 - 2 * cells.error - _SUMMED
    over = (1 + 2 * cells.error) * (1 + 4 * float(cells.slack)) * (1 + _SUMMED + 16 * _UNIT * len(ends) * step)
    placed = _placed(number, at, masses * (1 - part), masses * part) * under
    other = _placed(number, at, others * rise * (1 - part), others * rise * math.exp(width) * part) * over
    return Grid(origin=cells.origin, masses=np.maximum(placed, 0.0), others=other)


def _placed(number: int, at: np.ndarray, low: Floats, high: Floats) -> Floats:
    """Return the sums of `low` at the knots `at` and of `high` at those above."""
    found = np.bincount(at, low, number + 2) + np.bincount(at + 1, high, number + 2)
    return np.asarray(found[: number + 1] if not found[number + 1] else found, np.float64)
