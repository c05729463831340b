"""The smallest rho of each mechanism: never below the supremum that 50 digits find, and close to it."""

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import mpmath as mp
import pytest

import mechanisms
from dpaudit import Claim, Mechanism, Release, Repeat, Stated
from dpaudit.accounting.additive_costs import Cost, cost_of, zcdp
from dpaudit.model.losses import ApproximateLoss, DiscreteLoss, LaplaceLoss

Cumulant = Callable[[Any], Any]
CLAIM = Claim(epsilon=1.0, delta=1e-6, neighbours="replace_one")


def supremum(cumulant: Cumulant) -> Any:
    """The largest divergence over its order, by a search in 50 digits over orders from 1 + 1e-12 to 1 + 1e7."""
    with mp.workdps(50):

        def ratio(power: Any) -> Any:
            return cumulant(power) / (power * (1 + power))

        powers = [mp.mpf(10) ** (mp.mpf(k) / 4) for k in range(-48, 29)]
        best = max(range(len(powers)), key=lambda k: ratio(powers[k]))
        low, high = powers[max(0, best - 1)], powers[min(len(powers) - 1, best + 1)]
        for _ in range(50):
            third = (high - low) / 3
            low, high = (low + third, high) if ratio(low + third) < ratio(high - third) else (low, high - third)
        return max(ratio(powers[best]), ratio((low + high) / 2))


def of_rows(rows: list[tuple[Any, Any]]) -> Cumulant:
    """The cumulant of one law against another, from their probabilities."""
    return lambda power: mp.log(sum(p * (p / q) ** power for p, q in rows))


def responses(epsilon: float, categories: int) -> list[tuple[Any, Any]]:
    """Randomised response: the truth, the other answer's truth, and what neither is, joined."""
    e = mp.exp(mp.mpf(str(epsilon)))
    total = e + categories - 1
    rows = [(e / total, 1 / total), (1 / total, e / total)]
    return [*rows, ((categories - 2) / total,) * 2] if categories > 2 else rows


def whole(decay: Any, moved: int) -> list[tuple[Any, Any]]:
    """Two-sided geometric noise, far tails left out."""
    reach = range(-400, 401 + moved)
    level = (1 - decay) / (1 + decay)
    return [(level * decay ** abs(k), level * decay ** abs(k - moved)) for k in reach]


def amount(noise: Mechanism) -> Any:
    """What a release costs, which has no mass."""
    cost = cost_of(Release(label="x", mechanism=noise), CLAIM, zcdp)
    assert cost is not None
    assert cost.mass == 0
    return mp.mpf(cost.amount.numerator) / cost.amount.denominator


def agrees(found: Any, truth: Any) -> bool:
    """Whether a cost is not below the truth, and at most 2e-5 above it."""
    return bool(truth * (1 - mp.mpf(10) ** -13) <= found <= truth * (1 + mp.mpf(2) / 10**5))


@pytest.mark.parametrize("categories", [2, 3, 50, 1000])
@pytest.mark.parametrize("epsilon", [1e-3, 0.1, 1.0, 5.0])
def test_randomised_response_costs_its_largest_ratio(epsilon: float, categories: int) -> None:
    """With many categories the worst order is far above 1, and rho is a small part of epsilon^2 / 2."""
    noise = mechanisms.RandomisedResponse(epsilon=epsilon, categories=categories, neighbours="replace_one")
    with mp.workdps(50):
        truth = supremum(of_rows(responses(epsilon, categories)))
        assert agrees(amount(noise), truth)


@pytest.mark.parametrize("shift", [1e-6, 1e-3, 0.1, 1.0, 10.0, 100.0])
def test_laplace_noise_costs_its_kullback_leibler_divergence(shift: float) -> None:
    with mp.workdps(50):
        b = mp.mpf(str(shift))
        truth = supremum(lambda s: s * b + mp.log((s + 1) / (2 * s + 1) + s / (2 * s + 1) * mp.exp(-(2 * s + 1) * b)))
        cost = zcdp(LaplaceLoss(shift=shift))
        assert cost is not None
        assert agrees(mp.mpf(cost.amount.numerator) / cost.amount.denominator, truth)


@pytest.mark.parametrize(
    ("first", "second"), [((0.9, 0.1), (0.5, 0.5)), ((0.999, 0.001), (0.99, 0.01)), ((0.5, 0.3, 0.2), (0.2, 0.3, 0.5))]
)
def test_a_table_costs_the_dearer_of_its_orders(first: tuple[float, ...], second: tuple[float, ...]) -> None:
    """Each release chooses its order, so that rho is the larger one: not that of the curve above both."""
    with mp.workdps(50):
        rows = [(mp.mpf(str(p)), mp.mpf(str(q))) for p, q in zip(first, second, strict=True)]
        truth = max(supremum(of_rows(rows)), supremum(of_rows([(q, p) for p, q in rows])))
        assert agrees(amount(mechanisms.Finite(first=first, second=second, neighbours="replace_one")), truth)


def test_the_discrete_gaussian_costs_what_the_gaussian_costs() -> None:
    """Canonne, Kamath and Steinke (2020), Theorem 4: whole orders attain it."""
    noise = mechanisms.DiscreteGaussian(stddev=2.0, l2_sensitivity=3, neighbours="replace_one")
    cost = cost_of(Release(label="x", mechanism=noise), CLAIM, zcdp)
    assert cost == Cost(amount=Fraction(9, 8))
    with mp.workdps(50):
        weights = {k: mp.exp(-mp.mpf(k * k) / 8) for k in range(-120, 121)}
        total = sum(weights.values())
        moment = sum(weights[k] ** 2 / weights[k - 3] for k in range(-117, 121)) / total
        assert mp.log(moment) / 2 == pytest.approx(9 / 8, rel=1e-12)  # order 2


def test_compositions_of_a_mechanism_cost_its_copies() -> None:
    """Trees and repeats: shift - 1 + e^-shift of each node."""
    leaf = mechanisms.Laplace(scale=4.0, l1_sensitivity=1.0, neighbours="replace_one")
    tree = Release(label="x", mechanism=mechanisms.TreeAggregation(horizon=8, leaf=leaf))
    cost = cost_of(Repeat(part=tree, times=3), CLAIM, zcdp)
    assert cost is not None
    assert float(cost.amount) == pytest.approx(12 * (0.25 - 1 + math.exp(-0.25)), rel=1e-12)


def test_mechanisms_with_a_theorem_or_a_bound_keep_it() -> None:
    """Bounded range; Gaussian noise; noisy maxima by the Laplace loss that dominates them."""
    choice = amount(mechanisms.Exponential(epsilon=1.0, linf_sensitivity=1.0, neighbours="replace_one"))
    assert 0 <= choice - (1 / mp.expm1(1) - 1 + mp.log(mp.expm1(1))) < 1e-11
    assert amount(mechanisms.Gaussian(stddev=2.0, l2_sensitivity=1.0, neighbours="replace_one")) == mp.mpf(1) / 8
    noisy = mechanisms.ReportNoisyMax(scale=2.0, linf_sensitivity=1.0, neighbours="replace_one")
    assert float(amount(noisy)) == pytest.approx(math.exp(-1), rel=1e-12)


def test_a_mass_beyond_epsilon_is_counted_beside_its_black_box() -> None:
    cut = mechanisms.TruncatedDiscreteGaussian(stddev=2.0, cut=3.0, l2_sensitivity=1, neighbours="replace_one")
    cost = cost_of(Release(label="x", mechanism=cut), CLAIM, zcdp)
    assert cost is not None
    epsilon = cut.loss().supremum
    assert float(cost.amount) == pytest.approx(epsilon * math.tanh(epsilon / 2), rel=1e-12)
    assert float(cost.mass) == pytest.approx(cut.loss().infinite_mass, rel=1e-12)
    stated = cost_of(Stated(epsilon=1.0, delta=1e-7, source="x"), CLAIM, zcdp)
    assert stated is not None
    assert float(stated.amount) == pytest.approx(math.tanh(0.5), rel=1e-12)
    assert stated.mass == Fraction(1, 10**7)


@pytest.mark.parametrize("epsilon", [1e-12, 1e-300, 1e3, 1e300])
def test_extreme_losses_have_a_cost_between_the_plain_bounds(epsilon: float) -> None:
    """Neither overflow nor zero: at most epsilon^2 / 2 and at most epsilon, and close to the smaller one."""
    for loss in (ApproximateLoss(epsilon=epsilon), LaplaceLoss(shift=epsilon)):
        cost = zcdp(loss)
        assert cost is not None
        exact = Fraction(str(epsilon))
        assert min(exact**2 / 2, exact) * Fraction(99, 100) <= cost.amount <= min(exact**2 / 2, exact)


def test_a_cost_of_the_wrong_order_is_caught() -> None:
    """The broken twin: the limit at order 1 alone is below the supremum of many categories."""
    rows = responses(1.0, 50)
    with mp.workdps(50):
        limit = of_rows(rows)(mp.mpf(10) ** -12) * mp.mpf(10) ** 12
        assert not agrees(limit, supremum(of_rows(rows)))


def test_a_loss_of_nothing_costs_nothing() -> None:
    cost = zcdp(DiscreteLoss(atoms=((0.0, 1.0),)))
    assert cost == Cost()
