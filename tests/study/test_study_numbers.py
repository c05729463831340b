"""Regret of the shipped algorithms at configurations where learning shows, against numbers measured before.

Each row holds the mean regret a round that a larger study measured, with its standard error. A new mean of a few runs
must agree within six joint standard errors, of which its own is estimated. The seeds are fixed: a row that agrees goes
on to agree until the code changes. A tenth of epsilon moves the rows of the twin by more than that.
"""

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from algorithms import Capri, CellTable, DpEbs, GOptimalDueling, Lplr
from algorithms.lplr.baselines import SufficientStatistics
from algorithms.problems import load
from dpaudit import Streams
from dpaudit.configuration.files import json_value
from dpaudit.study.cells import Cell
from dpaudit.study.measured import Measured
from dpaudit.study.measuring import total_regret

_GRID: tuple[str, dict[str, Any]] = ("grid", {"contexts": 3, "actions": 3, "length_scale": 1.0})
_HIE: tuple[str, dict[str, Any]] = ("rand_hie", {})
_OPTIONS: tuple[str, dict[str, Any]] = ("bradley_terry", {"arms": 5})
_SPHERE: tuple[str, dict[str, Any]] = ("sphere", {"arms": 20, "dimension": 2})
_ATOMS: tuple[str, dict[str, Any]] = ("random_atoms", {"atoms": 10, "dimension": 2, "actions": 10})

_CAPRI: dict[str, Any] = {"model": "joint", "delta": 1e-5}
_SMOOTH = _CAPRI | {"length_scale": 1.0}
_EBS: dict[str, Any] = {"arms": 5, "horizon": 10**5, "calibration": "tight", "removal": "R2"}
_SUMS: dict[str, Any] = {"arms": 5, "horizon": 10**5, "variant": "batched"}
_FEW: dict[str, Any] = {"dimension": 2, "actions": 10, "quantile": 2.0}
_STATISTICS = SufficientStatistics(epsilon=1, horizon=10**6, dimension=2, policy="greedy")

ROWS: tuple[tuple[str, Any, tuple[str, dict[str, Any]], int, float, float], ...] = (
    ("capri tight .1", Capri(**_SMOOTH, epsilon=0.1, horizon=10**6), _GRID, 8, 0.0138, 0.0006),
    ("capri tight 1", Capri(**_SMOOTH, epsilon=1, horizon=10**6), _GRID, 8, 0.0040, 0.0006),
    ("capri printed 1", Capri(**_SMOOTH, epsilon=1, horizon=10**6, calibration="paper"), _GRID, 8, 0.0354, 0.0012),
    ("capri local 4", Capri(**_SMOOTH | {"model": "local"}, epsilon=4, horizon=10**7), _GRID, 8, 0.0288, 0.003),
    ("capri hie .3", Capri(**_CAPRI, epsilon=0.3, horizon=10**7), _HIE, 1, 0.0177, 0.0005),
    ("capri hie 4", Capri(**_CAPRI, epsilon=4, horizon=10**7), _HIE, 1, 0.0090, 0.0004),
    ("table hie 1", CellTable(delta=1e-5, epsilon=1, horizon=10**7), _HIE, 1, 0.00157, 0.00005),
    ("trees 2", DpEbs(**_EBS, epsilon=2), _OPTIONS, 1, 0.821, 0.012),
    ("trees 16", DpEbs(**_EBS, epsilon=16), _OPTIONS, 1, 0.215, 0.005),
    ("trees, R3 4", DpEbs(arms=5, horizon=10**5, calibration="tight", epsilon=4), _OPTIONS, 1, 0.315, 0.006),
    ("local 1", DpEbs(arms=5, horizon=10**5, model="local", width="tight", epsilon=1), _OPTIONS, 1, 0.459, 0.012),
    ("sums .05", DpEbs(**_SUMS, epsilon=0.05), _OPTIONS, 1, 0.400, 0.011),
    ("sums .3", DpEbs(**_SUMS, epsilon=0.3), _OPTIONS, 1, 0.1556, 0.0003),
    ("g-optimal 1", GOptimalDueling(epsilon=1, horizon=10**5, arms=20, dimension=2), _SPHERE, 20, 0.060, 0.0055),
    ("g-optimal .1", GOptimalDueling(epsilon=0.1, horizon=10**5, arms=20, dimension=2), _SPHERE, 20, 0.090, 0.01),
    ("lplr 4", Lplr(**_FEW, epsilon=4, horizon=10**10), _ATOMS, 3, 0.0375, 0.0059),
    ("statistics 1", _STATISTICS, _ATOMS, 5, 0.0148, 0.0026),
)  # fmt: skip


def _measured(config: Any, problem: tuple[str, dict[str, Any]], seeds: int) -> tuple[float, float]:
    """Return the mean regret a round over problems, or over runs of a fixed one, and its standard error."""
    name, given = problem
    means: list[float] = []
    for seed in range(seeds):
        made = load(name)(**given | ({"seed": seed} if seeds > 1 else {}))
        streams = Streams.spawn(np.random.default_rng([11, seed]))
        regret = total_regret(config.run(made, streams, 4 if seeds > 1 else 12), cumulative=False) / config.horizon
        means += [float(regret.mean())] if seeds > 1 else list(map(float, regret))
    return float(np.mean(means)), float(np.std(means, ddof=1)) / len(means) ** 0.5


@pytest.mark.parametrize(("name", "config", "problem", "seeds", "mean", "error"), ROWS, ids=[row[0] for row in ROWS])
def test_regret_agrees_with_what_was_measured(
    name: str, config: Any, problem: tuple[str, dict[str, Any]], seeds: int, mean: float, error: float
) -> None:
    """The same problems and other streams: within six joint standard errors, of fresh and former numbers."""
    found, own = _measured(config, problem, seeds)
    assert abs(found - mean) <= 6 * (own**2 + error**2) ** 0.5, (name, found, own)


@pytest.mark.parametrize("name", ["capri tight .1", "capri hie .3", "trees 2", "table hie 1"])
def test_other_noise_is_noticed(name: str) -> None:
    """The twin: a tenth of epsilon moves these rows by more than six joint standard errors."""
    _, config, problem, seeds, mean, error = next(row for row in ROWS if row[0] == name)
    found, own = _measured(replace(config, epsilon=config.epsilon / 10), problem, seeds)
    assert abs(found - mean) > 6 * (own**2 + error**2) ** 0.5


def test_a_cell_with_unknown_numbers_is_strict_json_and_is_read_again() -> None:
    """JSON has no NaN; other tools and `dpaudit compare` read the files of a study."""
    cell = Cell(label="tight", epsilon=1.0, horizon=10, problem=0)
    text = Measured(cell=cell, regret=(1.0, 2.0), uniform=3.0).to_json()
    assert json_value(text)["myopic"] is None
    again = Measured.from_json(text)
    assert (again.cell, again.regret, again.uniform) == (cell, (1.0, 2.0), 3.0)
    assert math.isnan(again.myopic)
    assert math.isnan(again.lost)
