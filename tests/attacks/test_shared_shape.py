"""Columns of one law share their weights: what many noisy columns show, and that no column of another law is lost."""

import numpy as np

from audits import Settings, audit
from audits.attacks.shared_shape import SharedShape
from audits.attacks.table import Table
from dpaudit import Claim
from dpaudit.model.mechanism import Array

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
