"""Random compositions for comparing engines with the truth."""

import math

from dpaudit import ApproximateLoss, Composition, DiscreteLoss, GaussianLoss, LaplaceLoss


def draw(rng):
    """Return a random composition, and a delta to ask it about.

    Of three kinds: mixed, with a Gaussian part that makes the contour integral converge; many equal Laplace
    releases; and atoms only, few enough to be summed exactly.
    """
    delta = float(10 ** rng.uniform(-12, -3))
    match int(rng.integers(0, 8)):
        case 0:
            return _laplace(rng, int(10 ** rng.uniform(2.3, 4))), delta
        case 1:
            return _discrete(rng), delta
        case 2:
            return _black_boxes(rng), delta
        case _:
            return _mixed(rng), delta


def _size(rng, times):
    return float(rng.uniform(0.3, 3) / math.sqrt(times))


def _laplace(rng, times):
    return Composition.of(LaplaceLoss(shift=_size(rng, times))) * times


def _mixed(rng):
    kinds = int(rng.integers(1, 5))
    total = 10 ** rng.uniform(0, 4)
    found = Composition.of(GaussianLoss(mu=_size(rng, 1)))
    for share in rng.dirichlet([1.0] * kinds):
        times = max(1, int(total * share))
        match int(rng.integers(0, 4)):
            case 0:
                found = found + Composition.of(GaussianLoss(mu=_size(rng, times))) * times
            case 1 | 2:
                found = found + _laplace(rng, times)
            case _:
                delta = float(rng.choice([0.0, 1e-14 / times]))
                found = found + Composition.of(ApproximateLoss(epsilon=_size(rng, times), delta=delta)) * times
    return found


def _black_boxes(rng):
    times = int(10 ** rng.uniform(0, 3))
    return Composition.of(ApproximateLoss(epsilon=_size(rng, times), delta=1e-14 / times)) * times


def _discrete(rng):
    """Return copies of a three-point loss, symmetric under exchange of the neighbours."""
    a, b = sorted(float(x) for x in rng.uniform(0.05, 0.45, 2))
    p, q = (a, 1 - a - b, b), (b, 1 - a - b, a)
    atoms = tuple((math.log(x / y), x) for x, y in zip(p, q, strict=True))
    return Composition.of(DiscreteLoss(atoms=atoms)) * int(rng.integers(1, 12))
