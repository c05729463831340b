"""Checks of the sound code that no test of another folder makes by itself."""

import math
from importlib import import_module
from itertools import combinations
from typing import Any

import pytest

import dpaudit as dp
from dpaudit.engines.basic import total_infinite_mass
from dpaudit.errors import InternalError
from dpaudit.model import losses
from dpaudit.model.bracket import Bracket
from mechanisms import ReportNoisyMax
from tests.mutation.inputs import release
from tests.noise import test_contract


def both_orders_of_the_neighbours_count() -> None:
    """A loss that is larger from the other neighbour counts, wherever the accountant meets it."""
    skewed = losses.DiscreteLoss(atoms=((0.5, 0.9), (math.log(0.1 / (1 - 0.9 * math.exp(-0.5))), 0.1)))
    form = dp.NormalForm(upper=(losses.Composition.of(skewed),), lower=(losses.Composition.of(skewed),))
    assert dp.bracket_epsilon(form, 0.0).lower == pytest.approx(skewed.reversed().supremum)
    assert skewed.reversed().supremum > 1.5
    assert losses.Composition.of(skewed).reversed() != losses.Composition.of(skewed)


def many_masses_at_infinity_add_up() -> None:
    many = losses.Composition.of(losses.ApproximateLoss(epsilon=0.0, delta=1e-6)) * 5000
    for bound in total_infinite_mass(many):
        assert bound == pytest.approx(-math.expm1(5000 * math.log1p(-1e-6)), rel=1e-9)


def what_dominates_is_not_taken_as_attained() -> None:
    chosen = dp.fold(release(ReportNoisyMax(scale=2.0, linf_sensitivity=1.0, neighbours="replace_one")), "replace_one")
    assert dp.bracket_epsilon(chosen, 0.0).lower <= 0.5 + 1e-9
    assert dp.bracket_epsilon(chosen, 0.0).upper >= 1.0


def contradictions_are_reported() -> None:
    """Engines that contradict each other stop the accountant, whichever lies below."""
    low, high = (Bracket(lower=a, upper=a + 1, engines=(name,)) for a, name in ((0.0, "a"), (2.0, "b")))
    for one, other in combinations((low, high, low), 2):
        if one is not other:
            with pytest.raises(Exception, match="wrong"):
                one.intersect(other)
    with pytest.raises(InternalError, match="is empty"):
        Bracket(lower=2.0, upper=1.0, engines=("x",))
    assert low.intersect(Bracket(lower=0.5, upper=9.0, engines=("c",))).upper == 1.0
    assert low.largest(high).lower == 2.0
    assert (low.largest(Bracket(lower=0.5, upper=0.7, engines=("c",)))).upper == 1.0


def examples(*names: str) -> list[Any]:
    """Return the first example of each mechanism."""
    return [import_module(f"mechanisms.{name}").EXAMPLES[0] for name in names]


def samples_have_the_declared_law() -> None:
    """Likelihoods of samples accuse no example; 10 % more noise or less is seen, false alarms are below 1e-7 each."""
    for mechanism in examples(*NUMBERS, "tree_aggregation"):
        assert not test_contract.law_is_rejected(mechanism, mechanism, seed=11), mechanism


def noise_is_calibrated_exactly() -> None:
    """Every mechanism's `calibrated` meets the claim, and slightly less noise does not."""
    for mechanism in examples("gaussian", "laplace", "randomised_response", "tree_aggregation", "joint_gaussian"):
        test_contract.test_calibrated_noise_meets_the_claim_within_1e_9_and_never_below(mechanism, 1.0, 1e-5)


NUMBERS = ("gaussian", "laplace", "discrete_laplace", "randomised_response", "exponential", "report_noisy_max")
"""Mechanisms that release one number or choice."""
