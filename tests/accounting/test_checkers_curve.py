"""The checker's own privacy curve against the independent truth."""

from collections import Counter

import pytest

from dpaudit import Composition, GaussianLoss, LaplaceLoss
from dpaudit.verifier.curve import Worst

MIXED = Composition.of(GaussianLoss(mu=0.3), *[LaplaceLoss(shift=0.05 + 0.01 * i) for i in range(5)])
MANY = Composition.of(LaplaceLoss(shift=0.1)) * 1000
FEW = Composition.of(LaplaceLoss(shift=0.12)) * 300


@pytest.mark.parametrize(
    ("composition", "epsilon"),
    [(MIXED, 0.5), (MIXED, 1.0), (MANY, 5.0), (MANY, 17.4), (MANY, 26.0), (MANY, 39.5), (FEW, 6.0), (FEW, 10.0)],
)
def test_the_checkers_curve_is_the_true_one(oracle, composition, epsilon):
    """In 30 digits, down to delta = 1e-30; the stated error covers the difference, and is small."""
    losses = Counter({as_tuple(loss): times for loss, times in composition.parts})
    found, error = Worst([losses]).delta(epsilon)
    true = float(oracle.true_delta(composition, epsilon, 30).real)
    assert abs(found / true - 1) <= error < 2e-3


def test_sampled_gaussians_cost_what_is_known():
    """Poisson rate 0.01, noise 1, ten thousand steps: epsilon 6.18771239 at delta 1e-5, the worse of both orders."""
    losses = Counter({("sampled", 1.0, 0.01, "remove"): 10_000})
    found, error = Worst([losses]).delta(6.18771239)
    assert abs(found / 1e-5 - 1) <= error < 5e-3


def as_tuple(loss):
    """Return the checker's form of a loss."""
    return ("gaussian", loss.mu) if isinstance(loss, GaussianLoss) else ("laplace", loss.shift)
