"""A record of a sample of fixed size against its zero, under Gaussian noise: both orders have their own worst records.

With one deviation as unit, mu the move from zero and q the rate, the record present against zeroed is dominated for
epsilon of 0 or more by (1 - q) N(0) + q N(2 mu) against (1 - q) N(0) + q N(mu), all others being opposite; zeroed
against present by (1 - q) N(0) + q N(mu) against N(0), all others being alike. Both are cut into finite laws here.
Source: Balle, Barthe and Gaboardi (2018), Theorem 1; Neyman and Pearson (1933).
"""

import math
from collections.abc import Callable
from functools import lru_cache
from typing import TypeAlias

import numpy as np
from scipy.special import ndtr

from dpaudit.engines.transform import Floats
from dpaudit.model.losses import DiscreteLoss
from dpaudit.model.losses.sampled_ratios import absent, sampled_losses

Mixture: TypeAlias = tuple[tuple[float, float], ...]
Law: TypeAlias = Callable[[float, float], Mixture]
Cells: TypeAlias = tuple[Floats, Floats, float]
_LEAST, _MOST = 1e-3, 20.0  # the moves for which a law is cut
_ROOM = 1e-7  # more than the rounding that is added to a cut law, which the mass at 0 makes room for
_STEP = 1 / 256  # deviations between two outputs
_FAR = 14.0  # deviations beyond the last shift, where what is left counts as infinite loss
_UNIT = 2.0**-53


def is_cut(mu: float, rate: float) -> bool:
    """Return whether the laws of a move by `mu` at a rate are cut here.

    >>> is_cut(0.5, 0.1), is_cut(20.0, 1 - 1e-9)
    (True, False)
    """
    return _LEAST <= mu <= _MOST and absent(rate) + math.erfc(mu / 2 / math.sqrt(2)) / 2 > _ROOM


@lru_cache(maxsize=16)
def zeroed_above(mu: float, rate: float) -> DiscreteLoss:
    """Return a loss that dominates a record that is present against the same record zeroed, cut into cells.

    Each sign of epsilon has its own pair, whose half lines are cut at outputs; a cell's mass is shared between the
    losses of its two ends so that both laws keep theirs, and rounding is added. An atom at 0 fills both laws up.

    >>> round(zeroed_above(0.5, 0.1).hockey_stick(0.1), 8)
    0.00727986
    """
    far = np.arange(0.0, mu + _FAR, _STEP)
    present = _shared(1.5 * mu + far, mu, rate, (_two_moves, _one_move))
    absent = _shared(0.5 * mu + far, mu, rate, (_one_move, _no_move))
    return _stitched(present, absent)


@lru_cache(maxsize=16)
def zeroed_attained(mu: float, rate: float) -> DiscreteLoss:
    """Return the loss of a record against its zero where all others are opposite, seen through finitely many cells.

    >>> zeroed_attained(0.5, 0.1).hockey_stick(0.1) <= zeroed_above(0.5, 0.1).hockey_stick(0.1)
    True
    """
    outputs = np.concatenate([[-np.inf], np.arange(-_FAR, 2 * mu + _FAR, _STEP), [np.inf]])
    p, q = (
        np.sum([weight * _between(outputs, ((shift, 1.0),)) for shift, weight in law(mu, rate)], axis=0)
        for law in (_two_moves, _one_move)  # shift by shift, as differences of a mixture's tails cancel between shifts
    )
    seen = (p > 0) & (q > 0)  # far out a probability is no float: what either law has there is left out
    p, q = p[seen], q[seen]
    atoms = zip(np.log(p / q).tolist(), (p / math.fsum(p.tolist())).tolist(), strict=True)
    return DiscreteLoss(atoms=tuple(atoms))


def _two_moves(mu: float, rate: float) -> Mixture:
    """Return the shifts of a record that is present, all others being opposite."""
    return (0.0, absent(rate)), (2 * mu, rate)


def _one_move(mu: float, rate: float) -> Mixture:
    """Return the shifts of a record that is zeroed among opposite ones, or of one that is zeroed among its like."""
    return (0.0, absent(rate)), (mu, rate)


def _no_move(mu: float, rate: float) -> Mixture:
    """Return the one shift of a sample of records that are all alike."""
    return ((0.0, 1.0),)


def _loss(at: Floats, first: Mixture, second: Mixture) -> Floats:
    """Return the logarithm of the ratio of two samples at each output; the last shift of each is the record's."""
    (move, rate), (other, drawn) = first[-1], second[-1]
    over = sampled_losses(move * at - move * move / 2, rate)
    under = sampled_losses(other * at - other * other / 2, drawn) if other else np.zeros_like(at)
    return np.asarray(over - under, np.float64)


def _tail(outputs: Floats, side: Mixture) -> Floats:
    """Return the probability above each output of a mixture of shifts."""
    return np.asarray(sum(weight * ndtr(shift - outputs) for shift, weight in side), np.float64)


def _between(outputs: Floats, side: Mixture) -> Floats:
    """Return the probabilities between outputs, from differences of the smaller tail."""
    above, below = _tail(outputs, side), _tail(-outputs, tuple((-shift, weight) for shift, weight in side))
    return np.asarray(np.where(above[:-1] < 0.5, above[:-1] - above[1:], below[1:] - below[:-1]), np.float64)


def _shared(outputs: Floats, mu: float, rate: float, laws: tuple[Law, Law]) -> Cells:
    """Return losses, masses under the first law and its mass beyond the last output: a bound from above over 0.

    At the first output the loss is 0, and from there it grows. Tails err by some units, which grow with the square of
    the output.
    """
    first, second = (law(mu, rate) for law in laws)
    losses = np.maximum.accumulate(_loss(outputs, first, second) * (1 + 2.0**-50) + 2.0**-50)
    losses[0] = 0.0
    p, q = _between(outputs, first), _between(outputs, second) * np.exp(losses[:-1])
    off = 2 * _UNIT * (64 + 4 * outputs[:-1] ** 2) * (_tail(outputs[:-1], first) + p)
    up = np.clip((p - q + off) / -np.expm1(-np.maximum(np.diff(losses), 1e-300)), 0.0, p)
    masses = np.zeros(len(outputs))
    masses[1:] += up + off
    masses[:-1] += p - up
    return losses[1:], masses[1:], float(_tail(outputs[-1:], first)[0]) * (1 + 1e-12)


def _stitched(over: Cells, under: Cells) -> DiscreteLoss:
    """Return one law of atoms above 0 and atoms of the reversed pair below; either sum is filled up."""
    low, high = (side[1] * np.exp(-side[0]) for side in (under, over))
    sums = [float(over[1].sum() + low.sum()) + over[2], float(high.sum() + under[1].sum()) + under[2]]
    middle = max(0.0, 1 - max(sums))
    losses = np.concatenate([-under[0][::-1], [0.0], over[0]])
    masses = np.concatenate([low[::-1], [middle], over[1]])
    return DiscreteLoss(
        atoms=tuple(zip(losses.tolist(), masses.tolist(), strict=True)),
        infinite_mass=over[2] + max(0.0, sums[1] - sums[0]),
        reverse_infinite_mass=under[2] + max(0.0, sums[0] - sums[1]),
    )
