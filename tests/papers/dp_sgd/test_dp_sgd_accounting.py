"""Epsilon of a history of sampled noisy steps, close to the truth, and the least noise that controls may have."""

import math

import dp_accounting
import pytest
from scipy.optimize import brentq
from scipy.stats import norm

from algorithms.dp_sgd.accounting import epsilon_of_history
from algorithms.dp_sgd.algorithm import DpSgd
from dpaudit import NormalForm, bracket_epsilon
from dpaudit.accounting.fold import fold
from dpaudit.certification.less_noise import with_less_noise
from dpaudit.model.claim import Neighbours
from dpaudit.model.losses import Composition, GaussianLoss

DELTA = 1e-5
NEAR = 1e-3
"""How far above the truth the bound may lie."""

HISTORIES = (((1.1, 1 / 12, 240),), ((4.0, 0.1, 40),), ((2.0, 0.05, 200), (1.5, 0.02, 100)), ((0.7, 0.001, 500),))


def gaussian_epsilon(mu: float) -> float:
    alternatives = (Composition.of(GaussianLoss(mu=mu)),)
    return bracket_epsilon(NormalForm(upper=alternatives, lower=alternatives), DELTA).upper


def one_step(noise: float, rate: float, delta: float) -> float:
    """Exact epsilon of one step under replacement: the likelihood ratio grows with x, so half lines are optimal."""
    shift = 1 / noise

    def weight(x: float, sign: float) -> float:
        return (1 - rate) * norm.pdf(x) + rate * norm.pdf(x - sign * shift)

    def gap(epsilon: float) -> float:
        cut = brentq(lambda x: math.log(weight(x, 1) / weight(x, -1)) - epsilon, -1, 36)
        first = (1 - rate) * norm.sf(cut) + rate * norm.sf(cut - shift)
        return first - math.exp(epsilon) * ((1 - rate) * norm.sf(cut) + rate * norm.sf(cut + shift)) - delta

    return brentq(gap, 1e-6, 8)


@pytest.mark.parametrize("relation", ["add_remove", "replace_one"])
@pytest.mark.parametrize("history", HISTORIES)
def test_dp_accounting_brackets_the_same_truth(
    history: tuple[tuple[float, float, int], ...], relation: Neighbours
) -> None:
    """Its optimistic estimate lies below our bound, and its pessimistic one not a thousandth below."""
    neighbours = dp_accounting.NeighboringRelation[relation.upper().replace("ADD_REMOVE", "ADD_OR_REMOVE_ONE")]
    bound = epsilon_of_history(history, DELTA, relation)
    accountant = dp_accounting.pld.PLDAccountant(neighbours)
    for noise, rate, steps in history:
        step = dp_accounting.PoissonSampledDpEvent(rate, dp_accounting.GaussianDpEvent(noise))
        accountant.compose(dp_accounting.SelfComposedDpEvent(step, steps))
    pessimistic = accountant.get_epsilon(DELTA)
    assert pessimistic - 2e-4 <= bound <= pessimistic + NEAR


@pytest.mark.parametrize(("noise", "rate"), [(1.0, 0.1), (0.8, 0.01), (3.0, 0.5)])
@pytest.mark.parametrize("delta", [1e-3, 1e-6])
def test_one_step_under_replacement_has_a_closed_form(noise: float, rate: float, delta: float) -> None:
    """The pair of two mixtures, tested on half lines, gives the exact curve of one step."""
    exact = one_step(noise, rate, delta)
    bound = epsilon_of_history(((noise, rate, 1),), delta, "replace_one")
    assert exact - 1e-9 <= bound <= exact + NEAR


def test_a_rate_of_one_is_the_plain_gaussian_mechanism() -> None:
    """m steps of noise z compose to mu = sqrt(m) / z, and to twice that where a record is replaced."""
    factors: tuple[tuple[Neighbours, int], ...] = (("add_remove", 1), ("replace_one", 2))
    for relation, factor in factors:
        exact = gaussian_epsilon(factor * math.sqrt(30) / 2)
        assert exact - 1e-9 <= epsilon_of_history(((2.0, 1.0, 30),), DELTA, relation) <= exact + NEAR


def test_known_values_of_a_digits_classifier() -> None:
    """240 steps at rate 1/12 and noise 1.1 cost 7.5480; replaced records 12.471, far from twice 7.548."""
    assert epsilon_of_history(((1.1, 1 / 12, 240),), DELTA, "add_remove") == pytest.approx(7.5480, abs=NEAR)
    assert epsilon_of_history(((1.1, 1 / 12, 240),), DELTA, "replace_one") == pytest.approx(12.4711, abs=NEAR)


def test_the_pair_for_add_remove_would_be_below_the_truth_under_replacement() -> None:
    """The twin that answers a question about replacement with the other relation is caught by the closed form."""
    twin = epsilon_of_history(((1.0, 0.1, 1),), 1e-3, "add_remove")
    assert twin < one_step(1.0, 0.1, 1e-3) - 0.1


@pytest.mark.parametrize(
    ("history", "words"),
    [
        ((), "no step"),
        (((0.0, 0.1, 3),), "noise_multiplier"),
        (((1.0, 1.5, 3),), "sample_rate"),
        (((1.0, 0.5, 0),), "num_steps"),
    ],
)
def test_a_history_out_of_range_is_refused(history: tuple[tuple[float, float, int], ...], words: str) -> None:
    """The message names the field."""
    with pytest.raises(ValueError, match=words):
        epsilon_of_history(history, DELTA, "add_remove")


CONFIG = DpSgd(epsilon=0.75, delta=1e-5, noise_multiplier=4.0, sample_rate=0.1, steps=40, max_grad_norm=0.1)


@pytest.mark.parametrize("epsilon", [1.75, 7.5, 30.0])
def test_the_noise_is_as_small_as_the_size_allows(epsilon: float) -> None:
    """Epsilon is no power of the noise under sampling: the proved one lies within a twentieth below the size.

    One step by the ratio of the epsilons, as if epsilon were proportional, misses each of the sizes.
    """
    weaker = with_less_noise(CONFIG, CONFIG.claim(), epsilon)
    assert isinstance(weaker, DpSgd)
    assert 0.95 * epsilon <= _proved(weaker) <= epsilon
    step = DpSgd(
        epsilon=0.75,
        delta=1e-5,
        noise_multiplier=4.0 * _proved(CONFIG) / epsilon,
        sample_rate=0.1,
        steps=40,
        max_grad_norm=0.1,
    )
    assert not 0.95 * epsilon <= _proved(step) <= epsilon


def _proved(config: DpSgd) -> float:
    return bracket_epsilon(fold(config.declaration(), "add_remove", ()), config.delta).upper
