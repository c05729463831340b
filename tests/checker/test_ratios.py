"""The mean of likelihood ratios over few steps: counted out, and held between labels and atoms in both orders."""

import itertools
import math
from typing import Any

import numpy as np
import pytest
from scipy.stats import binom

from tests.checker.modules import checker

P, Q = np.array([0.2, 0.5, 0.3]), np.array([0.5, 0.4, 0.1])


def _inner(alone: float) -> Any:
    """Return three outcomes as a pair whose second law has a mass of its own."""
    q = Q * (1 - alone)
    return checker("pairs").Pair(np.log(P / q), P, 0.0, alone, np.log(P / q), P, q * P / q, P, q * P / q)


def _truth(alone: float, steps: int, order: str, epsilon: float) -> float:
    """Return the delta of all outcomes of all steps, counted out."""
    ratios, masses = np.append(P / Q / (1 - alone), 0.0), np.append(Q * (1 - alone), alone)
    rows = list(itertools.product(range(4), repeat=steps))
    mean = np.array([ratios[list(row)].mean() for row in rows])
    under_q = np.array([masses[list(row)].prod() for row in rows])
    gain = mean - math.exp(epsilon) if order == "remove" else 1 - math.exp(epsilon) * mean
    return math.fsum(under_q * np.maximum(gain, 0.0))


def _both(found: Any, epsilon: float) -> tuple[float, float]:
    """Return what labels attain and what atoms bound at an epsilon."""
    low = np.maximum(found.p - found.q * np.exp(epsilon - found.told), 0.0)
    high = found.masses * np.maximum(-np.expm1(epsilon - found.at), 0.0)
    return math.fsum(low), math.fsum(high) + found.lost


@pytest.mark.parametrize("alone", [0.0, 1e-12, 1e-3])
@pytest.mark.parametrize("steps", [2, 3, 5])
def test_few_secret_steps_lie_between_labels_and_atoms_in_both_orders(alone: float, steps: int) -> None:
    for order in ("remove", "add"):
        found = checker("pairs")._at_few_steps(_inner(alone), steps, 2**11, order)
        for epsilon in (0.0, 0.1, 0.3, 0.6):
            truth = _truth(alone, steps, order, epsilon)
            low, high = _both(found, epsilon)
            assert low <= truth * (1 + 1e-13) <= high * (1 + 2e-13), (order, epsilon)
            assert high <= truth * 1.001 + 1e-12
            assert low >= (truth - steps * alone) * 0.999, (order, epsilon)


@pytest.mark.parametrize("order", ["remove", "add"])
def test_ninety_steps_with_large_ratios_have_the_binomial_sum(order: str) -> None:
    share, counts = 1 / (1 + math.exp(9.0)), np.arange(91)
    response = ("discrete", ((-9.0, share), (9.0, 1 - share)), 0.0, 0.0)
    mean = (counts * math.exp(9.0) + (90 - counts) * math.exp(-9.0)) / 90
    for at in (0.0, 1.0, 4.0):
        gain = mean - math.exp(at) if order == "remove" else 1 - math.exp(at) * mean
        truth = float(binom.pmf(counts, 90, share) @ np.maximum(gain, 0.0))
        low, high = checker("pairs").plain(("allocated", ((response, 1),), 90, order), at)
        assert truth * 0.999 <= low <= truth * (1 + 1e-12)
        assert truth * (1 - 1e-12) <= high <= truth * 1.001


def test_a_sum_keeps_its_mass_its_mean_and_its_empty_ratio() -> None:
    """Every step may have the record: the marked law is the mean over the places of it."""
    module = checker("numerics.ratios")
    knots = module.knots_for(-2.0, 1.0, 7, 300)
    each = module.on_knots(knots, np.array([-3.0, -0.7, 0.9]), np.array([0.3, 0.5, 0.2]))
    assert each.sum() == pytest.approx(1.0, rel=1e-14)
    assert each[0] == pytest.approx(0.3 * -math.expm1(-1.0))
    means = np.append(0.0, np.exp(knots.logarithms))
    assert float(each @ means) == pytest.approx(0.3 * math.exp(-3) + 0.5 * math.exp(-0.7) + 0.2 * math.exp(0.9))
    record = module.on_knots(knots, np.array([0.2]), np.array([1.0]))
    whole, marked = module.summed(knots, 7, each, record)
    assert whole[0] == pytest.approx(each[0] ** 7)
    assert whole.sum() == pytest.approx(1.0)
    assert marked.sum() == pytest.approx(1.0)
    assert float(whole @ means) == pytest.approx(7 * float(each @ means))
    assert float(marked @ means) == pytest.approx(6 * float(each @ means) + math.exp(0.2))
    assert not whole[-4:].any()


def test_a_sum_that_forgets_the_smaller_ratio_far_out_is_below_the_truth(monkeypatch: pytest.MonkeyPatch) -> None:
    """The broken twin: a small ratio beside a large one counts as nothing, so that the mean falls."""
    module, pairs = checker("numerics.ratios"), checker("pairs")
    honest = module._joined

    def larger_alone(knots: Any, one: Any, other: Any) -> Any:
        found = honest(knots, one, other)
        return np.append(found[0], np.append(found[2:], 0.0))

    monkeypatch.setattr(module, "_joined", larger_alone)
    found = pairs._at_few_steps(_inner(0.0), 3, 2**8, "remove")
    assert _both(found, 0.3)[1] < _truth(0.0, 3, "remove", 0.3)


@pytest.mark.parametrize("steps", [3, 22])
def test_ratios_that_are_no_floats_count_as_lost(steps: int) -> None:
    """A thousand Laplace releases at one secret step lose nearly all: no bound from above may fall below the labels."""
    part = (("laplace", 0.7), 1_000)
    for order in ("remove", "add"):
        low, high = checker("pairs").plain(("allocated", (part,), steps, order), 1.0)
        assert low <= high
        assert high > 0.99
