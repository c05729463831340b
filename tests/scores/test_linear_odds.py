"""Linear odds: near the likelihood ratio where that is linear, few inputs where few tell, pairs where pairs tell."""

from collections.abc import Callable

import numpy as np
import pytest

from audits.attacks import classifier, linear_odds
from audits.attacks.counting import CountedOdds
from audits.attacks.linear_odds import LinearOdds
from audits.attacks.logistic import log_likelihood
from audits.attacks.shared_shape import SharedShape
from audits.attacks.table import Table
from dpaudit.model.mechanism import Array
from tests.narrowing import present

Draw = Callable[[Array, np.random.Generator], Array]


def laplace(columns: int, moved: int, epsilon: float) -> Draw:
    """Laplace noise in every column, `moved` of them moved by one, epsilon in all."""

    def draw(labels: Array, rng: np.random.Generator) -> Array:
        shift = np.where(np.arange(columns) < moved, 1.0, 0.0)
        return labels[:, None] * shift + rng.laplace(0.0, moved / epsilon, (len(labels), columns))

    return draw


def learned(draw: Draw, runs: int, seed: int) -> tuple[LinearOdds | None, Array, Array]:
    """Return what so many runs teach, and other runs with their labels."""
    rng = np.random.default_rng(seed)
    labels, others = rng.random(runs) < 0.5, rng.random(100_000) < 0.5
    known = draw(labels, rng)
    return LinearOdds.learned(Table.learned(known), known, labels), draw(others, rng), others


def gain(odds: Array, labels: Array) -> float:
    """Return how many nats the odds explain of all labels."""
    return float(log_likelihood(odds, labels)) + len(labels) * float(np.log(2))


@pytest.mark.parametrize("columns", [5, 20])
def test_many_columns_of_laplace_noise_are_explained_nearly_as_by_their_ratio(columns: int) -> None:
    """3,000 runs that teach explain 93 of 100 nats of the likelihood ratio's; a shape of 16 bins explained 80."""
    score, outputs, labels = learned(laplace(columns, columns, 2.0), 3_000, 0)
    ratio = ((np.abs(outputs) - np.abs(outputs - 1)) * 2.0 / columns).sum(axis=1)
    assert gain(present(score)(outputs), labels) > 0.93 * gain(ratio, labels) > 100


def test_a_small_move_of_all_columns_in_one_direction_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """20 columns share epsilon 1, 3,000 runs teach: seven tenths of the nats, and less where each sign is learned."""

    def shares() -> float:
        found = [learned(laplace(20, 20, 1.0), 3_000, seed) for seed in range(4)]
        ratios = [((np.abs(outputs) - np.abs(outputs - 1)) / 20).sum(axis=1) for _, outputs, _ in found]
        shown = sum(gain(present(score)(outputs), labels) for score, outputs, labels in found)
        return shown / sum(gain(ratio, labels) for ratio, (_, _, labels) in zip(ratios, found, strict=True))

    assert shares() > 0.7
    monkeypatch.setattr(linear_odds, "_TOGETHER", ("signs",))
    assert shares() < 0.55


def shape(known: Array, labels: Array, rng: np.random.Generator) -> SharedShape:
    """Return the score of a shape that all columns share."""
    return present(SharedShape.learned(Table.learned(known), known, labels))


def test_columns_that_tell_nothing_are_left_out() -> None:
    """One column of twenty moves: it alone is an input, and another one is the twin's that tells nothing."""
    score, outputs, labels = learned(laplace(20, 1, 1.0), 6_000, 1)
    assert [place for place, _, _ in present(score).inputs.clipped] == [0]
    ratio = np.abs(outputs[:, 0]) - np.abs(outputs[:, 0] - 1)
    assert gain(present(score)(outputs), labels) > 0.95 * gain(ratio, labels)
    shuffled = np.random.default_rng(0).permutation(labels)
    assert gain(present(score)(outputs), shuffled) < 0


def test_bits_that_tell_in_pairs_are_seen_in_pairs() -> None:
    """The parity of two of six bits leans by .1: pairs show it, and single bits show nothing."""

    def draw(labels: Array, rng: np.random.Generator) -> Array:
        bits = rng.integers(0, 2, (len(labels), 6))
        parity = np.where(rng.random(len(labels)) < 0.6, labels, ~labels)
        bits[:, 1] = bits[:, 0] ^ parity
        return bits.astype(float)

    score, outputs, labels = learned(draw, 4_000, 2)
    assert present(score).inputs.pairs
    same = np.where(outputs[:, 0] != outputs[:, 1], 1.0, -1.0) * np.log(0.6 / 0.4)
    assert gain(present(score)(outputs), labels) > 0.8 * gain(same, labels) > 1_000


def test_too_little_is_no_model() -> None:
    """One column, few runs, runs of one data set, and columns without numbers teach nothing."""
    rng = np.random.default_rng(0)
    labels = rng.random(400) < 0.5
    for numbers, known in (
        (rng.normal(size=(400, 1)), labels),
        (rng.normal(size=(400, 65)), labels),
        (rng.normal(size=(100, 3)), labels[:100]),
        (rng.normal(size=(400, 3)), np.ones(400, dtype=bool)),
        (np.full((400, 3), np.nan), labels),
    ):
        assert LinearOdds.learned(Table(columns=()), numbers, known) is None


def test_numbers_at_every_edge_give_finite_scores() -> None:
    """The largest double, infinity and NaN score a number, without a warning."""
    score, _, _ = learned(laplace(3, 3, 1.0), 1_000, 3)
    edges = np.array([[np.finfo(float).max, -np.inf, np.nan]] * 2)
    assert np.isfinite(present(score)(edges)).all()


@pytest.mark.parametrize("seeds", [1, pytest.param(3, marks=pytest.mark.slow)])
def test_a_rare_pattern_by_chance_is_no_event(monkeypatch: pytest.MonkeyPatch, seeds: int) -> None:
    """Of 512 patterns whose odds are linear, no odds leave the start by more than .1; a twin that always adds does."""

    def draw(labels: Array, rng: np.random.Generator) -> Array:
        return (rng.random((len(labels), 9)) < np.where(labels, 0.52, 0.48)[:, None]).astype(float)

    def farthest(seed: int) -> float:
        rng = np.random.default_rng(seed)
        labels = rng.random(60_000) < 0.5
        score = classifier.learn_score(draw(labels, rng), labels, rng)
        assert isinstance(score, CountedOdds)
        patterns = np.array(np.meshgrid(*[[0.0, 1.0]] * 9)).reshape(9, -1).T
        truth = ((2 * patterns - 1) * np.log(0.52 / 0.48)).sum(axis=1)
        return float(np.abs(score(patterns) - truth).max())

    assert max(farthest(seed) for seed in range(seeds)) < 0.1
    monkeypatch.setattr("audits.attacks.counting._LEAST_GAIN", -1.0)
    assert any(farthest(seed) > 0.1 for seed in range(3))
