"""The example of DP-FTRL: certified, attacked, better than fresh noise; and its attack sees missing noise."""

import math
import runpy
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from algorithms.problems.affairs import Classification, affairs

SCRIPT = Path(__file__).parents[2] / "examples" / "dp_ftrl.py"


@pytest.fixture(scope="module")
def example() -> dict[str, Any]:
    """Return the names of the script."""
    return runpy.run_path(str(SCRIPT))


@pytest.fixture(scope="module")
def problem() -> Classification:
    """Return the whole survey."""
    return affairs()


def test_its_noise_is_the_least_that_is_certified(example: dict[str, Any]) -> None:
    """A hundredth less is refuted, as the schedule attains the move."""
    matrix = example["calibrated"]("square_root")
    assert example["proved"](matrix).verdict == "certified"
    assert example["proved"](matrix.scaled(0.99)).verdict == "refuted"
    assert matrix.squared_move.lower == pytest.approx(matrix.squared_move.upper, rel=1e-9)


def test_its_attack_refutes_half_the_noise_and_not_the_whole(example: dict[str, Any], problem: Classification) -> None:
    """5,000 runs of each; the whole is accused with probability at most .01, at a fixed seed."""
    matrix = example["calibrated"]("square_root")
    sound = example["audited"](matrix, problem, runs=5000, seed=1)
    assert 0.2 < sound.epsilon_lower <= example["CLAIM"].epsilon
    assert sound.verdict != "violation"
    assert example["audited"](matrix, problem, runs=5000, seed=1, noise=0.5).verdict == "violation"


def test_the_attack_is_at_the_worst_move(example: dict[str, Any], problem: Classification) -> None:
    """The respondent's gradients have norm CLIP at both participations, whatever the noise did to the weights."""
    matrix = example["calibrated"]("square_root")
    done = example["train"](matrix, problem, rare=True, rng=np.random.default_rng(3), n_runs=50)
    met = np.flatnonzero(done.answers[0])
    assert met.tolist() == [example["PLACE"], example["PLACE"] + example["BATCHES"]]
    np.testing.assert_allclose(np.abs(done.answers[:, met]), example["CLIP"])
    square = float((matrix.rows(done.answers[0]) ** 2).sum())
    assert square == pytest.approx(matrix.squared_move.lower * example["CLIP"] ** 2, rel=1e-9)


def test_weights_follow_the_released_rows_alone(example: dict[str, Any], problem: Classification) -> None:
    """The prefix sums of the noisy rows give the last weights: training is post-processing of what is certified."""
    matrix = example["calibrated"]("square_root")
    done = example["train"](matrix, problem, rare=True, rng=np.random.default_rng(4), n_runs=3)
    step = example["RATE"] * example["BATCHES"] / len(problem.labels)
    np.testing.assert_allclose(-step * matrix.prefix_sums(done.rows)[..., -1], done.weights, atol=1e-9)


def test_the_matrix_is_more_useful_than_fresh_noise(example: dict[str, Any], problem: Classification) -> None:
    """Mean accuracy of 100 models each, and both above the larger label; five standard deviations apart at least."""
    tree, fresh = (
        example["accuracy"](example["calibrated"](s), problem, runs=100, seed=2) for s in ("square_root", "fresh")
    )
    assert tree > fresh + 0.003 > 1 - problem.labels.mean() + 0.003
    assert math.isclose(1 - problem.labels.mean(), 0.6775, abs_tol=1e-4)
