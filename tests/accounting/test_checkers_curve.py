"""The checker's own privacy curve: both bounds hold against the independent truth, and they are close."""

import itertools
import math
from collections import Counter
from typing import Any

import numpy as np
import pytest

from dpaudit.model.losses import ApproximateLoss, Composition, GaussianLoss, LaplaceLoss, Loss, SampledGaussianLoss
from dpaudit.verifier.curve import Worst
from dpaudit.verifier.losses import black_box, on_sample, reverse
from dpaudit.verifier.pairs import plain
from tests.accounting import oracle

MIXED = Composition.of(GaussianLoss(mu=0.3), *[LaplaceLoss(shift=0.05 + 0.01 * i) for i in range(5)])
MANY = Composition.of(LaplaceLoss(shift=0.1)) * 1000
FEW = Composition.of(LaplaceLoss(shift=0.12)) * 300
BOXES = Composition.of(ApproximateLoss(epsilon=0.3), ApproximateLoss(epsilon=0.11, delta=1e-9)) * 40
SAMPLED = Composition.of(SampledGaussianLoss(mu=1.0, rate=0.05)) * 200
ADDED = Composition.of(SampledGaussianLoss(mu=1.0, rate=0.05, order="add")) * 200
FAR = [(MANY, 17.4), (MANY, 26.0), (MANY, 39.5), (FEW, 10.0), (FEW, 25.0), (BOXES, 5.0), (BOXES, 9.0)]


@pytest.mark.parametrize(
    ("composition", "epsilon"),
    [(MIXED, 0.0), (MIXED, 0.5), (MIXED, 1.0), (MANY, 0.5), (MANY, 5.0), (FEW, 6.0), (BOXES, 1.0), *FAR],
)
def test_the_truth_lies_between_the_checkers_bounds(composition: Composition, epsilon: float) -> None:
    """In 50 digits, down to delta = 1e-30; the bracket is narrow."""
    low, high = Worst([as_multiset(composition)]).delta(epsilon)
    true = float(oracle.true_delta(composition, epsilon, 50).real)
    assert low <= true <= high
    assert high - low <= 2e-3 * high


@pytest.mark.parametrize(("composition", "epsilon"), [(SAMPLED, 1.0), (SAMPLED, 4.0), (ADDED, 1.0)])
def test_both_orders_of_sampled_gaussians_lie_between_the_bounds(composition: Composition, epsilon: float) -> None:
    """Orders are told apart: each is below the upper bound of both, and the larger is above the lower bound."""
    low, high = Worst([as_multiset(composition)]).delta(epsilon)
    true = [float(oracle.true_delta(c, epsilon, 30).real) for c in (SAMPLED, ADDED)]
    assert low <= max(true) <= high
    assert high - low <= 1e-3 * high


def test_sampled_gaussians_cost_what_is_known() -> None:
    """Poisson rate 0.01, noise 1, ten thousand steps: delta 1e-5 lies between epsilon 6.187712 and 6.187713."""
    curve = Worst([Counter({on_sample("gaussian", 1.0, 0.01): 10_000})])
    assert curve.delta(6.187712)[1] > 1e-5 * (1 - 1e-6)
    assert curve.delta(6.187713)[0] < 1e-5
    assert curve.delta(6.1877)[0] > 1e-5 > curve.delta(6.1878)[1]


def test_mass_beyond_the_window_does_not_come_back_below_epsilon() -> None:
    """Ten thousand Laplace releases of shift 1 lose 3,679 nats on average: delta(0) is 1, and falls where it must."""
    curve = Worst([Counter({("laplace", 1.0): 10_000})])
    assert curve.delta(0.0)[0] > 0.99999
    assert curve.delta(3000.0)[0] > 0.99999
    assert curve.delta(4000.0)[1] < 1e-4
    assert curve.delta(9999.0)[1] < 1e-300 + 1e-289


@pytest.mark.parametrize("shift", [0.01, 0.3, 2.0, 8.0])
@pytest.mark.parametrize("times", [2, 5])
def test_binomial_sums_are_bracketed_at_every_epsilon(shift: float, times: int) -> None:
    """Randomised response, repeated: atoms only, exact by hand; also just below and above every atom."""
    curve = Worst([Counter({black_box(shift): times})])
    truth = 1 / (1 + math.exp(-shift))
    masses = [math.comb(times, k) * truth**k * (1 - truth) ** (times - k) for k in range(times + 1)]
    losses = [(2 * k - times) * shift for k in range(times + 1)]
    for loss, move in itertools.product(losses, (-1e-3, 0.0, 1e-3)):
        epsilon = max(0.0, loss + move)
        exact = math.fsum(-p * math.expm1(epsilon - x) for p, x in zip(masses, losses, strict=True) if x > epsilon)
        low, high = curve.delta(epsilon)
        assert low <= exact * (1 + 1e-12) + 1e-15
        assert high >= exact * (1 - 1e-12)


def test_the_bounds_of_random_sums_never_cross_those_of_a_quadrature() -> None:
    """Forty random pairs of a Laplace and a Gaussian loss, integrated on a fine grid of the Laplace one."""
    rng = np.random.default_rng(3)
    for _ in range(40):
        mu, shift, epsilon = np.exp(rng.uniform(-3, 1, 3))
        low, high = Worst([Counter({("gaussian", mu): 1, ("laplace", shift): 1})]).delta(epsilon)
        exact = quadrature(mu, shift, epsilon)
        assert low <= exact * (1 + 1e-9) + 1e-13
        assert high >= exact * (1 - 1e-9) - 1e-13


def quadrature(mu: float, shift: float, epsilon: float) -> float:
    """delta(epsilon) = E[delta_Gaussian(epsilon - L)] over a Laplace loss L, by Gauss-Legendre between its atoms."""
    nodes, weights = np.polynomial.legendre.leggauss(120)
    inner = np.array([GaussianLoss(mu=mu).hockey_stick(epsilon - shift * node) for node in nodes])
    density = np.exp((shift * nodes - shift) / 2) / 4 * shift
    ends = [GaussianLoss(mu=mu).hockey_stick(epsilon - side * shift) for side in (1, -1)]
    return float(weights @ (inner * density)) + 0.5 * ends[0] + 0.5 * math.exp(-shift) * ends[1]


def test_a_bracket_that_crosses_itself_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """The twin: a curve whose lower side lies above its upper side gives no number."""
    monkeypatch.setattr("dpaudit.verifier.curve._Sum.lower", lambda self, epsilon: 0.9)
    with pytest.raises(Exception, match="no privacy curve"):
        Worst([as_multiset(MIXED)]).delta(1.0)


def as_multiset(composition: Composition) -> Counter[tuple[Any, ...]]:
    """Return the checker's form of a composition."""
    return Counter({as_tuple(loss): times for loss, times in composition.parts})


def as_tuple(loss: Loss) -> tuple[Any, ...]:
    """Return the checker's form of a loss."""
    match loss:
        case GaussianLoss(mu=mu):
            return ("gaussian", mu)
        case LaplaceLoss(shift=shift):
            return ("laplace", shift)
        case SampledGaussianLoss(mu=mu, rate=rate, order=order):
            held = on_sample("gaussian", mu, rate)
            return held if order == "remove" else reverse(held)
        case ApproximateLoss(epsilon=epsilon, delta=delta):
            return black_box(epsilon, delta)
        case _:
            raise AssertionError(loss)


def test_ten_epochs_of_one_secret_step_of_a_thousand_have_a_narrow_bracket() -> None:
    """A first look cut the far tail of a step short, and the weight that it chose left 1 as the upper bound."""
    step = ("allocated", ((("gaussian", 1.0), 1),), 1000, "remove")
    low, high = Worst([Counter({step: 10})]).delta(0.4645)
    assert 0.99 * high <= low <= high < 1.1e-5


@pytest.mark.parametrize("epsilon", [-0.1, 0.0, 0.3])
@pytest.mark.parametrize("inside", [((("laplace", 0.5), 1500),), ((("gaussian", 1.0), 1), (("laplace", 2.0), 400))])
def test_a_sample_tells_neighbours_apart_by_at_most_its_rate(inside: tuple[Any, ...], epsilon: float) -> None:
    """Rounding of many releases at a rate of a millionth left a thousand times as much."""
    loss = ("map", inside, 1e-6, "remove")
    for order in (loss, reverse(loss)):
        low, high = plain(order, epsilon)
        assert low - 1e-300 <= high <= (1e-6 - math.expm1(min(epsilon, 0.0))) * (1 + 1e-9)
