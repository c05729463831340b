"""One loss on a lattice of step h: masses that dominate it, and labels that it attains.

A cell holds the losses l_i < L <= l_{i+1}, with masses p under P and r under Q. From above, its mass is split between
its two knots so that both masses are kept ("connecting the dots": Doroshenko et al., 2022, Section 4). From below, its
outputs get one of the two knots as a label, at random, by the ratio p / r: what follows from labels is a test.
All masses under Q are kept as e^l r, so that nothing overflows.
"""

import math
from dataclasses import dataclass

import numpy as np

from dpaudit.verifier.losses import Loss
from dpaudit.verifier.refusals import follow
from dpaudit.verifier.tails import Array, Side, above, below, blur, ends

_MOST = 2**22


@dataclass(frozen=True, slots=True)
class Cut:
    """Masses at the knots `first`, `first` + 1, ... times the step, and the mass at infinity.

    Rows of `masses`: from above under P; of the labels under P, from below, and under Q, from above; of both, the other
    way round.
    """

    first: int
    masses: Array
    beyond: float


def cut(loss: Loss, step: float) -> Cut:
    """Return a loss on the lattice; errors are added to what counts against it and taken from what counts for it."""
    low, high = ends(loss)
    follow((high - low) / step < _MOST, "a loss is too wide for this checker's lattice")
    first = math.floor(low / step) - 1
    at = np.arange(first, math.ceil(high / step) + 2) * step
    over, under = above(loss, at), below(loss, at)
    p, off_p = _cells(over, under, 0, 1.0)
    q, off_q = _cells(over, under, 1, math.exp(-step))
    slip = 4 * blur(loss) * (np.abs(p) + np.abs(q))  # the cells' ends are rounded
    up = np.maximum(0.0, (p - q + off_p + off_q + slip) / -math.expm1(-step))
    upper = knots(np.maximum(0.0, p + off_p - up), up)
    upper[0] += min(1 - over[0][0] + over[2][0], under[0][0] + under[2][0])
    known = (p > off_p) & (q > off_q)
    ratio = np.log(np.where(known, p, 1.0) / np.where(known, q, 1.0)) / step
    share = np.where(known, np.clip(ratio, 0.0, 1.0), p > q)
    sides = [(p - off_p, 1.0), (q + off_q, math.exp(step)), (p + off_p, 1.0), (q - off_q, math.exp(step))]
    rows = ((np.maximum(0.0, row), grown) for row, grown in sides)
    labels = [knots(row * (1 - share), row * share * grown) for row, grown in rows]
    return Cut(first, np.array([upper, *labels]), min(1.0, float(over[0][-1] + over[2][-1])))


def _cells(over: Side, under: Side, law: int, fade: float) -> tuple[Array, Array]:
    """Return the masses of the cells under P (0) or Q (1), from differences of the smaller tail, and their errors."""
    high = over[law][:-1] <= under[law][1:]
    masses = np.where(high, over[law][:-1] - fade * over[law][1:], fade * under[law][1:] - under[law][:-1])
    return masses, 2 * np.where(high, over[2][:-1], under[2][1:])


def knots(lower: Array, upper: Array) -> Array:
    """Return the masses at the knots from those at the two ends of each cell."""
    return np.concatenate((lower, [0.0])) + np.concatenate(([0.0], upper))
