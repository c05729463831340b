"""Zones and weights of columns: what is learned freely, what is supposed, and what columns of one law share."""

import math

import numpy as np
import pytest
from scipy.integrate import quad

from audits import Settings, audit
from audits.attacks.shared_shape import SharedShape
from audits.attacks.table import Table
from audits.attacks.thresholds import learn_thresholds, learn_violation
from dpaudit import Claim
from dpaudit.model.mechanism import Array

OUTPUTS = np.array([-2.0, -1.5, -1.0, -0.5, 0.0, 0.5, 1.0, 1.5, 2.0, 2.5])
COINS = np.array([False, False, False, True, False, True, False, True, True, True])


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 4.0])
def test_whoever_supposes_a_violation_bets_beyond_the_claim_or_not_at_all(epsilon: float) -> None:
    """With one way to cut, the outer odds are the posterior mean over shares beyond the claim, by quadrature."""
    outputs, coins = np.array([0.0] * 9 + [1.0] * 11), np.array([False] * 7 + [True] * 2 + [True] * 8 + [False] * 3)
    score = learn_violation(outputs, coins, epsilon)(np.array([0.0, 1.0]))
    right, wrong, least = 15, 5, 1 / (1 + math.exp(-epsilon))

    def posterior(power: int, good: int, bad: int) -> float:
        return quad(lambda p: p ** (good + power) * (1 - p) ** bad, least, 1, epsabs=0, epsrel=1e-10)[0]

    straight, turned = posterior(0, right, wrong), posterior(0, wrong, right)
    share = posterior(1, right, wrong) + turned - posterior(1, wrong, right)
    share /= straight + turned
    if straight > 1e4 * turned:  # a model that is this unlikely is dropped
        share = posterior(1, right, wrong) / straight
    assert score[1] == pytest.approx(math.log(share / (1 - share)), rel=1e-6)
    assert score[0] == pytest.approx(-score[1])


def test_few_runs_are_enough_to_bet_if_a_violation_is_supposed() -> None:
    """After ten runs with odds that may well be e^3 the free learner stays below them; who supposes e^3 does not."""
    low, high = learn_violation(OUTPUTS, COINS, 3.0)(np.array([-9.0, 9.0]))
    cautious = learn_thresholds(OUTPUTS, COINS, np.random.default_rng(0))(np.array([-9.0, 9.0]))
    assert low < -2.5
    assert high > 2.5
    assert np.abs(cautious).max() < 2.5


def test_the_side_is_learned_and_not_supposed() -> None:
    """Swapped coins turn the bets round."""
    there = learn_violation(OUTPUTS, COINS, 1.0)(OUTPUTS)
    back = learn_violation(OUTPUTS, ~COINS, 1.0)(OUTPUTS)
    assert back == pytest.approx(-there)


def test_where_the_claim_surely_holds_nothing_is_bet_against_it() -> None:
    """After 100,000 honest coins no share beyond the claim is left; the odds stay at the claim, where a bet is 1."""
    rng = np.random.default_rng(0)
    coins = rng.random(100_000) < 0.5
    score = learn_violation(rng.normal(size=100_000), coins, 2.0)(np.array([-9.0, 9.0]))
    assert np.abs(score).max() <= 2.0 + 1e-9


@pytest.mark.parametrize(("shared", "right"), [(True, 0.9), (False, 0.56)])
def test_noise_that_two_columns_share_is_taken_away(*, shared: bool, right: float) -> None:
    """The second column carries the first one's noise: their difference tells the side, which no column does.

    500 runs teach it, 4,000 others are told apart. With noise of its own in each column a twentieth of the noise tells
    the side in 51 of 100 runs.
    """
    rng = np.random.default_rng(0)
    labels = rng.random(4_500) < 0.5
    noise = rng.normal(0.0, 20.0, len(labels))
    beside = noise + rng.normal(0.0, 0.1, len(labels)) if shared else rng.normal(0.0, 20.0, len(labels))
    view = np.column_stack([labels + noise, beside])
    score = learn_thresholds(view[:500], labels[:500], rng)
    told = ((score(view[500:]) > 0) == labels[500:]).mean()
    assert told > right if shared else told < right


WIDE = Claim(epsilon=9.0, neighbours="replace_one")


def bounds(columns: int, epsilon: float, runs: int, seeds: int) -> Array:
    """Return the bounds of audits of Laplace noise in every column, each moved by one sensitivity."""

    def noisy(data: Array, rng: np.random.Generator, n_runs: int) -> Array:
        return data + rng.laplace(0.0, columns / epsilon, (n_runs, columns))

    pair = (np.zeros(columns), np.ones(columns))
    return np.array(
        [
            audit(
                noisy,
                neighbours=pair,
                claim=WIDE,
                runs=runs,
                rng=np.random.default_rng(seed),
                significance=0.05,
                how=Settings(control_runs=0),
            ).epsilon_lower
            for seed in range(seeds)
        ]
    )


def test_one_column_is_as_sharp_as_before() -> None:
    """Columns of one law need three columns: with one, no such score is learned."""
    rng = np.random.default_rng(0)
    labels = rng.random(400) < 0.5
    single, few = rng.normal(size=400) + labels, rng.normal(size=(60, 5))
    assert SharedShape.learned(Table.learned(single), single, labels) is None
    assert SharedShape.learned(Table.learned(few), few, labels[:60]) is None


def test_weights_are_the_odds_of_the_bins() -> None:
    """Twenty randomised bits of odds 0.1: the estimated score of a run is near the true log likelihood ratio."""
    rng = np.random.default_rng(2)
    labels = rng.random(40_000) < 0.5
    keep = 1 / (1 + np.exp(-0.1))
    truth = np.where(np.arange(20) % 2 == 0, labels[:, None], ~labels[:, None])
    bits = np.where(rng.random(truth.shape) < keep, truth, ~truth).astype(float)
    score = SharedShape.learned(Table.learned(bits), bits, labels)
    assert score is not None
    signs = np.where(np.arange(20) % 2 == 0, 1.0, -1.0)
    exact = 0.1 * ((2 * bits - 1) * signs).sum(axis=1)
    assert np.abs(score(bits) - exact).max() < 0.25
    assert np.corrcoef(score(bits), exact)[0, 1] > 0.99


def test_runs_without_a_number_score_by_their_other_columns() -> None:
    """NaN is in no bin; infinite values are in the last one."""
    rng = np.random.default_rng(4)
    labels = rng.random(2_000) < 0.5
    view = rng.normal(size=(2_000, 4)) + labels[:, None]
    view[0, 1] = np.nan
    score = SharedShape.learned(Table.learned(view), view, labels)
    assert score is not None
    sums = score.counts(score.table.numbers(view)).sum(axis=1)
    assert sums[1] - sums[0] == 1.0
    assert np.isfinite(score(np.where(np.isnan(view), np.inf, view))).all()
