"""The information gain: exact on few cells, between close ends on many, and never below what greedy choices reach."""

import math
from itertools import combinations_with_replacement

import numpy as np
import pytest

from algorithms.capri import Capri
from algorithms.information_gain import gain_without_kernel, information_gain
from algorithms.kernels import matern, pairs, squared_exponential
from algorithms.problems import load
from dpaudit.model.mechanism import Array


def _grid(side: int) -> Array:
    line = np.linspace(0, 1, side)[:, None]
    return pairs(line, line)


def _gain(kernel: Array, points: tuple[int, ...], noise: float) -> float:
    """Return ln det(I + K / noise) / 2 at some points, from the kernel and not from features."""
    chosen = kernel[np.ix_(points, points)]
    return float(np.linalg.slogdet(np.eye(len(points)) + chosen / noise)[1]) / 2


@pytest.mark.parametrize(("rounds", "noise"), [(2, 1.0), (4, 0.3)])
def test_few_points_on_few_cells_have_the_exact_gain(rounds: int, noise: float) -> None:
    """Both ends are the largest of all multisets, by the kernel itself; .675937 for two points of a 3 x 3 grid."""
    kernel = squared_exponential(_grid(3), 1.0)
    best = max(_gain(kernel, points, noise) for points in combinations_with_replacement(range(9), rounds))
    assert information_gain(kernel, rounds, noise) == pytest.approx((best, best), rel=1e-9)
    if (rounds, noise) == (2, 1.0):
        assert best == pytest.approx(0.675937, abs=1e-6)


@pytest.mark.parametrize(
    ("kernel", "rounds", "solved"),
    [
        (squared_exponential(_grid(3), 1.0), 10**5, 30.19778),
        (squared_exponential(_grid(3), 1.0), 10**6, 40.44576),
        (squared_exponential(_grid(3), 1.0), 10**7, 50.79491),
        (matern(_grid(10), 0.2, 2.5), 10**6, 367.36082),
    ],
)
def test_many_points_have_the_gain_that_another_program_found(kernel: Array, rounds: int, solved: float) -> None:
    """The ends hold it and are within 1e-4 of each other; equal counts, and so greedy thinking, reach less."""
    lower, upper = information_gain(kernel, rounds, 1.0)
    assert lower <= solved * (1 + 1e-6)
    assert upper >= solved * (1 - 1e-6)
    assert upper - lower <= 1.01e-4 * lower
    cells = len(kernel)
    equal = float(np.linalg.slogdet(np.eye(cells) + kernel * rounds / cells)[1]) / 2
    assert equal <= upper < gain_without_kernel(cells, rounds, 1.0) * (1 + 1e-9)


def test_the_lower_end_is_a_gain_of_greedy_points_or_more_and_the_upper_end_is_no_less() -> None:
    """Twelve points of 25 cells, too many multisets to try: greedy reaches at most the upper end, and nearly it."""
    kernel = matern(_grid(5), 0.4, 1.5)
    chosen: list[int] = []
    for _ in range(12):
        chosen.append(max(range(25), key=lambda cell: _gain(kernel, (*chosen, cell), 0.5)))
    greedy = _gain(kernel, tuple(chosen), 0.5)
    lower, upper = information_gain(kernel, 12, 0.5)
    assert 0.9 * greedy < lower <= upper
    assert greedy <= upper


def test_the_constants_of_capri_have_the_gain_of_its_own_kernel_and_ridge() -> None:
    """The problem's nine cells at the algorithm's length scale; without a problem nothing is stated."""
    config = Capri(model="joint", epsilon=1.0, delta=1e-5, horizon=10**6, length_scale=1.0)
    values = {line.name: line.value for line in config.constants(load("grid")(contexts=3, actions=3)).constants}
    assert values["gamma_T, at least"] == pytest.approx(40.4458, abs=1e-3)
    assert values["gamma_T, at most"] == pytest.approx(40.4458, abs=5e-3)
    assert values["gamma_T without a kernel"] == pytest.approx(9 / 2 * math.log(1 + 1e6 / 9))
    assert not any("gamma" in line.name for line in config.constants().constants)


def test_a_gain_of_nothing_is_refused() -> None:
    """Rounds below 1, and no noise."""
    for rounds, noise in ((0, 1.0), (5, 0.0)):
        with pytest.raises(ValueError, match="above 0"):
            information_gain(np.eye(2), rounds, noise)
