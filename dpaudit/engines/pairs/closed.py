"""Pairs above and below the losses with a law of their own: atoms as they are, densities cut into cells."""

import math
from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from dpaudit.engines.pairs.cells import TINY, Cells
from dpaudit.engines.pairs.finite_pair import FinitePair
from dpaudit.engines.pairs.half_lines import half_line_cells
from dpaudit.engines.pairs.mixture import MOST_CELLS, mixture_cells
from dpaudit.errors import UnsupportedError
from dpaudit.model.losses import (
    ApproximateLoss,
    DiscreteLoss,
    GaussianLoss,
    LaplaceLoss,
    MixtureLoss,
    SampledGaussianLoss,
    SimpleLoss,
)

_UNIT = 2.0**-53


def closed_pair(loss: SimpleLoss, width: float, tail: float, *, above: bool) -> FinitePair:
    """Return a pair that dominates `loss`, or one that it dominates, in cells of about `width`.

    Losses of probability about `tail` may be left outside the cells. Atoms stay where they are.
    Raises: UnsupportedError: a loss made of others.
    """
    match loss:
        case GaussianLoss(mu=mu):
            cells = mixture_cells(mu, 1.0, width, tail)
        case SampledGaussianLoss(mu=mu, rate=rate, order=order):
            removed = mixture_cells(mu, rate, width, tail)
            cells = removed if order == "remove" else removed.reversed()
        case MixtureLoss():
            cells = half_line_cells(loss, width, tail)
        case LaplaceLoss(shift=shift):
            cells = _laplace(shift, width)
            between = cells.pair_above() if above else cells.pair_below()
            ends = np.array([-shift, shift]), np.array([max(math.exp(-shift) / 2, TINY), 0.5])
            return FinitePair(
                losses=np.concatenate([ends[0], between.losses]),
                masses=np.concatenate([ends[1], between.masses]),
                error=between.error,
            )
        case ApproximateLoss(epsilon=epsilon, delta=delta):
            low = math.exp(-epsilon) if epsilon < 700 else TINY
            return FinitePair(
                losses=np.array([-epsilon, epsilon]),
                masses=np.array([low, 1.0]) * (1 - delta) / (1 + low),
                infinite=delta,
                error=4e-15 + 8 * _UNIT * epsilon,
            )
        case DiscreteLoss():
            return _atoms(loss, above=above)
        case _:
            raise UnsupportedError("A loss made of others has no cells of its own.")
    return cells.pair_above() if above else cells.pair_below()


def _laplace(shift: float, width: float) -> Cells:
    """Return the loss of Laplace(shift, 1) against Laplace(0, 1) between its ends, where a half and e^-shift/2 lie.

    Between them the density under P is e^((l - shift)/2) / 4, whose integrals are elementary.
    """
    number = min(MOST_CELLS, 1 << max(2, math.ceil(math.log2(2 * shift / width))))
    h = 2 * shift / number
    lower_ends = h * np.arange(number) - 2 * shift
    common = np.exp(lower_ends / 2) / 2 * math.expm1(-h / 2) ** 2 / -math.expm1(-h)
    return Cells(
        origin=-shift,
        width=h,
        up=np.maximum(common * math.exp(h / 2), TINY),
        down=np.maximum(common, TINY),
        error=1e-14 * (2 + shift),
    )


def _atoms(loss: DiscreteLoss, *, above: bool) -> FinitePair:
    """Return finitely many atoms.

    Probabilities that miss a sum of 1 count as wrong by as much, so that both bounds move outwards.
    """
    values, masses = np.array(loss.atoms or ((0.0, 0.0),)).T
    off = 1e-14 + 1e-15 * len(values) + abs(math.fsum(masses) + loss.infinite_mass - 1)
    slack = (1e-15 + loss.rounding) * float(np.abs(values).max(initial=0.0))
    if above:
        return FinitePair(losses=values + slack, masses=masses * (1 + off), infinite=loss.infinite_mass, error=slack)
    return FinitePair(losses=values, masses=masses, infinite=loss.infinite_mass, error=2 * off + 2 * slack)


def lattice_spacing(loss: SimpleLoss) -> float | None:
    """Return the distance between the atoms of a loss, if they lie on a lattice; that of the ends of Laplace noise.

    >>> lattice_spacing(LaplaceLoss(shift=0.5)), lattice_spacing(GaussianLoss(mu=1.0))
    (1.0, None)
    """
    match loss:
        case LaplaceLoss(shift=size) | ApproximateLoss(epsilon=size):
            return 2 * size or 1.0
        case DiscreteLoss(atoms=atoms):
            span = atoms[-1][0] - atoms[0][0] if atoms else 0.0
            gaps = [b - a for (a, _), (b, _) in pairwise(atoms)]
            return _common_spacing(gaps, span / 4096) if gaps else 1.0
        case _:
            return None


def _common_spacing(gaps: Sequence[float], least: float) -> float | None:
    """Return the largest spacing of which every gap is nearly a whole multiple, if one above `least` exists."""
    common = 0.0
    for gap in gaps:
        large, small = max(common, gap), min(common, gap)
        while small > 1e-10 * large and small >= least / 2:
            large, small = small, abs(large - small * round(large / small))
        if small > 1e-10 * max(common, gap):
            return None
        common = large
    return common if common >= least else None
