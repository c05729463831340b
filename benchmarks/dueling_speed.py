"""Time runs of the dueling bandits, side by side with an ordinary loop over rounds.

Run: python benchmarks/dueling_speed.py

The loop is Algorithm 1 round by round in plain Python with the same trees, as tests/papers/dueling/stepper.py has it.
The public package duelpy (its RUCB and double Thompson sampling, without privacy) is timed where it is installed; its
last release asks numpy for names that are gone since 1.24, which are put back for it here. Wall time and
CPU time are both shown, as the two differ on a busy machine; linear algebra runs on one thread.
"""

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import importlib.util
import statistics
import sys
import time
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))

from algorithms._dueling.baselines import POLICIES, policy, simulate
from algorithms.dp_ebs import DpEbs
from algorithms.g_optimal_dueling import GOptimalDueling
from algorithms.problems import load
from dpaudit import Streams
from tests.papers.dueling.stepper import step_by_step


def timed(action):
    """Wall and CPU seconds of one call."""
    wall, cpu = time.perf_counter(), time.process_time()
    action()
    return time.perf_counter() - wall, time.process_time() - cpu


def single(config, problem, seeds=9):
    """Median wall and CPU seconds of one run."""
    config.run(problem, Streams.spawn(np.random.default_rng(99)), 1)
    found = [timed(lambda s=s: config.run(problem, Streams.spawn(np.random.default_rng(s)), 1)) for s in range(seeds)]
    return tuple(statistics.median(column) for column in zip(*found, strict=True))


def loop(config, problem, rounds):
    """Wall and CPU seconds of `rounds` rounds of the ordinary loop."""
    width = config.plan().half_width
    sampling, tree = width.sampling, width.tree.tolist()
    return timed(
        lambda: step_by_step(
            arms=config.arms,
            horizon=rounds,
            scale=config.tree().leaf.scale,
            width=lambda kept, clock: sampling / kept**0.5 + tree[clock.bit_count()] / kept,
            reading=config.removal,
            preferences=problem.preferences,
            rng=np.random.default_rng(0),
        )
    )


def public_package(problem, rounds):
    """Lines for duelpy's policies, or that it is not there."""
    if importlib.util.find_spec("duelpy") is None:
        print("duelpy is not installed here (pip install duelpy), so no public package is timed")
        return
    for name, kind in (("float", float), ("int", int)):
        if name not in vars(np):
            setattr(np, name, kind)
    from duelpy.algorithms import DoubleThompsonSampling, RelativeUCB
    from duelpy.feedback import MatrixFeedback
    from duelpy.stats.preference_matrix import PreferenceMatrix

    for kind in (RelativeUCB, DoubleThompsonSampling):
        rng = np.random.RandomState(0)
        feedback = MatrixFeedback(PreferenceMatrix(np.array(problem.preferences)), random_state=rng)
        spent = timed(lambda k=kind, f=feedback, r=rng: k(f, time_horizon=rounds, random_state=r).run())
        line(f"duelpy {kind.__name__}, {rounds} rounds", spent, f"{spent[0] / rounds * 1e5:.1f} s for 1e5")


def line(name, seconds, note=""):
    print(f"{name:58}{seconds[0] * 1e3:12.1f} ms wall{seconds[1] * 1e3:12.1f} ms cpu  {note}")


def main():
    problem = load("bradley_terry")(arms=5)
    config = DpEbs(epsilon=4, horizon=100_000, arms=5, width="tight")
    fast = single(config, problem)
    slow = loop(config, problem, 100_000)
    line("dp_ebs, one run of 1e5 rounds", fast, "bar: 50 ms")
    line("the same, ordinary loop", slow, f"{slow[1] / fast[1]:.0f} times")
    for settings in ({"width": "paper"}, {"epsilon": 1e6}, {"model": "local", "epsilon": 2.0}):
        held = DpEbs(**{"epsilon": 4, "horizon": 100_000, "arms": 5, "width": "tight", **settings})
        line(f"dp_ebs, 1e5 rounds, {settings}", single(held, problem), "bar: 50 ms")
    many = DpEbs(epsilon=4, horizon=10_000, arms=5, width="tight")
    spent = timed(lambda: many.run(problem, Streams.spawn(np.random.default_rng(0)), 10_000))
    line("dp_ebs, 1e4 lock-step runs of 1e4 rounds", spent, f"bar: 60 s; loop: {slow[1] / 1e5 * 1e8:.0f} s")
    for dimension, arms in ((2, 20), (5, 30), (10, 50)):
        held = GOptimalDueling(epsilon=1, horizon=100_000, arms=arms, dimension=dimension)
        on = load("sphere")(arms=arms, dimension=dimension)
        line(f"g_optimal_dueling, d={dimension}, K={arms}, 1e5 rounds", single(held, on), "bar: 50 ms")
    on = load("sphere")(arms=20, dimension=2)
    for name in POLICIES:
        spent = timed(lambda n=name: simulate(policy(n, on, 2_000), on, 2_000, np.random.default_rng(0)))
        line(f"{name}, without privacy, 2e3 rounds by a loop", spent, f"{spent[0] / 2_000 * 1e5:.1f} s for 1e5")
    public_package(load("bradley_terry")(arms=20), 2_000)


if __name__ == "__main__":
    main()
