"""Time 1,000 lock-step runs of CAPRI at horizon 10^6 on a 10 x 10 grid, side by side with the per-round loop.

Run: python benchmarks/capri_speed.py

The loop draws, plays and adds one round at a time, as Algorithm 1 prints it, with the map of every cell
already tabulated (the Gram form of the paper would be slower still). It is timed on a part of one run.

Linear algebra runs on one thread: on matrices of 100 x 100 a second one gains nothing on an idle machine
(4.3 s either way), and where cores are shared its waiting costs several times the work.
"""

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import time

import numpy as np

from algorithms.capri import Capri
from algorithms.problems import load
from dpaudit import Streams

RUNS, HORIZON, LOOP_ROUNDS = 1_000, 10**6, 200_000


def lock_step(config, problem):
    """Seconds for all runs."""
    started = time.perf_counter()
    config.run(problem, Streams.spawn(np.random.default_rng(0)), RUNS)
    return time.perf_counter() - started


def per_round(problem, dimension, rounds):
    """Seconds for `rounds` rounds of one run."""
    rng = np.random.default_rng(0)
    maps = rng.standard_normal((problem.n_contexts * problem.n_actions, dimension))
    arrivals = np.cumsum(problem.context_probabilities)
    total = np.zeros(dimension)
    started = time.perf_counter()
    for _ in range(rounds):
        context = min(int(np.searchsorted(arrivals, rng.random())), problem.n_contexts - 1)
        action = int(rng.integers(problem.n_actions))
        reward = 1.0 if rng.random() < (1 + problem.mean_reward[context, action]) / 2 else -1.0
        total += reward * maps[context * problem.n_actions + action]
    return time.perf_counter() - started


def main():
    config = Capri(model="joint", epsilon=1.0, delta=1e-5, horizon=HORIZON, kernel="matern")
    problem = load("grid")()
    fast = lock_step(config, problem)
    slow = per_round(problem, 100, LOOP_ROUNDS) * RUNS * HORIZON / LOOP_ROUNDS
    print(f"lock-step   {RUNS} runs x {HORIZON:.0e} rounds   {fast:10.2f} s")
    print(f"per round   {RUNS} runs x {HORIZON:.0e} rounds   {slow:10.0f} s (from {LOOP_ROUNDS} rounds)")
    print(f"ratio       {slow / fast:.0f}")
    for horizon in (10**4, 10**5, 10**6, 10**7):
        started = time.perf_counter()
        Capri(model="joint", epsilon=1.0, delta=1e-5, horizon=horizon, kernel="matern").run(
            problem, Streams.spawn(np.random.default_rng(0)), 100
        )
        print(f"horizon {horizon:>9}   100 runs   {time.perf_counter() - started:.2f} s")


if __name__ == "__main__":
    main()
