"""Numbers of the bounds for scores, computed by other means or printed by their sources."""

import math
from itertools import pairwise

import numpy as np
import pytest
from scipy import integrate, stats

from audits.bounds import GaussianTradeOff, PrivateTradeOff, area_under_roc
from audits.bounds.band import local_level, tail_limits
from audits.bounds.one_run import one_run_bound
from audits.bounds.one_run_order import one_run_order_bound
from audits.bounds.one_run_trade_off import one_run_mu, one_run_refutes, one_run_trade_off_bound
from audits.bounds.rank import rank_bound, rank_mu, rank_p_value
from audits.bounds.trade_offs import TradeOff, equal_error_mu
from dpaudit.model.losses import GaussianLoss
from dpaudit.model.mechanism import Array

Counts = tuple[int, int, int, int]

TRADE_OFFS = (
    PrivateTradeOff.of(0.0),
    PrivateTradeOff.of(1.0),
    PrivateTradeOff.of(2.0, 0.01),
    PrivateTradeOff(points=((0.0, 0.4), (1.0, 0.13), (2.0, 0.021))),
    GaussianTradeOff(mu=0.7),
)


@pytest.mark.parametrize(
    ("counts", "trade_off", "expected"),
    [
        ((10, 1000, 60, 1000), PrivateTradeOff.of(1.0), 0.0041802),
        ((10, 1000, 60, 1000), PrivateTradeOff.of(1.0, 1e-3), 0.0051217),
        ((10, 1000, 120, 1000), GaussianTradeOff(mu=1.0), 0.0979910),
        ((50, 5000, 400, 5000), GaussianTradeOff(mu=0.8), 0.0160681),
    ],
)
def test_p_values_of_a_rank_are_those_of_a_separate_computation(
    counts: Counts, trade_off: TradeOff, expected: float
) -> None:
    """Two of a claim, two of a Gaussian trade-off, to 1e-6 and by scipy's adaptive quadrature."""
    rank, outs, hits, ins = counts
    value = rank_p_value(*counts, trade_off)
    assert value == pytest.approx(expected, abs=1e-6)
    law = stats.beta(rank, outs + 1 - rank)
    oracle, _ = integrate.quad(
        lambda x: float(law.pdf(x) * stats.binom.sf(hits - 1, ins, float(trade_off(np.asarray(x))))),
        float(law.ppf(1e-14)),
        float(law.isf(1e-14)),
        epsabs=1e-12,
        limit=400,
    )
    assert oracle <= value + 1e-12
    assert value == pytest.approx(oracle, abs=1e-9)


def test_a_rank_among_few_against_very_many_members_is_bounded_from_above() -> None:
    """Where the integrand jumps, the p-value stays above the probability that a million draws of the rank show."""
    trade_off = PrivateTradeOff.of(2.0)
    draws = np.random.default_rng(0).beta(3, 48, 1_000_000)
    seen = stats.binom.sf(400_000 - 1, 1_000_000, trade_off(draws)).mean()
    value = rank_p_value(3, 50, 400_000, 1_000_000, trade_off)
    assert seen - 6 * math.sqrt(seen / 1e6) < value < seen + 6 * math.sqrt(seen / 1e6) + 1e-4


@pytest.mark.parametrize(
    ("counts", "epsilon", "mu"),
    [((10, 1000, 60, 1000), 1.290923, 0.567252), ((100, 1000, 300, 1000), 0.928690, 0.646272)],
)
def test_the_bounds_of_a_rank_are_where_the_p_value_is_the_level(counts: Counts, epsilon: float, mu: float) -> None:
    """Both inversions to 1e-6; at the bound the p-value is the level, beyond it larger."""
    assert rank_bound(*counts, 0.0, 0.05).epsilon == pytest.approx(epsilon, abs=1e-6)
    assert rank_mu(*counts, 0.05) == pytest.approx(mu, abs=1e-6)
    assert (
        rank_p_value(*counts, PrivateTradeOff.of(epsilon - 1e-5))
        < 0.05
        < rank_p_value(*counts, PrivateTradeOff.of(epsilon + 1e-5))
    )


@pytest.mark.parametrize(("scores", "level"), [(20, 0.0023780), (100, 0.0010936), (300, 0.00074332)])
def test_local_levels_of_the_band(scores: int, level: float) -> None:
    """The level of each limit for a total of .025, to 2 %."""
    assert local_level(scores, 0.025) == pytest.approx(level, rel=0.02)


def test_the_band_of_two_scores_is_what_a_polynomial_says() -> None:
    """P(U_(1) <= b1, U_(2) <= b2) = 2 b1 b2 - b1^2 for two uniform numbers, which is 1 - level at the limits."""
    low, high = tail_limits(np.array([0, 1]), 2, 0.1)
    assert 2 * low * high - low**2 == pytest.approx(0.9, abs=1e-6)


@pytest.mark.parametrize("trade_off", TRADE_OFFS)
def test_a_trade_off_increases_is_concave_and_its_inverse_inverts_it(trade_off: TradeOff) -> None:
    """The area is the numerical integral, the inverse is the least rate that allows a value; concavity on a grid."""
    grid = np.linspace(0, 1, 20_001)
    heights = trade_off(grid)
    assert trade_off.area == pytest.approx(float(np.trapezoid(heights, grid)), abs=1e-5)
    assert (np.diff(heights) >= 0).all()
    assert (np.diff(heights, 2) <= 1e-9).all()
    for height in (0.0, 0.1, 0.5, 0.9, 1.0):
        least = trade_off.inverse(height)
        assert float(trade_off(np.asarray(least))) >= height - 1e-9
        assert least <= 1e-12 or float(trade_off(np.asarray(least - 1e-6))) < height


def test_trade_offs_are_those_of_their_sources() -> None:
    """Two lines a point (Kairouz, Oh and Viswanath 2015); Phi(Phi^-1(x) + mu) (Dong, Roth and Su 2022)."""
    grid = np.linspace(0.001, 0.999, 97)

    def lines(epsilon: float, delta: float) -> Array:
        mirrored = 1 - np.exp(-epsilon) * (1 - delta - grid)
        return np.minimum(1.0, np.minimum(np.exp(epsilon) * grid + delta, mirrored))

    np.testing.assert_allclose(PrivateTradeOff.of(1.5, 0.02)(grid), lines(1.5, 0.02), atol=1e-12)
    shifted = stats.norm.cdf(stats.norm.ppf(grid) + 1.2)
    np.testing.assert_allclose(GaussianTradeOff(mu=1.2)(grid), shifted, atol=1e-12)
    points = tuple((epsilon, GaussianLoss(mu=1.0).hockey_stick(epsilon)) for epsilon in (0.0, 0.5, 1.0, 2.0))
    lowest = np.min([lines(*point) for point in points], axis=0)
    np.testing.assert_allclose(PrivateTradeOff(points=points)(grid), lowest, atol=1e-12)


@pytest.mark.parametrize(("counts", "mu"), [((1000, 200, 190), 0.908054), ((500, 60, 55), 0.614853)])
def test_largest_mu_that_one_run_refutes(counts: tuple[int, int, int], mu: float) -> None:
    """To 1e-6, by the recursion of Mahloujifar, Melis and Chaudhuri (2025)."""
    assert one_run_mu(*counts, 0.05) == pytest.approx(mu, abs=1e-6)


@pytest.mark.parametrize(
    ("counts", "delta", "epsilon"), [((1000, 100, 75), 1e-4, 0.680159), ((1000, 100, 95), 1e-5, 2.155735)]
)
def test_largest_epsilon_that_one_run_refutes(counts: tuple[int, int, int], delta: float, epsilon: float) -> None:
    """To 1e-6; at a pure claim it is the binomial bound of Steinke, Nasr and Jagielski (2023) if all are guessed."""
    assert one_run_trade_off_bound(*counts, delta, 0.05).epsilon == pytest.approx(epsilon, abs=1e-6)
    assert one_run_trade_off_bound(10, 10, 10, 0.0, 0.05).epsilon == pytest.approx(
        one_run_bound(10, 10, 10, 0.0, 0.05).epsilon, abs=1e-5
    )


def test_a_curve_of_more_points_is_refuted_by_fewer_guesses() -> None:
    """The Gaussian curve falls before 41 of its points, and those before one of them, if at all."""
    loss = GaussianLoss(mu=1.0)
    points = tuple((epsilon, loss.hockey_stick(epsilon)) for epsilon in np.linspace(0, 4, 41).tolist())
    least = [
        next((right for right in range(150, 201) if one_run_refutes(1000, 200, right, trade_off, 0.05)), 201)
        for trade_off in (
            GaussianTradeOff(mu=1.0),
            PrivateTradeOff(points=points),
            PrivateTradeOff(points=points[20:21]),
        )
    ]
    assert all(a <= b for a, b in pairwise(least))
    assert 190 <= least[0] <= least[1] <= 200


def test_the_ordered_bound_of_perfect_guesses_approaches_its_ceiling() -> None:
    """n right guesses never show more than -ln(alpha^(-1/n) - 1)^-1; wrong ones show nothing."""
    sure, right = np.ones(60), np.ones(60, dtype=bool)
    ceiling = -math.log(0.05 ** (-1 / 60) - 1)
    assert 0.6 * ceiling < one_run_order_bound(sure, right, 0.05).epsilon < ceiling
    assert one_run_order_bound(sure, ~right, 0.05).epsilon == 0
    assert one_run_order_bound(np.zeros(60), right, 0.05).epsilon == 0


def test_the_area_is_the_share_of_pairs_and_delong_is_its_textbook_interval() -> None:
    """Against all pairs one by one, with ties; the Hoeffding limits hold it in the middle."""
    rng = np.random.default_rng(2)
    ins, outs = rng.integers(0, 9, 70).astype(float), rng.integers(0, 8, 50).astype(float)
    gaps = np.sign(ins[:, None] - outs[None, :]) / 2 + 0.5
    area = area_under_roc(ins, outs, 0.025)
    assert area.value == pytest.approx(gaps.mean())
    spread = math.sqrt(gaps.mean(axis=1).var(ddof=1) / 70 + gaps.mean(axis=0).var(ddof=1) / 50)
    assert area.delong[1] - area.delong[0] == pytest.approx(2 * 1.959964 * spread, rel=1e-6)
    assert area.value - area.lower == pytest.approx(math.sqrt(math.log(40) / 100))


def test_the_rule_of_thumb_for_guesses_reads_the_claim_alone() -> None:
    """The Gaussian trade-off that crosses the diagonal where the claim does: (1 - delta) / (1 + e^epsilon)."""
    crossing = (1 - 0.01) / (1 + math.e)
    assert equal_error_mu(PrivateTradeOff.of(1.0, 0.01)) == pytest.approx(-2 * stats.norm.ppf(crossing), abs=1e-6)
    assert equal_error_mu(PrivateTradeOff.of(0.0)) == pytest.approx(0.0, abs=1e-6)
