"""Random compositions for comparing engines with the truth."""

import math
from collections.abc import Callable

import numpy as np

from dpaudit.model import losses
from dpaudit.model.losses.sampled_gaussian import SampledOrder
from mechanisms import DiscreteGaussian, DiscreteLaplace, Gaussian, Laplace, ReportNoisyMax, TreeAggregation

MOST_EVENTS = 4
"""The largest composition, as a power of ten."""


def draw(rng: np.random.Generator) -> tuple[str, losses.Composition, float]:
    """Return the kind of a random composition, the composition, and a delta to ask it about.

    What is mixed holds a Gaussian part, which makes the contour integral converge; trees and equal Laplace releases are
    few enough, or many enough, for it; and atoms alone are few enough to be summed exactly.
    """
    delta = float(10 ** rng.uniform(-12, -3))
    match int(rng.integers(0, 10)):
        case 0:
            times = int(10 ** rng.uniform(2.3, MOST_EVENTS))
            return "Laplace", losses.Composition.of(losses.LaplaceLoss(shift=_size(rng, times))) * times, delta
        case 1:
            return "three atoms", _atoms_only(rng), delta
        case 2:
            return "black boxes", _black_boxes(rng), delta
        case 3:
            return *_tree(rng), delta
        case _:
            return *_mixed(rng), delta


def _size(rng: np.random.Generator, times: int) -> float:
    return float(rng.uniform(0.3, 3) / math.sqrt(times))


def _tree(rng: np.random.Generator) -> tuple[str, losses.Composition]:
    """Return what one element of a stream, or an element and its removal, costs in one or several trees."""
    horizon, trees = int(10 ** rng.uniform(0, MOST_EVENTS)), int(rng.integers(1, 6))
    size = _size(rng, trees * horizon.bit_length())
    signs = (1,) if horizon == 1 or rng.random() < 0.5 else (1, -1)
    leaf: Gaussian | Laplace
    if rng.random() < 0.5:
        leaf = Gaussian(stddev=1 / size, l2_sensitivity=1.0, neighbours="add_remove")
        name = "tree, Gaussian"
    else:
        leaf = Laplace(scale=1 / size, l1_sensitivity=1.0, neighbours="add_remove")
        name = "tree, Laplace"
    return name, losses.Composition.of(TreeAggregation(horizon=horizon, leaf=leaf, signs=signs).loss()) * trees


def _mixed(rng: np.random.Generator) -> tuple[str, losses.Composition]:
    """Return up to five kinds of releases, 10^4 in all, one of them Gaussian."""
    total = 10 ** rng.uniform(0, MOST_EVENTS)
    found, names = losses.Composition.of(losses.GaussianLoss(mu=_size(rng, 1))), {"Gaussian"}
    for share in rng.dirichlet([1.0] * int(rng.integers(1, 5))):
        times = max(1, int(total * share))
        name = str(rng.choice(tuple(PARTS), p=SHARES))
        names.add(name)
        found = found + losses.Composition.of(PARTS[name](rng, times)) * times
    rare = next((name for name in ("sampled Gaussian", "lattice noise", "atoms") if name in names), None)
    return ("Gaussian" if names == {"Gaussian"} else f"mixed, with {rare}" if rare else "mixed"), found


def _gaussian(rng: np.random.Generator, times: int) -> losses.GaussianLoss:
    return losses.GaussianLoss(mu=_size(rng, times))


def _laplace(rng: np.random.Generator, times: int) -> losses.LaplaceLoss:
    return losses.LaplaceLoss(shift=_size(rng, times))


def _noisy_max(rng: np.random.Generator, times: int) -> losses.LaplaceLoss:
    return ReportNoisyMax(scale=2 / _size(rng, times), linf_sensitivity=1.0, neighbours="add_remove").loss()


def _black_box(rng: np.random.Generator, times: int) -> losses.ApproximateLoss:
    return losses.ApproximateLoss(epsilon=_size(rng, times), delta=float(rng.choice([0.0, 1e-14 / times])))


def _atoms(rng: np.random.Generator, times: int) -> losses.DiscreteLoss:
    """Return a loss of three to five atoms, different in its two orders."""
    p = rng.dirichlet([3.0] * int(rng.integers(3, 6)))
    q = p * np.exp(_size(rng, times) * rng.uniform(-1, 1, len(p)))
    q /= q.sum()
    return losses.DiscreteLoss(atoms=tuple((math.log(x / y), float(x)) for x, y in zip(p, q, strict=True)))


def _lattice(rng: np.random.Generator, times: int) -> losses.DiscreteLoss:
    """Return noise on whole numbers, wide enough for so many releases."""
    scale = max(0.8, 1 / _size(rng, times))
    if rng.random() < 0.5 or scale > 12:
        return DiscreteLaplace(scale=scale, l1_sensitivity=int(rng.integers(1, 4)), neighbours="add_remove").loss()
    return DiscreteGaussian(stddev=scale, l2_sensitivity=1, neighbours="add_remove").loss()


def _sampled(rng: np.random.Generator, times: int) -> losses.SampledGaussianLoss:
    order: SampledOrder = "add" if rng.choice(["remove", "add"]) == "add" else "remove"
    rate = float(min(0.9, rng.uniform(0.05, 0.5) / math.sqrt(times)))
    return losses.SampledGaussianLoss(mu=float(rng.uniform(0.4, 2)), rate=rate, order=order)


PARTS: dict[str, Callable[[np.random.Generator, int], losses.Loss]] = {
    "Gaussian": _gaussian,
    "Laplace": _laplace,
    "noisy max": _noisy_max,
    "black boxes": _black_box,
    "atoms": _atoms,
    "lattice noise": _lattice,
    "sampled Gaussian": _sampled,
}
"""What may stand beside the first Gaussian release; each is made so that `times` of it stay near epsilon 1 to 10."""

SHARES = (0.2, 0.25, 0.1, 0.2, 0.1, 0.1, 0.05)


def _black_boxes(rng: np.random.Generator) -> losses.Composition:
    times = int(10 ** rng.uniform(0, 3))
    return losses.Composition.of(losses.ApproximateLoss(epsilon=_size(rng, times), delta=1e-14 / times)) * times


def _atoms_only(rng: np.random.Generator) -> losses.Composition:
    """Return copies of a three-point loss, symmetric under exchange of the neighbours."""
    a, b = sorted(float(x) for x in rng.uniform(0.05, 0.45, 2))
    p, q = (a, 1 - a - b, b), (b, 1 - a - b, a)
    atoms = tuple((math.log(x / y), x) for x, y in zip(p, q, strict=True))
    return losses.Composition.of(losses.DiscreteLoss(atoms=atoms)) * int(rng.integers(1, 12))
