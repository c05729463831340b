"""Time one step of LSVI-UCB beside rlberry-scool's, a public implementation without privacy.

Run: python benchmarks/linear_rl_peer.py PEER     (PEER: a Python in whose environment rlberry-scool is installed)

Both learn on a drawn process of rank 4 with 20 states, 4 actions and 5 steps. The peer plays one run and regresses on
all earlier steps after every episode, so that its step grows with their number. Ours plays runs in lock-step, plans
anew at the few batches of its schedule, keeps sums, and releases them with noise. Processor microseconds for a step.
"""

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import subprocess
import sys
import time

import numpy as np

EPISODES, STEPS, STATES, ACTIONS, RANK, RUNS = (50, 200), 5, 20, 4, 4, 500


def peer():
    """The peer's microseconds a step; runs in its own environment, and knows nothing of ours."""
    import logging

    logging.disable(logging.CRITICAL)
    from rlberry.envs import FiniteMDP
    from rlberry_scool.agents.features import FeatureMap
    from rlberry_scool.agents.linear.lsvi_ucb import LSVIUCBAgent

    rng = np.random.default_rng(0)
    features = rng.dirichlet(np.ones(RANK), size=(STATES, ACTIONS))
    kernel = features @ rng.dirichlet(np.ones(STATES), size=RANK)

    class Features(FeatureMap):
        def __init__(self):
            self.shape = (RANK,)

        def map(self, observation, action):
            return features[observation, action]

    env = FiniteMDP(features @ rng.random(RANK), kernel, initial_state_distribution=0)
    for episodes in EPISODES:
        agent = LSVIUCBAgent(
            env, horizon=STEPS, feature_map_fn=lambda env, **_: Features(), bonus_scale_factor=0.1, reg_factor=1.0
        )
        started = time.process_time()
        agent.fit(episodes)
        taken = time.process_time() - started
        print(f"rlberry-scool    {episodes:5} episodes  {1e6 * taken / (episodes * STEPS):8.1f} us a step", flush=True)


def ours():
    """Our microseconds a step of a run, with private noise."""
    from algorithms.lsvi_ucb import LsviUcb
    from algorithms.problems import load
    from dpaudit import Streams

    problem = load("low_rank")(states=STATES, actions=ACTIONS, steps=STEPS, dimension=RANK)
    for episodes in EPISODES:
        config = LsviUcb(epsilon=1.0, delta=1e-5, episodes=episodes, steps=STEPS, dimension=RANK)
        started = time.process_time()
        config.run(problem, Streams.spawn(np.random.default_rng(0)), RUNS)
        taken = time.process_time() - started
        steps = RUNS * episodes * STEPS
        print(f"dpaudit lsvi_ucb {episodes:5} episodes  {1e6 * taken / steps:8.1f} us a step, {RUNS} runs", flush=True)


def main():
    if sys.argv[1:] == ["--peer"]:
        return peer()
    ours()
    return subprocess.run([sys.argv[1], __file__, "--peer"], check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
