"""The window of the tilted engine, the weights outside it, and the cells of sampled Gaussians at any width."""

import math
from typing import Any

import numpy as np
import pytest
from mpmath import mp, mpf

from dpaudit.engines import TILTED
from dpaudit.engines.law import weighted
from dpaudit.engines.pairs.derived import pair_above
from dpaudit.engines.pairs.mixture import _ends, mixture_cells, mixture_loss, range_of
from dpaudit.engines.tilted.tails import log_mass_beyond
from dpaudit.model.losses import Composition, DiscreteLoss, GaussianLoss, LaplaceLoss, SampledGaussianLoss
from dpaudit.model.losses.sampled_ratios import absent, log_absent
from mechanisms import DiscreteGaussian


def shares(rate: float, mu: Any, left: Any, right: Any) -> tuple[Any, Any]:
    """Return what puts the cell between two outputs on its upper and its lower knot, p and q staying."""
    left, right, mu = mpf(left), mpf(right), mpf(mu)
    p = absent(rate) * (mp.ncdf(right) - mp.ncdf(left)) + mpf(rate) * (mp.ncdf(right - mu) - mp.ncdf(left - mu))
    q = mp.ncdf(right) - mp.ncdf(left)
    low, high = (
        mpf(absent(rate)) + mpf(rate) * mp.exp(mu * x - mu**2 / 2) if x > -math.inf else mpf(absent(rate))
        for x in (left, right)
    )
    up = (p - q * low) / (1 - low / high)
    return up, p - up


@pytest.mark.parametrize(("mu", "rate"), [(1.0, 1e-3), (1.0, 0.5), (0.3, 1.0), (4.0, 1e-6), (2.0, 0.999999)])
@pytest.mark.parametrize("width", [1e-2, 1e-4, 3e-7])
def test_cells_of_a_sampled_gaussian_are_right_at_any_width(mu: float, rate: float, width: float) -> None:
    """Both shares of cells all over, against sixty digits at the stated ends; no error grows as the width falls."""
    cells = mixture_cells(mu, rate, width, 1e-15)
    assert cells.error <= 1e-9
    low, _ = range_of(mu, rate, 1e-15)
    opens = rate < 1 and float(cells.origin) == log_absent(rate)
    bottom = float(cells.origin) if opens else mixture_loss(low, mu, rate)
    knots = np.asarray(cells.width * np.arange(len(cells.up) + 1), np.float64)
    ends = _ends(-math.inf if opens else low, bottom, knots, mu, rate)
    with mp.workdps(60):
        for place in {0, *np.random.default_rng(1).integers(0, len(cells.up), 12).tolist()}:
            left, right = float(ends[place]), float(ends[place + 1])
            up, down = shares(rate, mu, left, right)
            for stated, true in ((cells.up[place], up), (cells.down[place], down)):
                assert abs(mpf(float(stated)) - true) <= cells.error * true + mpf(1e-299), (place, left)


@pytest.mark.parametrize("rate", [5e-324, 1e-310, 1e-200])
def test_a_rate_near_the_smallest_float_leaves_nearly_all_mass_on_no_loss(rate: float) -> None:
    for width in (1.0, 1e-5):
        cells = mixture_cells(1.0, rate, width, 1e-20)
        assert cells.up[0] <= 1e-190
        assert float((cells.up + cells.down).sum()) == pytest.approx(1.0, abs=1e-9)


def test_the_weights_beyond_a_knot_are_bounded_on_the_side_that_is_asked_for() -> None:
    """A binomial law and a rare large loss: at knots on either side of the centre, above and below."""
    for masses in ([0.5, 0.5], [0.999, *[0.0] * 40, 0.001]):
        part = weighted(np.array(masses), 1e-9, 30, upwards=True)
        law = np.ones(1)
        for _ in range(30):
            law = np.convolve(law, part.weights)
        centre = round(float(law @ np.arange(len(law))))
        deviation = math.sqrt(float(law @ (np.arange(len(law)) - centre) ** 2))
        for knot in range(len(law)):
            for above in (True, False):
                true = float(law[knot:].sum() if above else law[: knot + 1].sum())
                bound = log_mass_beyond([part], knot, centre, deviation, above=above)
                assert math.log(max(true, 1e-300)) <= bound + 1e-9


@pytest.mark.parametrize(
    ("rate", "times", "epsilon", "width"), [(1e-6, 10**6, 2.84e-3, 0.05), (1e-3, 10**5, 1.6, 2e-3)]
)
def test_a_delta_is_narrow_where_a_record_is_hardly_ever_drawn(
    rate: float, times: int, epsilon: float, width: float
) -> None:
    """The tail that no answer needs does not decide about the tilt: it lies far beyond all losses that count."""
    steps = Composition.of(SampledGaussianLoss(mu=1.0, rate=rate)) * times
    found = TILTED.delta(steps, epsilon)
    assert 0 < found.upper - found.lower <= width * found.upper


def test_a_hundred_thousand_rare_samples_are_bracketed_to_a_ten_thousandth() -> None:
    steps = Composition.of(SampledGaussianLoss(mu=1.0, rate=1e-3)) * 10**5
    found = TILTED.epsilon(steps, 1e-5)
    assert 0 < found.upper - found.lower <= 1e-4 * found.upper


def test_few_releases_of_unlike_losses_are_sharp_from_below() -> None:
    """Labels may lie a knot further out than what dominates: the window has room for one at each release."""
    few = (
        Composition.of(GaussianLoss(mu=2.438), LaplaceLoss(shift=1.716)) + Composition.of(LaplaceLoss(shift=0.2766)) * 3
    )
    found = TILTED.epsilon(few, 4e-10)
    assert found.upper - found.lower <= 1e-5 * found.upper


@pytest.mark.parametrize("times", [1000, 2000, 5368])
@pytest.mark.parametrize("total", [0.45, 3.27])
def test_many_discrete_gaussians_are_bracketed_as_closely_as_few(times: int, total: float) -> None:
    """All losses lie on one lattice: knots of its spacing lose nothing; the sum of the outputs tells the truth.

    With knots over all possible sums, 5,368 releases cost 18.66 to 21.73 where the truth is 21.2665.
    """
    noise = DiscreteGaussian(stddev=math.sqrt(times) / total, l2_sensitivity=1, neighbours="zero_out")
    found = TILTED.epsilon(Composition.of(noise.loss()) * times, 2e-7)
    sums = np.arange(-round(12 * times / total), times + round(12 * times / total))
    without = np.exp(-((sums / times * total) ** 2) / 2)
    losses = (sums - times / 2) * total**2 / times
    for epsilon, sign in ((found.lower, 1), (found.upper, -1)):
        gains = np.maximum(0.0, np.exp(losses) - math.exp(epsilon))
        assert sign * (float(without @ gains) / float(without.sum()) - 2e-7) >= 0
    assert found.upper - found.lower <= 1e-5 * found.upper


def test_a_raised_loss_leaves_its_rest_to_the_other_law() -> None:
    """Both laws of a pair from above are whole, although its atoms are moved to common knots."""
    loss = DiscreteLoss(atoms=((-1.791759469228055, 0.125), (0.0, 0.125), (1.791759469228055, 0.75)))
    pair = pair_above(loss, 0.01, 1e-30)
    assert pair.masses.sum() >= 1 - 1e-15
    assert (pair.masses * np.exp(-pair.losses)).sum() + pair.missing >= 1 - 1e-15
