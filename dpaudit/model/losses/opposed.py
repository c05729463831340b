"""Finite losses on a sample: of a record against none, and of integer noise against the opposite record."""

import math
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from dpaudit.checks import meant
from dpaudit.model.losses.discrete import DiscreteLoss
from dpaudit.model.losses.sampled_ratios import ROUNDED, absent, log_absent, moved_by_rounding, sampled_losses


def opposed_loss(
    masses: NDArray[np.float64], moved: NDArray[np.float64], rate: float, alone: float = 0.0, unknown: float = 0.0
) -> DiscreteLoss:
    """Return the loss of (1 - rate) M(0) + rate M(s) against (1 - rate) M(0) + rate M(-s), M symmetric integer noise.

    Shape: `masses` holds the probabilities of the outputs -k .. k under M(0), `moved` the logarithms of what M(s) has
    for each of them, minus infinity where it has none. `alone` is the mass of M(s) on outputs that M(0) cannot have,
    `unknown` a mass of unknown loss, which counts as infinite.
    Guarantee: for noise whose logarithm is concave, this pair dominates a sample that holds one of two records, each of
    which moves the answer by at most s, or none: half lines, randomised at their end, attain both trade-offs of M(s),
    against M(0) and against M(-s), at once.
    Source: Balle, Barthe and Gaboardi (2018), Theorem 1; Neyman and Pearson (1933).

    >>> ratios = np.array([-np.inf, np.log(0.5), np.log(2)])
    >>> fair = opposed_loss(np.array([0.25, 0.5, 0.25]), ratios, 0.1, alone=0.25)
    >>> fair.symmetric, len(fair.atoms), fair.infinite_mass
    (True, 3, 0.025)
    """
    ratios = sampled_losses(moved, rate)
    first = masses * np.exp(ratios)
    shared = (ratios > -np.inf) & (ratios[::-1] > -np.inf) & (masses > 0)
    losses = (ratios[shared] - ratios[::-1][shared]).tolist()
    lost = rate * alone + float(first[~shared].sum()) + unknown
    return DiscreteLoss(
        atoms=tuple(zip(losses, first[shared].tolist(), strict=True)),
        infinite_mass=min(1.0, lost),
        reverse_infinite_mass=min(1.0, lost),
        symmetric=True,
        rounding=moved_by_rounding(moved, rate),
    )


def sampled_atoms(loss: DiscreteLoss, rate: float) -> DiscreteLoss:
    """Return the loss of (1 - rate) Q + rate P against Q, (P, Q) having the finite loss `loss`, atom by atom.

    Source: Zhu, Dong and Wang (2022), Theorem 11.

    >>> fair = DiscreteLoss(atoms=((-1.0, 0.2689414213699951), (1.0, 0.7310585786300049)), symmetric=True)
    >>> [round(value, 6) for value, _ in sampled_atoms(fair, 0.1).atoms]
    [-0.065298, 0.158565]
    """
    values = np.array([value for value, _ in loss.atoms])
    masses = np.array([mass for _, mass in loss.atoms])
    mixed = rate * masses + absent(rate) * _under_q(loss, values, masses)
    atoms = list(zip(sampled_losses(values, rate).tolist(), mixed.tolist(), strict=True))
    if loss.reverse_infinite_mass:
        atoms.append((log_absent(rate), absent(rate) * loss.reverse_infinite_mass))
    return DiscreteLoss(
        atoms=tuple(atoms),
        infinite_mass=float(meant(rate) * meant(loss.infinite_mass)),
        rounding=moved_by_rounding(values, rate),
    )


def _under_q(loss: DiscreteLoss, values: NDArray[np.float64], masses: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the masses of atoms under Q: of a symmetric law those of the opposite atoms, which no exponent rounds."""
    if not loss.symmetric:
        return masses * np.exp(-values)
    opposite = dict(loss.atoms)
    return np.array([opposite.get(-value, mass * math.exp(-value)) for value, mass in loss.atoms])


def outer_losses(loss: DiscreteLoss, *, above: bool) -> DiscreteLoss:
    """Return a loss with its largest value, and the opposite one, rounded to one side as the decimals they stand for.

    Where the largest loss is no ratio, an upper bound must not lie below it, nor a lower bound above it. The opposite
    atom keeps its mass under Q, so that both laws still sum to 1. A largest loss below 0 stays: no claim is about it.

    >>> from dpaudit.model.losses.discrete import DiscreteLoss
    >>> fair = DiscreteLoss(atoms=((-1.0, 0.2689414213699951), (1.0, 0.7310585786300049)), symmetric=True)
    >>> outer_losses(fair, above=True).supremum > 1 > outer_losses(fair, above=False).supremum
    True
    """
    top = loss.supremum
    moved = loss.rounding or ROUNDED
    factor = 1 + moved if above else 1 - moved
    opposite_share = math.exp(top * (1 - factor))
    ends = {top: (top * factor, 1.0), -top: (-top * factor, opposite_share)} if top > 0 else {}
    atoms = ((*ends.get(value, (value, 1.0)), mass) for value, mass in loss.atoms)
    return replace(loss, atoms=tuple((value, mass * share) for value, share, mass in atoms))
