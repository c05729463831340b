"""Regret of the shipped algorithms at configurations where learning shows, against the shipped tables.

A new mean of a few runs must agree with the table's within six joint standard errors, of which its own is estimated.
The seeds are fixed: a row that agrees goes on to agree until the code changes. A tenth of epsilon moves the rows of the
twin by more than that.
"""

import csv
import math
from dataclasses import replace
from pathlib import Path
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

TABLES = Path(__file__).resolve().parents[2] / "docs" / "measured" / "studies"
ROWS: dict[str, tuple[Any, tuple[str, dict[str, Any]], int, str, str]] = {
    "capri tight .1": (Capri(**_SMOOTH, epsilon=0.1, horizon=10**6), _GRID, 8, "capri_grid", "joint, tight"),
    "capri tight 1": (Capri(**_SMOOTH, epsilon=1, horizon=10**6), _GRID, 8, "capri_grid", "joint, tight"),
    "capri printed 1": (
        Capri(**_SMOOTH, epsilon=1, horizon=10**6, calibration="paper"), _GRID, 8, "capri_grid", "joint, printed"
    ),
    "capri local 4": (
        Capri(**_SMOOTH | {"model": "local"}, epsilon=4, horizon=10**7), _GRID, 8, "capri_grid", "local, tight"
    ),
    "capri hie .3": (Capri(**_CAPRI, epsilon=0.3, horizon=10**7), _HIE, 1, "capri_rand_hie", "joint tight"),
    "capri hie 4": (Capri(**_CAPRI, epsilon=4, horizon=10**7), _HIE, 1, "capri_rand_hie", "joint tight"),
    "table hie 1": (CellTable(delta=1e-5, epsilon=1, horizon=10**7), _HIE, 1, "capri_rand_hie", "cell table"),
    "trees 2": (DpEbs(**_EBS, epsilon=2), _OPTIONS, 1, "dp_ebs", "trees tight, R2"),
    "trees 16": (DpEbs(**_EBS, epsilon=16), _OPTIONS, 1, "dp_ebs", "trees tight, R2"),
    "trees, R3 4": (
        DpEbs(arms=5, horizon=10**5, calibration="tight", epsilon=4), _OPTIONS, 1, "dp_ebs", "trees tight, R3"
    ),
    "local 1": (
        DpEbs(arms=5, horizon=10**5, model="local", width="tight", epsilon=1), _OPTIONS, 1, "dp_ebs", "local"
    ),
    "sums .05": (DpEbs(**_SUMS, epsilon=0.05), _OPTIONS, 1, "dp_ebs", "batched"),
    "sums .3": (DpEbs(**_SUMS, epsilon=0.3), _OPTIONS, 1, "dp_ebs", "batched"),
    "g-optimal 1": (
        GOptimalDueling(epsilon=1, horizon=10**5, arms=20, dimension=2), _SPHERE, 20, "g_optimal", "practical"
    ),
    "lplr 4": (Lplr(**_FEW, epsilon=4, horizon=10**10), _ATOMS, 3, "lplr", "LPLR"),
    "statistics 1": (_STATISTICS, _ATOMS, 5, "lplr", "sufficient statistics"),
}  # fmt: skip


def shipped(config: Any, study: str, contender: str) -> tuple[float, float]:
    """Return the mean regret a round of a configuration in a shipped table, and its standard error."""
    with (TABLES / study / "rows.csv").open(encoding="utf-8", newline="") as file:
        (row,) = [
            row
            for row in csv.DictReader(file)
            if row["contender"] == contender
            and (float(row["T"]), float(row["claim_epsilon"])) == (config.horizon, config.epsilon)
        ]
    return float(row["regret"]) / config.horizon, float(row["se"]) / config.horizon


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


@pytest.mark.parametrize("name", ROWS)
def test_regret_agrees_with_the_shipped_table(name: str) -> None:
    """The same problems and other streams: within six joint standard errors, of fresh and shipped numbers."""
    config, problem, seeds, *row = ROWS[name]
    (found, own), (mean, error) = _measured(config, problem, seeds), shipped(config, *row)
    assert abs(found - mean) <= 6 * (own**2 + error**2) ** 0.5, (name, found, own)


@pytest.mark.parametrize("name", ["capri tight .1", "capri hie .3", "trees 2", "table hie 1"])
def test_other_noise_is_noticed(name: str) -> None:
    """The twin: a tenth of epsilon moves these rows by more than six joint standard errors."""
    config, problem, seeds, *row = ROWS[name]
    (found, own), (mean, error) = (
        _measured(replace(config, epsilon=config.epsilon / 10), problem, seeds),
        shipped(config, *row),
    )
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
