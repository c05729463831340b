"""Regret of CAPRI by horizon, noise and model: where it bends, and what privacy and its calibration cost.

Run: python benchmarks/capri_utility.py

Rows are means over runs and over drawn problems; `slope` is the growth of regret between the last two
horizons on a log-log scale. A finite domain has a gap-dependent plateau, so what counts is a slope that
falls below 1 after a warm-up, not a fixed one half. Linear algebra on one thread, as in capri_speed.py.
"""

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import math
import sys

import numpy as np

from algorithms.capri import Capri
from algorithms.problems import load
from dpaudit import Streams

PROBLEMS, RUNS = 5, 10
ROWS = (
    ("almost no noise", {"model": "joint", "epsilon": 1e4, "calibration": "tight"}),
    ("joint tight eps=1", {"model": "joint", "epsilon": 1.0, "calibration": "tight"}),
    ("joint paper eps=1", {"model": "joint", "epsilon": 1.0, "calibration": "paper"}),
    ("local tight eps=4", {"model": "local", "epsilon": 4.0, "calibration": "tight"}),
    ("local paper eps=4", {"model": "local", "epsilon": 4.0, "calibration": "paper"}),
    ("joint tight, theory width", {"model": "joint", "epsilon": 1.0, "calibration": "tight", "elimination": "theory"}),
)
DOMAINS = (
    (
        "SE 3x3",
        {"contexts": 3, "actions": 3, "length_scale": 1.0},
        {"kernel": "squared_exponential", "length_scale": 1.0},
    ),
    ("Matern 10x10", {"kernel": "matern"}, {"kernel": "matern"}),
)


def regret(config, parameters):
    """Mean regret and share of runs that lost a best action."""
    totals, lost = [], []
    for seed in range(PROBLEMS):
        run = config.run(load("grid")(**parameters, seed=seed), Streams.spawn(np.random.default_rng(seed)), RUNS)
        totals.append(run.arrays["regret"].sum(axis=1).mean())
        lost.append(run.arrays["lost"].mean())
    return float(np.mean(totals)), float(np.mean(lost))


def main(horizons=(10**4, 10**5, 10**6, 10**7)):
    for domain, parameters, kernel in DOMAINS:
        print(f"\n{domain}".ljust(28), *(f"{f'T={h:.0e}':>12}" for h in horizons), f"{'slope':>8}{'lost':>8}")
        for name, row in ROWS:
            found = [regret(Capri(delta=1e-5, horizon=h, **row, **kernel), parameters) for h in horizons]
            slope = math.log(found[-1][0] / found[-2][0]) / math.log(horizons[-1] / horizons[-2])
            print(name.ljust(27), *(f"{value:12.0f}" for value, _ in found), f"{slope:8.2f}{found[-1][1]:8.2f}")


if __name__ == "__main__":
    sys.exit(main())
