"""Secret steps and rare samples: few steps counted out and integrated, many of them narrow from few knots."""

import itertools
import math
from typing import Any

import numpy as np
import pytest
from scipy.stats import binom, norm

from dpaudit import Allocate, Release, Repeat, Subsample, bracket_delta, bracket_epsilon, fold
from dpaudit.engines.pairs import few_steps
from dpaudit.engines.pairs.closed import closed_pair
from dpaudit.engines.pairs.derived import pair_above, pair_below
from dpaudit.engines.pairs.finite_pair import FinitePair
from dpaudit.engines.tilted import curve
from dpaudit.model.losses import AllocatedLoss, ApproximateLoss, GaussianLoss, SampledOrder
from mechanisms import Gaussian
from tests.accounting.amplification.named_pairs import NAMED

P, Q = np.array([0.2, 0.5, 0.3]), np.array([0.5, 0.499, 0.001])


def _delta_of_two(mu: float, epsilon: float) -> float:
    """Return delta of one of two steps, integrated: the first output by a rule, the second in closed form."""
    z = np.linspace(-14.0, 14.0 + mu, 400_001)
    left = 2 * math.exp(epsilon) - np.exp(mu * z - mu * mu / 2)
    least = (np.log(np.maximum(left, 1e-300)) + mu * mu / 2) / mu
    inner = np.where(left > 0, norm.sf(least - mu) - left * norm.sf(least), 1 - left)
    return float((norm.pdf(z) * inner).sum() * (z[1] - z[0]) / 2)


@pytest.mark.parametrize(("mu", "epsilon"), [(1.2, 6.0), (2.4, 1.0), (5.0, 10.0)])
def test_one_of_two_steps_is_known_where_a_window_of_ratios_caps_what_counts(mu: float, epsilon: float) -> None:
    noise = Gaussian(stddev=1 / mu, l2_sensitivity=1.0, neighbours="add_remove")
    tree = Allocate(part=Release(label="sum", mechanism=noise), steps=2)
    found, truth = bracket_delta(fold(tree, "add_remove"), epsilon), _delta_of_two(mu, epsilon)
    assert found.lower * (1 - 1e-6) <= truth <= found.upper * (1 + 1e-6)
    assert found.upper - found.lower <= 2e-3 * truth


@pytest.mark.parametrize("steps", [2, 3, 5])
def test_few_steps_of_a_table_lie_between_both_pairs_in_both_orders(steps: int) -> None:
    step = FinitePair(losses=np.log(P / Q), masses=P)
    rows = [list(row) for row in itertools.product(range(3), repeat=steps)]
    mean = np.array([(P / Q)[row].mean() for row in rows])
    under_q = np.array([Q[row].prod() for row in rows])
    orders: tuple[SampledOrder, ...] = ("remove", "add")
    for order in orders:
        above, below = (make(step, steps, 1e-3, order) for make in (few_steps.few_above, few_steps.few_below))
        for epsilon in (0.0, 0.3, 2.0):
            gain = mean - math.exp(epsilon) if order == "remove" else 1 - math.exp(epsilon) * mean
            truth = float(under_q @ np.maximum(gain, 0.0))
            high = float(above.masses @ np.maximum(-np.expm1(epsilon - above.losses), 0.0)) + above.infinite
            low = float(below.masses @ np.maximum(-np.expm1(epsilon - below.losses), 0.0)) + below.infinite
            assert truth * (1 - 1e-12) <= high <= truth * 1.002 + 1e-12
            assert truth * 0.998 <= low <= truth * (1 + 1e-12)


def _of_responses(epsilon: float, steps: int, order: SampledOrder, at: float) -> float:
    """Return delta of one response at a secret step, by the binomial number of steps with the larger ratio."""
    counts = np.arange(steps + 1)
    under_q = binom.pmf(counts, steps, 1 / (1 + math.exp(epsilon)))
    mean = (counts * math.exp(epsilon) + (steps - counts) * math.exp(-epsilon)) / steps
    gain = mean - math.exp(at) if order == "remove" else 1 - math.exp(at) * mean
    return float(under_q @ np.maximum(gain, 0.0))


@pytest.mark.parametrize("order", ["remove", "add"])
def test_ninety_steps_with_large_ratios_have_the_binomial_sum(order: SampledOrder) -> None:
    """Evenly spaced ratios left 0.9 of the mass at ratio 0 there."""
    step = closed_pair(ApproximateLoss(epsilon=9.0), 1.0, 1e-30, above=True)
    assert few_steps.is_few(step, 90, order)
    above, below = (make(step, 90, 1e-2, order) for make in (few_steps.few_above, few_steps.few_below))
    for at in (0.0, 1.0, 4.0):
        truth = _of_responses(9.0, 90, order, at)
        high = float(above.masses @ np.maximum(-np.expm1(at - above.losses), 0.0)) + above.infinite
        low = float(below.masses @ np.maximum(-np.expm1(at - below.losses), 0.0)) + below.infinite
        assert truth * (1 - 1e-12) <= high <= truth * 1.001 + 1e-12
        assert truth * 0.999 <= low <= truth * (1 + 1e-12)


def test_a_sum_that_rounds_ratios_down_is_below_the_truth(monkeypatch: pytest.MonkeyPatch) -> None:
    """The broken twin: a ratio between two knots stands at the lower one."""

    def lower(knots: Any, logarithms: Any, masses: Any) -> Any:
        found = np.zeros(knots.size + 1)
        np.add.at(found, ((logarithms - knots.low) / knots.step).astype(int) + 1, masses)
        return found

    monkeypatch.setattr(few_steps.RatioKnots, "shared", lower)
    monkeypatch.setattr(few_steps, "_KNOTS", 64)
    monkeypatch.setattr(few_steps, "_LEAST_KNOTS", 64)
    step = FinitePair(losses=np.log(P / Q), masses=P)
    found = few_steps.few_above(step, 2, 1e-1, "remove")
    truth = sum(
        max(0.0, (a / b + c / d) / 2 - 1) * b * d for a, b in zip(P, Q, strict=True) for c, d in zip(P, Q, strict=True)
    )
    assert float(found.masses @ np.maximum(-np.expm1(-found.losses), 0.0)) < truth


@pytest.mark.parametrize(
    ("rate", "stddev", "steps", "delta", "width"),
    [(1e-3, 1.0, 10**5, 1e-5, 1e-4), (1e-3, 1.0, 10**6, 1e-5, 4e-4), (4.07e-5, 0.614, 10**5, 1.1e-10, 6e-4)],
)
def test_a_bracket_of_many_steps_on_rare_samples_is_narrow(
    rate: float, stddev: float, steps: int, delta: float, width: float
) -> None:
    """Cells of one loss are as narrow as its frequent small values ask, though its rare ones reach far."""
    noise = Gaussian(stddev=stddev, l2_sensitivity=1.0, neighbours="add_remove")
    step = Subsample(part=Release(label="gradient", mechanism=noise), rate=rate, scheme="poisson")
    found = bracket_epsilon(fold(Repeat(part=step, times=steps), "add_remove"), delta)
    assert 0 < found.upper - found.lower <= width * found.upper


def vault_gemma(batch_bound: int) -> Repeat:
    """The published size of VaultGemma: 13 * 10^12 tokens in sequences of 1,024, 100,000 steps, noise 0.614."""
    noise = Gaussian(stddev=0.614, l2_sensitivity=1.0, neighbours="add_remove")
    batch = Subsample(
        part=Release(label="gradient", mechanism=noise),
        rate=519_168 / 12_695_312_500,
        scheme="truncated_poisson",
        population=12_695_312_500,
        batch_bound=batch_bound,
    )
    return Repeat(part=batch, times=100_000)


def test_a_model_of_published_size_is_known_to_a_thousandth(monkeypatch: pytest.MonkeyPatch) -> None:
    """Batches are cut at eight deviations above the mean. Without smaller steps the bracket is wider."""
    assert math.isclose((525_000 - 519_168) / math.sqrt(519_168), 8.1, abs_tol=0.1)
    tree = fold(vault_gemma(525_000), "add_remove", (NAMED,))
    found = bracket_epsilon(tree, 1.1e-10)
    assert 1.71 < found.lower <= found.upper <= found.lower * 1.001 < 2.0
    monkeypatch.setattr(curve, "_REFINED", 0)
    wider = bracket_epsilon(tree, 1.11e-10)  # answers are kept, so that another delta is asked
    assert wider.upper > wider.lower * 1.001


def test_a_thousand_secret_steps_keep_a_delta_of_1e_12_on_both_sides() -> None:
    """One tilt lost a tenth of the lower bound there, and slopes of up to 60 counted 1e-12 as infinite."""
    steps = AllocatedLoss(inside=((GaussianLoss(mu=0.5), 1),), steps=1000, order="remove")
    above, below = pair_above(steps, 1e-3, 1e-20), pair_below(steps, 1e-3, 1e-20)
    assert above.infinite < 1e-16
    high, low = above.delta_above(0.1), below.delta_below(0.1)
    assert 5e-12 < low <= high < 1.01 * low
