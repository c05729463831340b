"""Losses: each hockey-stick is that of the pair it stands for."""

import math
from collections.abc import Callable
from typing import Any

import mpmath
import numpy as np
import pytest

from dpaudit.accounting.derivation.groups import chain
from dpaudit.model.losses import ApproximateLoss, Composition, DiscreteLoss, GaussianLoss, LaplaceLoss, group_delta
from mechanisms import DiscreteLaplace, Exponential

EPSILONS = (-1.5, -0.3, 0.0, 0.2, 0.9, 1.0, 3.0)


def quadrature(
    log_p: Callable[..., Any], log_q: Callable[..., Any], epsilon: float, points: tuple[float, ...]
) -> float:
    """The hockey-stick divergence by numerical integration of its definition."""

    def integrand(x: mpmath.mpf) -> mpmath.mpf:
        return max(mpmath.mpf(0), mpmath.e ** log_p(x) - mpmath.e ** (epsilon + log_q(x)))

    return float(mpmath.quad(integrand, sorted(points)))


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_laplace_hockey_stick_is_the_integral_of_its_definition(epsilon: float) -> None:
    shift = 1.0
    cut = (epsilon + shift) / 2 if abs(epsilon) < shift else 0.5
    found = quadrature(
        lambda x: -abs(x - shift) - mpmath.log(2), lambda x: -abs(x) - mpmath.log(2), epsilon, (-40, 0, cut, 1, 40)
    )
    assert LaplaceLoss(shift=shift).hockey_stick(epsilon) == pytest.approx(found, abs=1e-9)


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_gaussian_hockey_stick_is_the_integral_of_its_definition(epsilon: float) -> None:
    mu = 0.8
    cut = epsilon / mu + mu / 2
    norm = mpmath.log(mpmath.sqrt(2 * mpmath.pi))
    found = quadrature(
        lambda x: -((x - mu) ** 2) / 2 - norm, lambda x: -(x**2) / 2 - norm, epsilon, (-15, 0, cut, mu, 15)
    )
    assert GaussianLoss(mu=mu).hockey_stick(epsilon) == pytest.approx(found, abs=1e-9)


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_randomised_response_is_a_discrete_loss_with_two_atoms(epsilon: float) -> None:
    e, d = 1.0, 0.1
    atoms = ((e, (1 - d) * math.exp(e) / (1 + math.exp(e))), (-e, (1 - d) / (1 + math.exp(e))))
    discrete = DiscreteLoss(atoms=atoms, infinite_mass=d, reverse_infinite_mass=d)
    assert ApproximateLoss(epsilon=e, delta=d).hockey_stick(epsilon) == pytest.approx(discrete.hockey_stick(epsilon))


def test_reversing_twice_gives_the_loss_back() -> None:
    atoms = ((-2.0, 0.02), (1.0, 0.5))
    backward = 1 - sum(p * math.exp(-v) for v, p in atoms)
    loss = DiscreteLoss(atoms=atoms, infinite_mass=0.48, reverse_infinite_mass=backward)
    again = loss.reversed().reversed()
    for (v, p), (w, q) in zip(loss.atoms, again.atoms, strict=True):
        assert v == pytest.approx(w)
        assert p == pytest.approx(q)
    assert again.infinite_mass == loss.infinite_mass


def test_a_discrete_loss_whose_probabilities_do_not_sum_to_one_is_refused() -> None:
    for atoms in (((0.0, 0.9),), ((1.0, 0.5), (-1.0, 0.5))):
        with pytest.raises(ValueError, match="sum to"):
            DiscreteLoss(atoms=atoms)
    with pytest.raises(ValueError, match="sum to"):
        DiscreteLoss(atoms=((0.0, 0.5),), infinite_mass=0.2, reverse_infinite_mass=0.5)


def test_a_negative_distance_is_refused() -> None:
    for make in (lambda: GaussianLoss(mu=-1.0), lambda: LaplaceLoss(shift=-1.0), lambda: ApproximateLoss(epsilon=-0.1)):
        with pytest.raises(ValueError, match="Expected"):
            make()


def test_composition_counts_equal_losses_once_and_drops_harmless_ones() -> None:
    one, two = LaplaceLoss(shift=1), GaussianLoss(mu=0.5)
    built = Composition.of(one, two, one, GaussianLoss(mu=0)) + Composition.of(two) * 3
    assert dict(built.parts) == {one: 2, two: 4}
    assert built.events == 6
    assert built == Composition.of(two) * 4 + Composition.of(one) * 2


def test_group_of_a_black_box_is_the_textbook_geometric_sum() -> None:
    ((grouped, _),) = chain(Composition.of(ApproximateLoss(epsilon=0.5, delta=1e-6)), 10).parts
    assert isinstance(grouped, ApproximateLoss)
    assert grouped.epsilon == 5
    assert grouped.delta == pytest.approx(2.27e-4, rel=2e-3)  # the sum of the chain, see docs/theory/composition.md


def test_the_delta_of_a_group_is_never_below_the_sixty_digit_value() -> None:
    """Small epsilons cancel in (e^(k epsilon) - 1) / (e^epsilon - 1); the result is rounded up all the same."""
    rng = np.random.default_rng(3)
    for _ in range(500):
        epsilon, delta = 10 ** rng.uniform(-9, 0.7), 10 ** rng.uniform(-14, -3)
        size = int(rng.choice([2, 3, 7, 50, 400]))
        assert group_delta(epsilon, delta, 1) == delta
        with mpmath.workdps(60):
            truth = mpmath.mpf(delta) * mpmath.expm1(size * mpmath.mpf(epsilon)) / mpmath.expm1(mpmath.mpf(epsilon))
            found = mpmath.mpf(group_delta(epsilon, delta, size))
            assert found >= min(truth, 1)
            assert found <= truth * (1 + mpmath.mpf("1e-11"))


def test_spreading_an_l1_distance_over_coordinates_never_costs_more() -> None:
    """The claim in LaplaceLoss, checked on a fine grid of losses for several splits."""

    def masses(shift: float, step: float) -> np.ndarray:
        grid = np.arange(-shift, shift + step / 2, step)
        mass = np.exp((grid - shift) / 2) / 4 * step
        mass[0], mass[-1] = math.exp(-shift) / 2 + mass[0] / 2, 0.5 + mass[-1] / 2
        return mass / mass.sum()

    step = 2e-3
    for a, b in ((1.0, 1.0), (0.5, 2.0), (3.0, 3.0)):
        split = np.convolve(masses(a, step), masses(b, step))
        losses = -(a + b) + step * np.arange(len(split))
        for epsilon in np.linspace(-(a + b), a + b, 21):
            held = losses > epsilon
            found = float(np.sum(split[held] * -np.expm1(epsilon - losses[held])))
            assert found <= LaplaceLoss(shift=a + b).hockey_stick(float(epsilon)) + 1e-9


@pytest.mark.parametrize("missing", [1e-13, 1e-12, 1e-10])
def test_a_law_with_mass_missing_is_refused_until_the_mass_is_stated(missing: float) -> None:
    """A mass that nobody states may have an infinite loss; where it is stated it is delta at every epsilon."""
    with pytest.raises(ValueError, match="State what is missing as infinite_mass"):
        DiscreteLoss(atoms=((0.0, 1 - missing),))
    with pytest.raises(ValueError, match="sum to 1"):
        DiscreteLoss(atoms=((0.0, 1 + missing),))
    with pytest.raises(ValueError, match="sum to 1"):
        DiscreteLoss(atoms=((0.0, 1.0),), reverse_infinite_mass=missing)
    stated = DiscreteLoss(atoms=((0.0, 1 - missing),), infinite_mass=missing, reverse_infinite_mass=missing)
    assert stated.hockey_stick(50.0) == missing


def test_the_rounding_of_every_shipped_law_is_no_missing_mass() -> None:
    """The smallest defect above is ten times the rounding; the largest shipped losses have a few units each."""
    for scale in np.geomspace(0.02, 2000, 40):
        noise = DiscreteLaplace(scale=float(scale), l1_sensitivity=7, neighbours="replace_one")
        assert noise.loss().reversed().supremum > 0
    for epsilon in np.geomspace(1e-12, 299, 20):
        choice = Exponential(epsilon=float(epsilon), linf_sensitivity=1.0, neighbours="replace_one")
        assert choice.loss().reversed().supremum > 0
