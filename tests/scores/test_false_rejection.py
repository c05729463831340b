"""How often true claims are refuted, in 10,000 replications each, and broken twins that refute them too often.

Each assertion fails by chance with probability 1e-9; the smallest fault that it sees is a level of 7.5 % for 5 %.
"""

from collections.abc import Callable
from functools import cache

import numpy as np
import pytest
from scipy import stats

from audits.bounds import GaussianTradeOff, PrivateTradeOff, area_under_roc
from audits.bounds.band import tail_limits
from audits.bounds.binomial import proportion_upper
from audits.bounds.e_process import run_gains
from audits.bounds.error_rates import threshold_counts
from audits.bounds.joint import joint_p_value
from audits.bounds.one_run_trade_off import one_run_refutes
from audits.bounds.rank import rank_p_value
from audits.bounds.trade_offs import TradeOff
from dpaudit.model.mechanism import Array

Law = Callable[..., Array]
"""law(shape, rng, member=...) -> scores."""

REPLICATIONS = 10_000
LEVEL = 0.05
MOST = int(stats.binom.isf(1e-9, REPLICATIONS, LEVEL))
SEEN = REPLICATIONS * 0.075


def flat_ratio(epsilon: float, shape: tuple[int, ...], rng: np.random.Generator, *, member: bool) -> Array:
    """Return scores of randomised response: the true bit with probability e^epsilon / (1 + e^epsilon)."""
    right = rng.random(shape) < 1 / (1 + np.exp(-epsilon))
    result: Array = (right if member else ~right).astype(float)
    return result


def equal_laws(shape: tuple[int, ...], rng: np.random.Generator, *, member: bool) -> Array:
    """Return scores of one law for members and others."""
    del member
    scores: Array = rng.normal(size=shape)
    return scores


def tied(shape: tuple[int, ...], rng: np.random.Generator, *, member: bool) -> Array:
    """Return scores of few values, of one law."""
    del member
    return rng.integers(0, 4, shape).astype(float)


def gaussian(shape: tuple[int, ...], rng: np.random.Generator, *, member: bool) -> Array:
    """Return scores of two normal laws at distance 0.5."""
    return rng.normal(0.5 * member, 1.0, shape)


def smooth_flat(shape: tuple[int, ...], rng: np.random.Generator, *, member: bool) -> Array:
    """Return scores with density ratio e at one half of the values and 1/e at the other, without ties."""
    return flat_ratio(1.0, shape, rng, member=member) + rng.random(shape)


LAWS: dict[str, tuple[Law, TradeOff]] = {
    "equal laws": (equal_laws, PrivateTradeOff.of(0.0)),
    "ties": (tied, PrivateTradeOff.of(0.0)),
    "flat ratio": (smooth_flat, PrivateTradeOff.of(1.0)),
    "Gaussian": (gaussian, GaussianTradeOff(mu=0.5)),
}


@pytest.mark.parametrize("name", LAWS)
@pytest.mark.parametrize(("ins", "outs", "rank"), [(60, 60, 6), (200, 40, 20), (40, 200, 3)])
def test_a_threshold_of_fixed_rank_refutes_a_true_trade_off_at_its_level(
    name: str, ins: int, outs: int, rank: int
) -> None:
    """On the boundary and inside; counting equal scores as hits is the twin, and ties catch it."""
    law, trade_off = LAWS[name]
    rng = np.random.default_rng(ins + rank)
    others = np.sort(law((REPLICATIONS, outs), rng, member=False), axis=1)
    members = law((REPLICATIONS, ins), rng, member=True)
    threshold = others[:, outs - rank, None]
    p_values = np.array([rank_p_value(rank, outs, hits, ins, trade_off) for hits in range(ins + 1)])
    assert (p_values[(members > threshold).sum(axis=1)] <= LEVEL).sum() <= MOST
    if name == "ties":
        assert (p_values[(members >= threshold).sum(axis=1)] <= LEVEL).sum() > SEEN


@pytest.mark.parametrize("name", LAWS)
@pytest.mark.parametrize(("ins", "outs"), [(50, 50), (120, 30)])
def test_the_band_refutes_a_true_trade_off_at_its_level(name: str, ins: int, outs: int) -> None:
    """All thresholds at once; limits of level .1 at every single threshold are the twin."""
    law, trade_off = LAWS[name]
    rng = np.random.default_rng(ins)
    others, members = law((REPLICATIONS, outs), rng, member=False), law((REPLICATIONS, ins), rng, member=True)
    limits = tail_limits(np.arange(outs + 1), outs, LEVEL / 2), tail_limits(np.arange(ins + 1), ins, LEVEL / 2)
    assert _crossings(members, others, trade_off, *limits) <= MOST
    if name == "equal laws":
        single = tuple(proportion_upper(np.arange(n + 1), float(n), 2 * LEVEL) for n in (outs, ins))
        assert _crossings(members, others, trade_off, *single) > SEEN


def _crossings(members: Array, others: Array, trade_off: TradeOff, false_limits: Array, missed_limits: Array) -> int:
    """Return in how many rows the limits of some threshold lie above the trade-off."""
    rejected = np.zeros(len(members), dtype=bool)
    for threshold in members.T:
        false = (others >= threshold[:, None]).sum(axis=1)
        missed = (members < threshold[:, None]).sum(axis=1)
        rejected |= 1 - missed_limits[missed] > trade_off(false_limits[false])
    return int(rejected.sum())


@pytest.mark.parametrize("name", LAWS)
def test_a_threshold_from_other_scores_refutes_a_true_trade_off_at_its_level(name: str) -> None:
    """The threshold is the best on 30 scores a side; the best on the counted scores is the twin."""
    law, trade_off = LAWS[name]
    rng = np.random.default_rng(5)
    shape = (REPLICATIONS, 30)
    teaching = law(shape, rng, member=True), law(shape, rng, member=False)
    counted = law((REPLICATIONS, 80), rng, member=True), law((REPLICATIONS, 50), rng, member=False)
    assert _refuted(counted, _best(*teaching), trade_off) <= MOST
    if name == "equal laws":
        assert _refuted(counted, _best(*counted), trade_off) > SEEN


def _best(members: Array, others: Array) -> Array:
    """Return for each row the threshold with the largest gap between the two rates. Shape: (rows,)."""
    best, gap = members[:, 0], np.full(len(members), -1.0)
    for at in range(members.shape[1]):
        threshold = members[:, at]
        gaps = (members >= threshold[:, None]).mean(axis=1) - (others >= threshold[:, None]).mean(axis=1)
        best, gap = np.where(gaps > gap, threshold, best), np.maximum(gap, gaps)
    return best


def _refuted(counted: tuple[Array, Array], threshold: Array, trade_off: TradeOff) -> int:
    """Return in how many rows the joint test of the two rates refutes the trade-off."""
    members, others = counted

    @cache
    def refutes(hits: int, alarms: int) -> bool:
        counts = threshold_counts(hits, alarms, members.shape[1], others.shape[1])
        return joint_p_value(counts, trade_off, LEVEL) <= LEVEL

    hits = (members >= threshold[:, None]).sum(axis=1)
    alarms = (others >= threshold[:, None]).sum(axis=1)
    return sum(refutes(int(hit), int(alarm)) for hit, alarm in zip(hits, alarms, strict=True))


def independent_leaks(canaries: int, guesses: int, rng: np.random.Generator) -> Array:
    """Return right guesses where each canary leaks by randomised response of epsilon 1 by itself."""
    del canaries
    return rng.binomial(guesses, 1 / (1 + np.exp(-1.0)), REPLICATIONS)


def leaks_together(canaries: int, guesses: int, rng: np.random.Generator) -> Array:
    """Return right guesses where the noisy number of included canaries is published: all guesses move at once."""
    coins = rng.random((REPLICATIONS, canaries)) < 0.5
    noisy = coins.sum(axis=1) + rng.laplace(size=REPLICATIONS)
    right: Array = (coins[:, :guesses] == (noisy > canaries / 2)[:, None]).sum(axis=1)
    return right


def one_bit_about_all(canaries: int, guesses: int, rng: np.random.Generator) -> Array:
    """Return right guesses where the parity of the coins is published by randomised response, and guessed from."""
    coins = rng.random((REPLICATIONS, canaries)) < 0.5
    told = (coins.sum(axis=1) % 2 == 1) ^ (rng.random(REPLICATIONS) > 1 / (1 + np.exp(-1.0)))
    right: Array = (coins[:, :guesses] == told[:, None]).sum(axis=1)
    return right


def rare_disclosure(canaries: int, guesses: int, rng: np.random.Generator) -> Array:
    """Return right guesses where with probability .04 everything is published: (0, .04)-private."""
    told = rng.random(REPLICATIONS) < 0.04
    return np.where(told, guesses, rng.binomial(guesses, 0.5, REPLICATIONS))


@pytest.mark.parametrize(
    ("leak", "trade_off"),
    [
        (independent_leaks, PrivateTradeOff.of(1.0)),
        (leaks_together, PrivateTradeOff.of(1.0)),
        (one_bit_about_all, PrivateTradeOff.of(1.0)),
        (rare_disclosure, PrivateTradeOff.of(0.0, 0.04)),
    ],
)
def test_one_run_refutes_a_true_trade_off_at_its_level(leak: Callable[..., Array], trade_off: PrivateTradeOff) -> None:
    """Canaries that leak by themselves or together; a binomial test that forgets delta is the twin."""
    rng = np.random.default_rng(3)
    right = leak(100, 40, rng)
    refuted = np.array([one_run_refutes(100, 40, number, trade_off, LEVEL) for number in range(41)])
    assert refuted[right].sum() <= MOST
    if leak is rare_disclosure:
        half = stats.binom.sf(np.arange(41) - 1, 40, 0.5) <= LEVEL
        assert half[right].sum() > SEEN


def test_bets_in_order_refute_a_true_epsilon_at_their_level() -> None:
    """Randomised response of epsilon 1, five slopes, the largest wealth of 60 coins; .5 is refuted more often."""
    rng = np.random.default_rng(4)
    right = rng.random((REPLICATIONS, 60)) < 1 / (1 + np.exp(-1.0))
    sizes = np.broadcast_to(np.linspace(3, 1, 60), right.shape)
    refuted = {epsilon: int((_largest_wealth(sizes, right, epsilon) >= 1 / LEVEL).sum()) for epsilon in (1.0, 0.5)}
    assert refuted[1.0] <= MOST
    assert refuted[0.5] > SEEN


def _largest_wealth(sizes: Array, right: Array, epsilon: float) -> Array:
    """Return the largest mean wealth of each row against one epsilon."""
    paths = [
        np.exp(np.cumsum(run_gains(slope * sizes / 2, right, epsilon, 0.0), axis=1)) for slope in (0.25, 0.5, 1, 2, 4)
    ]
    wealth: Array = np.mean(paths, axis=0).max(axis=1)
    return wealth


@pytest.mark.parametrize(("ins", "outs"), [(60, 60), (150, 25)])
@pytest.mark.parametrize("name", LAWS)
def test_the_lower_limit_of_the_area_exceeds_a_true_area_at_its_level(name: str, ins: int, outs: int) -> None:
    """Hoeffding's limit of 10,000 samples, with ties and unequal sizes; one standard error below is the twin."""
    law, trade_off = LAWS[name]
    rng = np.random.default_rng(6)
    others, members = law((REPLICATIONS, outs), rng, member=False), law((REPLICATIONS, ins), rng, member=True)
    areas = np.zeros(REPLICATIONS)
    for column in members.T:
        areas += ((column[:, None] > others).sum(axis=1) + (column[:, None] == others).sum(axis=1) / 2) / (ins * outs)
    one = area_under_roc(members[0], others[0], LEVEL)
    assert one.value == pytest.approx(areas[0])
    reach = one.value - one.lower
    assert (areas - reach > trade_off.area).sum() <= MOST
    if name == "equal laws":
        assert (areas - areas.std() > trade_off.area).sum() > SEEN
