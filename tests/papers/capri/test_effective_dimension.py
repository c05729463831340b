"""When a noisy table of cells loses less than CAPRI: a rule by the effective dimension of the kernel on the cells."""

from typing import Any

import numpy as np
import pytest

from algorithms import Capri, CellTable
from algorithms.capri.domain import effective_dimension_of
from algorithms.problems import load
from dpaudit import Streams


@pytest.mark.parametrize(("side", "length_scale", "wins"), [(3, 1.0, "table"), (6, 1.0, "table"), (20, 1.0, "capri")])
def test_a_table_of_cells_wins_where_the_kernel_leaves_almost_as_many_numbers_as_cells(
    side: int, length_scale: float, wins: str
) -> None:
    """T = 1e6, epsilon 1, eight draws: below four cells for each effective dimension the table, above ten CAPRI.

    The paired difference is beyond four standard errors. The rule reads public geometry only.
    """
    shape: dict[str, Any] = {"epsilon": 1.0, "delta": 1e-5, "horizon": 10**6}
    kernel = Capri(model="joint", length_scale=length_scale, **shape)
    lost: list[list[float]] = []
    for seed in range(8):
        problem = load("grid")(contexts=side, actions=side, length_scale=length_scale, seed=seed)
        runs = [one.run(problem, Streams.spawn(np.random.default_rng(seed)), 6) for one in (kernel, CellTable(**shape))]
        lost.append([float(run.arrays["regret"].sum(axis=1).mean()) for run in runs])
    difference = np.log(np.array(lost)) @ np.array([1.0, -1.0])
    error = difference.std(ddof=1) / np.sqrt(8)
    ratio = side**2 / effective_dimension_of(kernel, problem)
    assert (ratio < 4) == (wins == "table")
    assert (difference.mean() - 4 * error > 0) if wins == "table" else (difference.mean() + 4 * error < 0)


def test_the_effective_dimension_is_that_of_the_eigenvalues() -> None:
    """Features of their own: as many as cells, less what a ridge takes; a long horizon leaves nothing of the ridge."""
    problem = load("hardest_bandit")(actions=5)
    short, long = (
        Capri(model="joint", epsilon=1.0, delta=1e-5, horizon=horizon, kernel="features") for horizon in (20, 10**9)
    )
    assert effective_dimension_of(short, problem) == pytest.approx(5 / (1 + 5 / 10))
    assert effective_dimension_of(long, problem) == pytest.approx(5.0, abs=1e-6)
