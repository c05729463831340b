"""Regret of the dueling bandits by epsilon, horizon and method, and what privacy costs.

Run: python benchmarks/dueling_utility.py

Regret is 2 r(best) - r(left) - r(right), summed; rows are means over runs with a standard error. `found` is the share
of runs that end with the best option. Policies without privacy run fewer rounds, as they go round by round.
"""

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np

from algorithms._dueling.baselines import POLICIES, policy, simulate
from algorithms.dp_ebs import DpEbs
from algorithms.g_optimal_dueling import GOptimalDueling
from algorithms.problems import load
from dpaudit import Streams

EPSILONS = (0.1, 0.5, 1.0, 2.0, 4.0, 8.0, 1e6)
RUNS = 20


def row(name, values, found):
    values = np.asarray(values)
    print(f"{name:44}{values.mean():12.0f} ({values.std() / np.sqrt(len(values)):7.0f}){np.mean(found):8.2f}")


def regret(config, problem, runs=RUNS, seed=0):
    arrays = config.run(problem, Streams.spawn(np.random.default_rng(seed)), runs).arrays
    return arrays["utility_regret"], arrays["recommended"] == problem.best


def finite():
    problem = load("bradley_terry")(arms=5)
    for horizon in (20_000, 100_000, 1_000_000):
        uniform = horizon * problem.utility_regret.mean()
        print(f"\none good option of five, T = {horizon:,}; uniform play {uniform:,.0f}")
        for calibration in ("paper", "tight"):
            for epsilon in EPSILONS:
                config = DpEbs(epsilon=epsilon, horizon=horizon, arms=5, width="tight", calibration=calibration)
                row(f"dp_ebs R2, {calibration} noise, eps={epsilon:g}", *regret(config, problem, 8))
        for epsilon in EPSILONS[:5]:
            config = DpEbs(epsilon=epsilon, horizon=horizon, arms=5, variant="batched")
            row(f"dp_ebs batched, eps={epsilon:g}", *regret(config, problem))
        row("dp_ebs R2, paper width, eps=4", *regret(DpEbs(epsilon=4, horizon=horizon, arms=5), problem, 2))
        row(
            "dp_ebs local, eps=2",
            *regret(DpEbs(epsilon=2, horizon=horizon, arms=5, width="tight", model="local"), problem, 8),
        )


def linear():
    for dimension, arms in ((2, 20), (5, 30), (10, 50)):
        print(f"\nsphere, d = {dimension}, K = {arms}, T = 100,000, 20 problems")
        base = None
        for epsilon in (1e6, 4.0, 1.0, 0.5, 0.1):
            values, found = [], []
            for seed in range(20):
                problem = load("sphere")(arms=arms, dimension=dimension, seed=seed)
                config = GOptimalDueling(epsilon=epsilon, horizon=100_000, arms=arms, dimension=dimension)
                held = regret(config, problem, 1, seed)
                values.append(held[0].mean())
                found.append(held[1].mean())
            base = np.mean(values) if base is None else base
            row(f"g_optimal practical, eps={epsilon:g}, ratio {np.mean(values) / base:.2f}", values, found)


def without_privacy():
    problem = load("sphere")(arms=10, dimension=2, norm=2.0)
    print(f"\nwithout privacy, sphere d = 2, K = 10, T = 10,000; uniform {10_000 * problem.utility_regret.mean():,.0f}")
    for name in POLICIES:
        plays = [simulate(policy(name, problem, 10_000), problem, 10_000, np.random.default_rng(s)) for s in range(3)]
        best = [held.sum(axis=1).argmax() == problem.best for held in plays]
        row(name, [(held * problem.utility_regret).sum() for held in plays], best)
    row("g_optimal, eps=1", *regret(GOptimalDueling(epsilon=1, horizon=10_000, arms=10, dimension=2), problem))


def main():
    finite()
    linear()
    without_privacy()


if __name__ == "__main__":
    main()
