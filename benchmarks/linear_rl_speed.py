"""Time UCRL-VTR: an audit of 2 x 20,000 runs, and 1,000 lock-step runs of 10^4 episodes, beside a per-run loop.

Run: python benchmarks/linear_rl_speed.py [episodes]     (10,000 by default; fewer are scaled up)

The loop plays one run at a time, as Algorithm 1 prints it, with numpy inside an episode (S A d products, one inverse a
step): no public implementation of this algorithm was at hand that installs beside this project. Both processes of the
lock-step runs use one thread of linear algebra. Seconds are wall-clock, with processor seconds in brackets: on a
machine that others use, the latter are what counts.
"""

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import sys
import time
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace

import numpy as np

from algorithms.problems import load
from algorithms.ucrl_vtr import UcrlVtr
from dpaudit import Streams

RUNS, EPISODES, LOOP_EPISODES = 1_000, 10_000, 200
CONFIG = UcrlVtr(model="joint", epsilon=1.0, delta=1e-5, episodes=EPISODES, steps=5, dimension=4)


def problem():
    return load("random_mixture")(states=20, actions=4, steps=5, dimension=4)


def clocked(work):
    """Wall-clock and processor seconds of this process."""
    wall, cpu = time.perf_counter(), time.process_time()
    work()
    return time.perf_counter() - wall, time.process_time() - cpu


def audit():
    case = UcrlVtr(model="joint", epsilon=1.0, delta=1e-5, episodes=8, steps=3, dimension=2).cases()[0]
    for seed, data in enumerate(case.neighbours):
        case.score(case.run(data, np.random.default_rng(seed), 20_000))


def half(arguments):
    """One process's share of the lock-step runs."""
    period, episodes, seed = arguments
    config = replace(CONFIG, planning_period=period, episodes=episodes)
    streams = Streams.spawn(np.random.default_rng(seed))
    return clocked(lambda: config.run(problem(), streams, RUNS // 2))


def per_run(episodes):
    """Processor seconds a run and episode of the loop."""
    held, rng = problem(), np.random.default_rng(0)
    mdp, phi = held.mdp, held.features
    steps, states, _ = mdp.shape
    sums = np.zeros((steps - 1, 4, 5))

    def play():
        for _ in range(episodes):
            values, q = np.zeros((steps + 1, states)), np.zeros((steps, *mdp.rewards[0].shape))
            for h in range(steps - 1, -1, -1):
                q[h] = mdp.rewards[h]
                if h < steps - 1:
                    x = np.einsum("dsat,t->sad", phi, values[h + 1])
                    inverse = np.linalg.inv(25 * np.eye(4) + sums[h][:, :4])
                    q[h] += x @ (inverse @ sums[h][:, 4]) + 40 * np.sqrt(np.einsum("sad,de,sae->sa", x, inverse, x))
                q[h] = np.clip(q[h], 0, steps)
                values[h] = q[h].max(axis=1)
            s = 0
            for h in range(steps):
                a = int(q[h, s].argmax())
                after = int(rng.choice(states, p=mdp.transitions[h, s, a]))
                if h < steps - 1:
                    x = phi[:, s, a] @ values[h + 1]
                    noise = rng.standard_normal((4, 5))
                    sums[h] += np.outer(x, np.append(x, values[h + 1, after])) + 1e-9 * noise
                s = after

    return clocked(play)[1] / episodes


def main(episodes):
    audit()
    wall, cpu = clocked(audit)
    print(f"audit        2 x 20,000 runs, K = 8, H = 3            {wall:8.2f} s [{cpu:.2f}]")
    scale = EPISODES / episodes
    for period in (20, 1):
        wall = time.perf_counter()
        with ProcessPoolExecutor(2) as pool:
            cpus = [cpu for _, cpu in pool.map(half, ((period, episodes, seed) for seed in range(2)))]
        wall = time.perf_counter() - wall
        print(
            f"lock-step    {RUNS} runs, K = 10^4, policy kept {period:2}    {wall * scale:8.0f} s "
            f"[{cpus[0] * scale:.0f} + {cpus[1] * scale:.0f}]" + (f"   (from {episodes} episodes)" if scale > 1 else "")
        )
    single = per_run(LOOP_EPISODES)
    print(f"per run      {1e6 * single:.0f} us an episode, {single * RUNS * EPISODES:.0f} s for all on one core")
    print(f"ratio        {single * RUNS * EPISODES / (sum(cpus) * scale):.1f} in processor seconds, policy kept 1")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else EPISODES)
