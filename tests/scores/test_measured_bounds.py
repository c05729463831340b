"""Lower bounds on mu, rho, Renyi divergences and whole curves: exact values, coverage, power, and broken twins.

A coverage assertion fails by chance with probability 1e-9. The smallest fault that it sees is a level of 1.5 % for 1 %.
"""

import itertools
import math
from functools import cache

import numpy as np
import pytest
from scipy import stats
from scipy.integrate import quad

from audits import audit_curve
from audits.bounds import (
    GaussianTradeOff,
    MuProcess,
    RhoTradeOff,
    block_wins,
    cells_renyi,
    coin_divergence,
    curve_mu,
    curve_rho,
    event_rho,
    measured_curve,
    mu_process,
    rank_sum_mu,
    rho_region,
)
from audits.bounds.rank_sums import _block_law as block_law
from audits.bounds.shared_error import shared_levels
from benchmarks.coverage.honest_laws import LAWS
from dpaudit.model.mechanism import Array
from tests.cases import case_of

LEVEL = 0.01
AUDITS = 20_000
MOST = int(stats.binom.isf(1e-9, AUDITS, LEVEL))
_rank_sum_mu = cache(rank_sum_mu)


def test_the_region_of_rho_has_the_values_of_the_specification() -> None:
    """T at rho 1/2, where Gaussian noise of that rho allows .0924, .3891 and .8413."""
    found = rho_region(np.array([0.01, 0.1, 0.5, 0.0677]), 0.5)
    assert found == pytest.approx([0.12459, 0.48373, 0.89299, 0.39604], abs=1e-5)
    assert rho_region(np.array([0.0, 1.0]), 0.5).tolist() == [0.0, 1.0]
    assert rho_region(np.array([0.2, 0.7]), 0.0) == pytest.approx([0.2, 0.7], abs=1e-6)


def test_the_region_of_rho_gives_the_exact_epsilon_of_the_claim() -> None:
    """max T(q) - e^epsilon q is the exact delta: 5.2215 at 1e-6 and 1.6059 at .1 for rho .5, .3639 at .1 for rho .1."""
    half, tenth = RhoTradeOff(rho=0.5), RhoTradeOff(rho=0.1)
    assert half.support(np.exp(np.array([5.2215, 1.6059]))) == pytest.approx([1e-6, 0.1], rel=1e-2)
    assert tenth.support(np.exp(np.array([0.3639]))) == pytest.approx([0.1], rel=1e-2)


@pytest.mark.parametrize("rho", [0.01, 0.5, 3.0])
def test_the_polygon_of_rho_lies_above_the_region_and_is_its_own_inverse(rho: float) -> None:
    """Rates, supports and areas err towards what the claim allows; data sets may change places."""
    rates = np.linspace(0.001, 0.999, 97)
    polygon, exact = RhoTradeOff(rho=rho), rho_region(rates, rho)
    assert (polygon(rates) >= exact - 1e-12).all()
    assert polygon(rates) == pytest.approx(exact, rel=1e-3)
    assert polygon.area >= np.trapezoid(rho_region(np.linspace(0, 1, 400), rho), np.linspace(0, 1, 400))
    assert [polygon.inverse(float(t)) for t in polygon(rates)] == pytest.approx(rates, abs=2e-3)


def test_gaussian_laws_lie_inside_the_region_of_their_rho() -> None:
    """mu implies rho = mu^2 / 2, so every event of N(mu, 1) is allowed; the converse is false."""
    rates = np.linspace(0.001, 0.999, 50)
    assert (GaussianTradeOff(mu=1.0)(rates) <= rho_region(rates, 0.5)).all()


def test_the_event_of_permute_and_flip_contradicts_rho_one_half() -> None:
    """The probabilities 1/2 and exp(-2)/2 have rho .7273; 2,000 and 3,000 runs a side show it nearly always."""
    high, low = 0.5, math.exp(-2) / 2
    assert rho_region(np.array(low), 0.5) < high
    rng = np.random.default_rng(0)
    for runs, share in ((2_000, 0.92), (3_000, 0.99)):
        counts = zip(rng.binomial(runs, high, 300).tolist(), rng.binomial(runs, low, 300).tolist(), strict=True)
        refuted = np.mean([event_rho(b, runs, q, runs, LEVEL) > 0.5 for b, q in counts])
        assert refuted >= share - 3 * math.sqrt(share * (1 - share) / 300)


def test_laplace_noise_refutes_a_mu_whose_rho_it_does_not_have() -> None:
    """Laplace 1 has mu 1.0301 and rho .3679: a bound on mu says nothing of rho."""
    rng = np.random.default_rng(1)
    ins, outs = rng.laplace(1.0, size=60_000), rng.laplace(0.0, size=60_000)
    curve = measured_curve(ins, outs, LEVEL)
    assert 0.98 < curve_mu(curve) <= 1.0302
    assert curve_mu(curve) ** 2 / 2 > 0.45
    assert curve_rho(curve) < 0.3679


def test_no_true_value_is_refuted_more_often_than_stated() -> None:
    """Twenty pairs of laws, 1,000 audits each, with ties and unequal numbers, for every statistic of fixed size."""
    rng, wrong = np.random.default_rng(2), dict.fromkeys(("rank sums", "event", "curve"), 0)
    event = cache(event_rho)
    for law in LAWS:
        mu, rho, cut = law.mu, law.rho, len(law.ins) // 2
        for _ in range(AUDITS // len(LAWS)):
            ins, outs = law.sample(70, 90, rng)
            counted = block_wins(ins, outs, rng)
            hits, alarms = int((ins >= cut).sum()), int((outs >= cut).sum())
            curve = measured_curve(ins, outs, LEVEL)
            wrong["rank sums"] += _rank_sum_mu(*counted, LEVEL) > mu
            wrong["event"] += event(hits, 70, alarms, 90, LEVEL) > rho
            wrong["curve"] += curve_mu(curve) > mu
    assert all(count <= MOST for count in wrong.values()), wrong


def test_no_true_divergence_or_mu_is_refuted_by_cells_more_often_than_stated() -> None:
    """A twentieth of the audits for the two slower statistics; anytime bounds take their largest value ever."""
    rng, wrong = np.random.default_rng(3), dict.fromkeys(("cells", "anytime"), 0)
    for law in LAWS:
        mu, renyi = law.mu, law.renyi(2.0)
        for _ in range(50):
            ins, outs = law.sample(80, 60, rng)
            wrong["cells"] += cells_renyi(ins, outs, 2.0, LEVEL, rng) > renyi
            labels = rng.random(150) < 0.5
            members, others = law.sample(150, 150, rng)
            process = MuProcess.fresh().extended(np.where(labels, members, others), labels)
            wrong["anytime"] += process.lower(LEVEL) > mu
    most = int(stats.binom.isf(1e-9, 1_000, LEVEL))
    assert all(count <= most for count in wrong.values()), wrong


def test_blocks_in_the_order_of_sorted_files_would_refute_equal_laws() -> None:
    """The twin that takes scores in their order: one of two sorted samples of a law is mostly the larger one."""
    rng, in_order, drawn = np.random.default_rng(4), 0, 0
    for _ in range(200):
        ins, outs = np.sort(rng.normal(size=200)), np.sort(rng.normal(size=200))
        wins = sum(int((a[:, None] > b).sum()) for a, b in zip(ins.reshape(50, 4), outs.reshape(50, 4), strict=True))
        in_order += _rank_sum_mu(wins, 50, LEVEL) > 0
        drawn += _rank_sum_mu(*block_wins(ins, outs, rng), LEVEL) > 0
    assert in_order > 50
    assert drawn <= stats.binom.isf(1e-9, 200, LEVEL)


def test_wins_of_one_sample_of_outs_would_refute_a_true_mu() -> None:
    """The twin that compares all with all and counts its wins as those of blocks: they depend on each other."""
    rng, twin = np.random.default_rng(6), 0
    for _ in range(200):
        ins, outs = rng.normal(1.0, size=40), rng.normal(size=40)
        twin += _rank_sum_mu(int((ins[:, None] > outs).sum()), 100, LEVEL) > 1.0
    assert twin > stats.binom.isf(1e-9, 200, LEVEL)


@pytest.mark.parametrize("mu", [0.0, 0.45, 2.0, 9.0])
def test_the_law_of_a_block_is_that_of_its_integrals(mu: float) -> None:
    """Mean, sum and both ends by other integrals, and where mu is 0 the counts of Mann and Whitney."""
    law = block_law(mu)
    outs, ins = stats.norm(), stats.norm(mu)
    top = quad(lambda x: 4 * outs.pdf(x) * outs.cdf(x) ** 3 * ins.sf(x) ** 4, -9, mu + 9, epsabs=1e-14, limit=400)
    low = quad(lambda x: 4 * ins.pdf(x) * ins.cdf(x) ** 3 * outs.sf(x) ** 4, -9, mu + 9, epsabs=1e-14, limit=400)
    found = law @ np.arange(17), law.sum(), law[16], law[0]
    assert found == pytest.approx((16 * stats.norm.cdf(mu / math.sqrt(2)), 1, top[0], low[0]), abs=2e-12)
    if mu == 0:
        places = itertools.combinations(range(8), 4)
        counts = np.bincount([sum(place) - 6 for place in places], minlength=17)
        assert law == pytest.approx(counts / 70, abs=1e-13)


def test_equal_scores_are_lost() -> None:
    """Constant scores win nothing; fewer than four scores make no block."""
    assert block_wins(np.ones(9), np.ones(5), np.random.default_rng(0)) == (0, 1)
    assert block_wins(np.ones(9), np.zeros(3), np.random.default_rng(0)) == (0, 0)
    assert rank_sum_mu(0, 5, LEVEL) == rank_sum_mu(0, 0, LEVEL) == 0.0


def test_a_negative_estimate_of_a_divergence_is_reported_as_zero() -> None:
    """Few equal scores, and laws in the other direction, show nothing below 0."""
    rng = np.random.default_rng(5)
    assert cells_renyi(rng.normal(size=100), rng.normal(size=100), 2.0, LEVEL, rng) == 0.0
    assert event_rho(10, 100, 60, 100, LEVEL) == 0.0
    assert curve_mu(measured_curve(np.zeros(100), np.ones(100), LEVEL)) == 0.0


@pytest.mark.parametrize(
    ("mu", "shares"), [(0.45, (0.735, 0.917, 0.974)), (1.0, (0.875, 0.961, 0.987)), (2.0, (0.92, 0.976, 0.992))]
)
def test_rank_sums_show_most_of_mu(mu: float, shares: tuple[float, ...]) -> None:
    """The median at 1,000, 10,000 and 100,000 scores a side, at significance .01."""
    shown = [rank_sum_mu(_usual(mu, blocks), blocks, LEVEL) / mu for blocks in (250, 2_500, 25_000)]
    assert all(found >= share for found, share in zip(shown, shares, strict=True)), shown


def test_the_asymptotic_record_of_mu_is_proved_by_36_000_scores_a_side() -> None:
    """At least .43 of .45 with confidence .95, at the median."""
    assert rank_sum_mu(_usual(0.45, 9_000), 9_000, 0.05) >= 0.43


@pytest.mark.parametrize(("mu", "shares"), [(0.45, (0.53, 0.85)), (1.0, (0.76, 0.92)), (2.0, (0.82, 0.94))])
def test_the_measured_curve_shows_most_of_mu(mu: float, shares: tuple[float, float]) -> None:
    """The median at 1,000 and 10,000 scores a side; limits at half the significance each showed .50 and .84 of .45."""
    rng = np.random.default_rng(11)
    for scores, share, repeated in ((1_000, shares[0], 60), (10_000, shares[1], 20)):
        curves = [measured_curve(rng.normal(mu, 1, scores), rng.normal(size=scores), LEVEL) for _ in range(repeated)]
        assert np.median([curve_mu(curve) for curve in curves]) / mu >= share


@pytest.mark.parametrize("significance", [1 - 1e-12, 0.5, 0.01, 1e-9])
def test_limits_of_two_samples_fail_together_with_their_shared_error_at_most(significance: float) -> None:
    """The probability that uniform p-values are below a level of every pair; the twin's pairs multiply to it."""
    first, second = shared_levels(significance)
    ends = np.geomspace(significance, 1.0, 33)
    assert 0.5 * significance < _all_fail(first, second) <= significance
    assert _all_fail(ends[:-1], significance / ends[1:]) > significance


def _all_fail(first: Array, second: Array) -> float:
    """Return the probability that of every pair of levels one is above its uniform p-value."""
    return float(first[0] + (np.diff(first, append=1.0) * second).sum())


def _usual(mu: float, blocks: int) -> int:
    """Return the mean number of wins."""
    return round(16 * blocks * float(stats.norm.cdf(mu / math.sqrt(2))))


@pytest.mark.parametrize(("mu", "share"), [(0.45, 0.83), (1.0, 0.93), (2.0, 0.95)])
def test_bets_on_cells_show_most_of_mu_at_any_time(mu: float, share: float) -> None:
    """20,000 coins, the median of nine audits."""
    rng, shown = np.random.default_rng(6), list[float]()
    for _ in range(9):
        labels = rng.random(20_000) < 0.5
        shown.append(MuProcess.fresh().extended(rng.normal(mu * labels), labels).lower(LEVEL) / mu)
    assert np.median(shown) >= share


def test_the_e_values_of_cells_have_mean_one_at_most_on_every_allowed_law() -> None:
    """The largest mean over all laws in closed form, and no law on a grid above it."""
    table = np.exp(mu_process.log_e_values()).reshape(len(mu_process.GRID), -1, mu_process.CELLS, 2)
    rng = np.random.default_rng(7)
    for place in rng.integers(0, len(mu_process.GRID), 40).tolist():
        tails = np.sort(rng.random((200, mu_process.CELLS - 1)), axis=1)[:, ::-1]
        highest = GaussianTradeOff(mu=float(mu_process.GRID[place]))(tails)
        false, true = (_cells(rates) for rates in (tails, highest))
        means = (
            np.einsum("lc,ac->la", false, table[place, ..., 0]) + np.einsum("lc,ac->la", true, table[place, ..., 1])
        ) / 2
        assert means.max() <= 1 + 1e-9


@pytest.mark.parametrize(("order", "shares"), [(1.5, (0.27, 0.74)), (2.0, (0.27, 0.67)), (4.0, (0.22, 0.50))])
def test_cells_show_the_stated_share_of_a_divergence(order: float, shares: tuple[float, float]) -> None:
    """Gaussian laws at mu 1, whose divergence is a / 2; 1,000 and 10,000 scores a side."""
    rng = np.random.default_rng(8)
    for runs, share, repeated in ((1_000, shares[0], 60), (10_000, shares[1], 15)):
        found = [
            cells_renyi(rng.normal(1, 1, runs), rng.normal(0, 1, runs), order, LEVEL, rng) for _ in range(repeated)
        ]
        assert np.median(found) / (order / 2) >= share - 0.06


def test_a_whole_curve_of_rho_is_refuted_at_any_time() -> None:
    """Outputs with rho 1/2 refute rho .2 through the polygon of its region, and never rho .5."""
    case = case_of("gaussian", _gaussian, description="noise 1", relation="add_remove")
    rng = np.random.default_rng(9)
    assert audit_curve(case, RhoTradeOff(rho=0.15), runs=4_000, rng=rng).refuted
    assert not audit_curve(case, RhoTradeOff(rho=0.5), runs=1_000, rng=rng).refuted


@pytest.mark.parametrize(
    "call",
    [
        lambda: rank_sum_mu(33, 2, LEVEL),
        lambda: rank_sum_mu(1, 2, 1.0),
        lambda: event_rho(3, 2, 1, 2, LEVEL),
        lambda: cells_renyi(np.ones(9), np.ones(9), 1.0, LEVEL, np.random.default_rng(0)),
        lambda: RhoTradeOff(rho=-1.0),
        lambda: rho_region(np.array(0.1), math.nan),
    ],
)
def test_what_has_no_meaning_is_refused(call: object) -> None:
    """Counts, orders, significances and claims out of range."""
    with pytest.raises(ValueError, match="Expected"):
        call()  # type: ignore[operator]


def test_the_divergence_of_coins_is_that_of_their_laws() -> None:
    """Against sums over both outcomes; order 1 is the relative entropy."""
    for b, q in ((0.5, 0.1), (0.02, 0.3), (0.9, 0.8)):
        exact = math.log(b**3 * q**-2 + (1 - b) ** 3 * (1 - q) ** -2) / 2
        assert float(coin_divergence(3.0, b, q)) == pytest.approx(exact, rel=1e-12)
        assert float(coin_divergence(1.0, b, q)) == pytest.approx(float(stats.entropy([b, 1 - b], [q, 1 - q])))
    assert math.isinf(float(coin_divergence(2.0, 0.1, 0.0)))


def _gaussian(data: float, rng: np.random.Generator, n_runs: int) -> Array:
    """Return outputs with standard normal noise."""
    return rng.normal(data, 1.0, n_runs)


def _cells(tails: Array) -> Array:
    """Return cell probabilities from the tails at increasing cuts. Shape: (laws, cells)."""
    ends = np.ones((len(tails), 1))
    return -np.diff(np.concatenate([ends, tails, 0 * ends], axis=1), axis=1)
