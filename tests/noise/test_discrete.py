"""Integer noise: exact samplers, exact losses, and what holds for several coordinates."""

import math
from fractions import Fraction
from typing import Any

import mpmath
import numpy as np
import pytest

from dpaudit.model.losses import Composition, DiscreteLoss
from dpaudit.model.mechanism import Array
from mechanisms import DiscreteGaussian, DiscreteLaplace, TruncatedDiscreteGaussian
from mechanisms._draws import exact

FALSE_ALARM = 1e-7


def band(n: int) -> float:
    """Return the half-width that an empirical distribution of n draws leaves with probability FALSE_ALARM at most."""
    return math.sqrt(math.log(2 / FALSE_ALARM) / (2 * n))


def largest_gap(draws: Array, mechanism: DiscreteLaplace | DiscreteGaussian) -> Any:
    """Return the largest distance between the empirical and the stated distribution function."""
    points = np.arange(draws.min() - 1, draws.max() + 2)
    stated = np.cumsum(np.exp(mechanism.log_density(points, np.asarray(0))))
    below = np.exp(mechanism.log_density(np.arange(points[0] - 4000, points[0]), np.asarray(0))).sum()
    return np.abs(np.searchsorted(np.sort(draws), points, side="right") / len(draws) - stated - below).max()


def follows_its_law(draw: Any, mechanism: DiscreteLaplace | DiscreteGaussian, size: float, n: int) -> bool:
    """Whether draws of a size have the law of a mechanism, and not that of a fifth more noise."""
    draws = draw(Fraction(size), n, np.random.default_rng(1))
    return bool(largest_gap(draws, mechanism) < band(n) < largest_gap(draws, mechanism.scaled(1.2)))


@pytest.mark.parametrize("scale", [0.25, 0.5, 1.0, 2.0, 10 / 3, 40.0, 1000.25])
def test_discrete_laplace_draws_follow_their_law(scale: float) -> None:
    stated = DiscreteLaplace(scale=scale, l1_sensitivity=1, neighbours="replace_one")
    assert follows_its_law(exact.discrete_laplace, stated, scale, 100_000)


@pytest.mark.parametrize("stddev", [0.3, 0.9, 1.0, 1.5, 7.1, 100.3])
def test_discrete_gaussian_draws_follow_their_law(stddev: float) -> None:
    stated = DiscreteGaussian(stddev=stddev, l2_sensitivity=1, neighbours="replace_one")
    assert follows_its_law(exact.discrete_gaussian, stated, stddev, 100_000)


def test_decisions_left_to_exact_fractions_follow_the_same_law(monkeypatch: pytest.MonkeyPatch) -> None:
    # With a slack of 1 no comparison is decided in floating point: the rare path is all there is.
    monkeypatch.setattr(exact, "_SLACK", 1.0)
    stated = DiscreteGaussian(stddev=2.3, l2_sensitivity=1, neighbours="replace_one")
    assert follows_its_law(exact.discrete_gaussian, stated, 2.3, 20_000)


def test_a_coin_read_bit_by_bit_has_its_probability() -> None:
    rng = np.random.default_rng(4)
    for probability in (Fraction(1, 3), Fraction(7, 8)):
        heads = sum(exact._coin(probability, rng) for _ in range(20_000)) / 20_000
        assert heads == pytest.approx(float(probability), abs=band(20_000))
    assert not exact._coin(Fraction(0), rng)
    assert not exact._coin(Fraction(-1, 2), rng)
    assert exact._coin(Fraction(1), rng)


def composed(*losses: Any) -> DiscreteLoss:
    """Return the joint loss of independent discrete ones, atom by atom."""
    atoms = [(0.0, 1.0)]
    for loss in losses:
        atoms = [(a + b, p * q) for a, p in atoms for b, q in loss.atoms]
    return DiscreteLoss(atoms=tuple(atoms))


@pytest.mark.parametrize("split", [(2, 1), (1, 1, 1), (4, 4), (3, 2, 2, 1)])
@pytest.mark.parametrize("scale", [0.5, 2.0, 9.0])
def test_spreading_a_move_over_coordinates_never_costs_more(split: tuple[int, ...], scale: float) -> None:
    def moved(distance: int) -> DiscreteLoss:
        return DiscreteLaplace(scale=scale, l1_sensitivity=distance, neighbours="replace_one").loss()

    spread, single = composed(*map(moved, split)), moved(sum(split))
    for epsilon in np.linspace(-single.supremum, single.supremum, 41):
        assert spread.hockey_stick(epsilon) <= single.hockey_stick(epsilon) + 1e-12
    assert spread.hockey_stick(0.0) < single.hockey_stick(0.0) - 1e-4


@pytest.mark.parametrize(("stddev", "distance"), [(1.0, 1), (0.5, 2), (4.0, 1), (30.0, 5)])
def test_the_loss_of_discrete_gaussian_noise_is_the_published_formula(stddev: float, distance: int) -> None:
    # Canonne, Kamath and Steinke (2020), Theorem 7, with 40 digits.
    mechanism = DiscreteGaussian(stddev=stddev, l2_sensitivity=distance, neighbours="replace_one")
    with mpmath.workdps(40):
        weights = {
            k: mpmath.exp(-(mpmath.mpf(k) ** 2) / (2 * mpmath.mpf(stddev) ** 2))
            for k in range(-math.ceil(30 * stddev) - 9, math.ceil(30 * stddev) + 10)
        }
        total = mpmath.fsum(weights.values())
        for epsilon in (0.0, 0.3, 1.0, 4.0):
            edge = epsilon * stddev**2 / distance
            above = mpmath.fsum(w for k, w in weights.items() if k > edge - distance / 2)
            further = mpmath.fsum(w for k, w in weights.items() if k > edge + distance / 2)
            exact = float((above - mpmath.exp(epsilon) * further) / total)
            for loss in (mechanism.loss(), mechanism.attained_loss()):
                assert loss.hockey_stick(epsilon) == pytest.approx(exact, rel=1e-9, abs=1e-15)


def test_the_mass_counted_as_infinite_covers_the_outputs_left_out() -> None:
    for stddev in (0.1, 0.6, 1.0, 12.7):
        mechanism = DiscreteGaussian(stddev=stddev, l2_sensitivity=1, neighbours="replace_one")
        with mpmath.workdps(40):
            kept = math.ceil(22 * stddev) + 1
            left_out = 2 * mpmath.fsum(
                mpmath.exp(-(mpmath.mpf(k) ** 2) / (2 * mpmath.mpf(stddev) ** 2)) for k in range(kept + 1, kept + 400)
            )
            assert left_out <= mechanism.loss().infinite_mass <= 1e-106
        assert mechanism.attained_loss().infinite_mass == 0.0
        assert Composition.of(mechanism.loss()).parts


@pytest.mark.parametrize(
    "mechanism",
    [
        DiscreteLaplace(scale=2.0, l1_sensitivity=1, neighbours="replace_one"),
        DiscreteGaussian(stddev=2.0, l2_sensitivity=1, neighbours="replace_one"),
    ],
)
def test_answers_that_are_not_integers_are_refused(mechanism: DiscreteLaplace | DiscreteGaussian) -> None:
    with pytest.raises(ValueError, match=r"Expected integers.*float64"):
        mechanism.release(np.array([1.0, 2.5]), np.random.default_rng(1))
    assert mechanism.release(np.array([1, 2]), np.random.default_rng(1)).dtype == np.int64


@pytest.mark.parametrize("bad", [{"scale": 2.0**-9}, {"scale": 2.0**54}, {"scale": 1.0, "l1_sensitivity": 501}])
def test_discrete_laplace_noise_beyond_exact_arithmetic_is_refused(bad: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="scale="):
        DiscreteLaplace(**{"l1_sensitivity": 1, "neighbours": "replace_one", **bad})


@pytest.mark.parametrize("bad", [{"stddev": 0.05}, {"stddev": 2e4}, {"stddev": 1.0, "l2_sensitivity": 11}])
def test_discrete_gaussian_noise_beyond_its_range_is_refused(bad: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="stddev="):
        DiscreteGaussian(**{"l2_sensitivity": 1, "neighbours": "replace_one", **bad})


@pytest.mark.parametrize(
    "noise",
    [
        DiscreteLaplace(scale=1.0, l1_sensitivity=1, neighbours="add_remove"),
        DiscreteGaussian(stddev=1.0, l2_sensitivity=1, neighbours="add_remove"),
        TruncatedDiscreteGaussian(stddev=1.0, cut=3.0, l2_sensitivity=1, neighbours="add_remove"),
    ],
    ids=lambda noise: noise.name,
)
def test_an_output_between_whole_numbers_is_impossible(noise: Any) -> None:
    """Minus infinity, whatever the answer is; a whole distance from the answer keeps its probability."""
    outputs = np.array([0.4, -0.5, 1.0, 2.0**-40, 2.0, np.inf])
    found = noise.log_density(outputs, np.asarray(0))
    assert np.isfinite(found).tolist() == [False, False, True, False, True, False]
    assert (found[~np.isfinite(found)] == -np.inf).all()
    assert noise.log_density(np.asarray(1), np.asarray(0)) == found[2]
    assert noise.log_density(np.asarray(5), np.asarray(4)) == found[2]
