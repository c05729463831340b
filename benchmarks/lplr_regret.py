"""Regret on the family that is hard for sufficient statistics, and at horizons that a deployment can reach.

Run: python benchmarks/lplr_regret.py

Regret is expected regret of the policy, computed exactly; rows are means over runs, as a share of uniform play.
"""

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np

from algorithms.lplr import Lplr
from algorithms.lplr.baselines import GaussianUcb, GradientBandit, LinUcb, SufficientStatistics
from algorithms.lplr.regression import activity_threshold, kappa
from algorithms.problems import load
from dpaudit import Streams

RUNS = 20


def share(algorithm, problem, runs=RUNS, seed=0):
    """Mean regret over that of uniform play."""
    found = algorithm.run(problem, Streams.spawn(np.random.default_rng(seed)), runs).arrays["regret"].sum(axis=1)
    uniform = algorithm.horizon * float(problem.gaps.mean(axis=1) @ problem.context_probabilities)
    return float(found.mean()) / uniform


def hard_family():
    """Layered elimination learns from 10^12 users on (epsilon 4), 10^16 (epsilon 1); sufficient statistics never."""
    print("hard family: regret over that of uniform play, which costs 0.49 T^(3/4)")
    print(f"{'T':>8}{'layered, 4':>12}{'over sqrt T':>13}{'layered, 1':>12}{'statistics, 4':>15}{'greedy, 4':>11}")
    regrets = []
    for power in range(10, 18):
        horizon = 10**power
        problem = load("hard_family")(users=float(horizon))
        rows = (
            Lplr(epsilon=4.0, horizon=horizon, dimension=2, actions=2, quantile=3.0),
            Lplr(epsilon=1.0, horizon=horizon, dimension=2, actions=2),
            SufficientStatistics(epsilon=4.0, horizon=horizon, dimension=2),
            SufficientStatistics(epsilon=4.0, horizon=horizon, dimension=2, policy="greedy"),
        )
        found = [share(row, problem) for row in rows]
        uniform = horizon * float(problem.gaps.mean())
        regrets.append((horizon, found[2] * uniform))
        print(
            f"{horizon:8.0e}{found[0]:12.3f}{found[0] * uniform / horizon**0.5:13.1f}{found[1]:12.3f}"
            f"{found[2]:15.3f}{found[3]:11.3f}"
        )
    horizons, totals = zip(*regrets, strict=True)
    print(f"exponent of sufficient statistics: {np.polyfit(np.log(horizons), np.log(totals), 1)[0]:.3f}")


def practical():
    """Ten random contexts and actions at a horizon of 10^5 and 10^6."""
    print("\nrandom unit features: regret over that of uniform play (Gaussian noise: delta = 1e-5)")
    for dimension in (2, 5, 10):
        for epsilon in (0.5, 1.0, 4.0):
            problem = load("random_atoms")(atoms=10, actions=10, dimension=dimension)
            shared = {"horizon": 10**5, "dimension": dimension}
            rows = {
                "no privacy": LinUcb(**shared),
                "statistics, greedy": SufficientStatistics(epsilon=epsilon, policy="greedy", **shared),
                "Gaussian, greedy": GaussianUcb(epsilon=epsilon, delta=1e-5, policy="greedy", **shared),
                "Gaussian, optimistic": GaussianUcb(epsilon=epsilon, delta=1e-5, **shared),
                "Gaussian, c/10": GaussianUcb(epsilon=epsilon, delta=1e-5, shrinkage=10.0, **shared),
                "gradient (1e4)": GradientBandit(epsilon=epsilon, horizon=10**4, dimension=dimension),
                "layered": Lplr(epsilon=epsilon, horizon=10**5, dimension=dimension, actions=10),
                "layered, printed widths": Lplr(
                    epsilon=epsilon, horizon=10**5, dimension=dimension, actions=10, ci="theory"
                ),
            }
            line = "  ".join(f"{name} {share(row, problem, 10):.3f}" for name, row in rows.items())
            print(f"d={dimension:2d} epsilon={epsilon:3.1f}: {line}")


def degeneracy():
    """From which horizon on the printed constants say anything."""
    print("\nprinted constants: smallest horizon at which (epsilon, d) has an activity threshold below 1/2, and the")
    print("constant term of a half width below 1/2 (two actions, T / (4 d) users a phase)")
    for epsilon in (1.0, 0.1):
        for dimension in (2, 5):
            found = []
            for what in (_threshold, _width):
                low, high = 4.0, 18.0
                while high - low > 1e-3:
                    middle = (low + high) / 2
                    low, high = (low, middle) if what(10**middle, epsilon, dimension) < 0.5 else (middle, high)
                found.append(f"{10**low:.1e}" if low < 17.99 else "beyond 1e18")
            print(f"  epsilon={epsilon:3.1f} d={dimension}: {found[0]}  {found[1]}")


def _plan(horizon, epsilon, dimension):
    return Lplr(epsilon=epsilon, horizon=int(min(horizon, 1e18)), dimension=dimension, actions=2).plan()


def _threshold(horizon, epsilon, dimension):
    return activity_threshold(_plan(horizon, epsilon, dimension), int(horizon / (4 * dimension)))


def _width(horizon, epsilon, dimension):
    plan = _plan(horizon, epsilon, dimension)
    users = horizon / (4 * dimension)
    return kappa(plan, "bias") * plan.resolution.gamma**2 * (dimension + 1) ** 4 / users**0.5


def main():
    hard_family()
    degeneracy()
    practical()


if __name__ == "__main__":
    main()
