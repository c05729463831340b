"""Error of the layered estimator and of sufficient statistics by number of users: exponents, crossover, price.

Run: python -m benchmarks.lplr_rates

Every number of users costs the same, as sums of noises are drawn by their laws; rows are means over 100 runs. On the
ill-conditioned family the layered error falls like N^-0.47 and the simple one's like N^-0.245; on well-conditioned
data the simple method is better at every N.
"""

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import time

import numpy as np

from algorithms.lplr import Lplr
from algorithms.lplr.baselines import SufficientStatistics
from algorithms.lplr.offline import deviation, fit_offline
from algorithms.problems import load
from dpaudit import Streams

RUNS, EPSILON = 100, 1.0
FAMILIES = ("ill_conditioned", "rare_direction", "random_atoms")


def layered(problem, users, seed, variant="fixed", runs=RUNS):
    config = Lplr(epsilon=EPSILON, horizon=users, dimension=2, actions=1, variant=variant)
    found = fit_offline(config.plan(), problem, users, Streams.spawn(np.random.default_rng(seed)), runs)
    return float(deviation(problem, found.prediction[:, 0]).mean())


def simple(problem, users, seed, runs=RUNS):
    config = SufficientStatistics(epsilon=EPSILON, horizon=users, dimension=2)
    parameter = config.fit(problem, Streams.spawn(np.random.default_rng(seed)), runs)
    values = np.einsum("ci,ri->rc", problem.features[:, 0], parameter)
    return float(deviation(problem, np.clip(values, -1, 1)).mean())


def problem_at(name, users):
    return load(name)() if name == "random_atoms" else load(name)(users=float(users))


def slopes(grid):
    """The two exponents on the ill-conditioned family, fitted over `grid`."""
    errors = {
        kind.__name__: [kind(problem_at("ill_conditioned", n), n, seed) for seed, n in enumerate(grid)]
        for kind in (layered, simple)
    }
    return {name: float(np.polyfit(np.log(grid), np.log(held), 1)[0]) for name, held in errors.items()}


def main():
    started, cpu = time.perf_counter(), time.process_time()
    grid = [int(n) for n in np.geomspace(1e9, 1e14, 21)]
    print("exponents over N = 1e9 .. 1e14 on the ill-conditioned family:")
    for name, slope in slopes(grid).items():
        print(f"  {name:10s} {slope:+.3f}")
    print(f"  in {time.perf_counter() - started:.1f} s (CPU {time.process_time() - cpu:.1f} s)")
    for name in FAMILIES:
        print(f"\n{name}: mean absolute deviation")
        print(f"{'N':>8}{'layered':>12}{'simple':>12}{'as printed':>12}{'repair costs':>14}")
        for users in (10**6, 10**8, 10**10, 10**12, 10**14):
            problem = problem_at(name, users)
            found = layered(problem, users, 1), simple(problem, users, 2), layered(problem, users, 3, "paper")
            print(f"{users:8.0e}", *(f"{value:11.2e}" for value in found), f"{found[0] / found[2]:13.2f}")


if __name__ == "__main__":
    main()
