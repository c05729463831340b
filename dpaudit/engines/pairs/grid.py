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

from dpaudit.engines.pairs.finite_pair import FinitePair, added_up, split_masses
from dpaudit.engines.transform import Floats

_UNIT = 2.0**-53
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


def dominating(pair: FinitePair, width: float) -> Grid:
    """Return masses whose curve is nowhere below that of a pair from above; its likeliest loss lies on a knot."""
    likeliest = _likeliest(pair)
    first, masses = split_masses(pair, width, likeliest)
    masses *= (1 + pair.error) * (1 + _SUMMED)
    slack = 8 * _UNIT * (float(np.abs(pair.losses).max(initial=0.0)) + width * (len(masses) + abs(first)))
    origin = Fraction(likeliest) + Fraction(width) * first + Fraction(slack)
    return Grid(origin=origin, masses=masses, others=masses, infinite=pair.infinite * (1 + pair.error) * (1 + 1e-14))


def dominated(pair: FinitePair, width: float) -> Grid:
    """Return both laws of a label of the output of a pair from below.

    An output without a label, too rare for floats, belongs to no event that the label decides.
    """
    seen = pair.masses > _TINY
    masses, losses = pair.masses[seen], pair.losses[seen]
    likeliest = _likeliest(pair)
    heights = losses - likeliest
    at = np.floor(heights / width)
    part = np.clip(heights / width - at, 0.0, 1.0)
    rise = np.exp(at * width - heights)  # e^(label - loss), for the lower of two labels
    under = 1 - pair.error - _SUMMED
    over = (1 + pair.error) * (1 + _SUMMED + 16 * _UNIT * (float(np.abs(heights).max(initial=0.0)) + abs(likeliest)))
    first = int(at.min(initial=0.0))
    places = (at - first).astype(np.int64)
    placed = added_up(places, masses * (1 - part), masses * part) * under
    other = added_up(places, masses * rise * (1 - part), masses * rise * math.exp(width) * part) * over
    origin = Fraction(likeliest) + Fraction(width) * first
    return Grid(origin=origin, masses=np.maximum(placed, 0.0), others=other)


def _likeliest(pair: FinitePair) -> float:
    """Return the loss of the largest mass: where a heavy atom lies on a knot, it adds no variance."""
    return float(pair.losses[np.argmax(pair.masses)]) if len(pair.losses) else 0.0
