"""Regret of UCRL-VTR and LSVI-UCB: what privacy, its model and its calibration cost.

Run: python -m benchmarks.linear_rl_utility [episodes] [runs]     (about four minutes on one core)

Rows are means over runs: regret an episode up to K / 16, K / 4 and K, the growth of regret over the last fourfold (an
exponent of K), what the last policy loses, and how often values were optimistic. `scale` is the bonus over the paper's;
1 is the paper's own. The tabular part compares with PUCB and LDP-OBI on one drawn process.
"""

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import math
import sys
from dataclasses import replace

import numpy as np

from algorithms.ldp_obi import LdpObi
from algorithms.lsvi_ucb import LsviUcb
from algorithms.problems import load
from algorithms.pucb import Pucb
from algorithms.ucrl_vtr import UcrlVtr
from algorithms.ucrl_vtr.run import checkpoints
from dpaudit import Streams


def row(name, config, held, runs, *, without_noise=False):
    """Run a configuration and print one line."""
    run = config.run_without_noise if without_noise else config.run
    transcript = run(held, Streams.spawn(np.random.default_rng(0)), runs)
    at = written_after(config)
    regret, episodes = transcript.arrays["regret"].mean(axis=0), at[-1]
    low, middle, high = np.interp([episodes / 16, episodes / 4, episodes], [0, *at], [0.0, *regret])
    slope = math.log(high / middle) / math.log(4) if middle > 0 else math.nan
    optimism = transcript.arrays.get("optimism")
    hopeful = "" if optimism is None else f"{optimism.mean():9.2f}"
    rates = (16 * low / episodes, 4 * middle / episodes, high / episodes)
    gap = transcript.arrays["gap"].mean()
    print(f"{name:44}", *(f"{rate:9.3f}" for rate in rates), f"{slope:8.2f}{gap:9.3f}{hopeful}", flush=True)


def written_after(config):
    """The episodes after which regret was written down."""
    if isinstance(config, UcrlVtr):
        return checkpoints(config.episodes)
    if isinstance(config, LsviUcb):
        return (*config.plan().schedule.starts[1:], config.episodes)
    return range(1, config.episodes + 1)


def mixture(episodes, runs):
    held = load("random_mixture")(seed=1)
    base = UcrlVtr(
        model="joint",
        epsilon=1.0,
        delta=1e-5,
        episodes=episodes,
        steps=4,
        dimension=3,
        bonus_scale=0.03,
        shift_scale=0.4,
        planning_period=20,
        weight_bound=held.weight_bound,
    )
    row("no noise, scale 0.03", base, held, runs, without_noise=True)
    row("no noise, scale 1", replace(base, bonus_scale=1.0), held, runs, without_noise=True)
    for model, epsilon in (("joint", 100.0), ("joint", 10.0), ("joint", 1.0), ("local", 10.0)):
        config = replace(base, model=model, epsilon=epsilon, clipping="range_aware")
        row(f"{model}, epsilon {epsilon:g}, tight, scale 0.03", config, held, runs)
    for calibration in ("tight", "paper"):
        config = replace(base, epsilon=100.0, calibration=calibration, bonus_scale=1.0, shift_scale=1.0)
        row(f"joint, epsilon 100, {calibration}, scale 1", config, held, runs)
    row("joint, epsilon 100, tight, Bernstein", replace(base, bonus="bernstein", epsilon=100.0), held, runs)


def linear(episodes, runs):
    held = load("low_rank")()
    base = LsviUcb(
        epsilon=100.0, delta=1e-5, episodes=episodes, steps=4, dimension=4, bonus_scale=1e-3, shift_scale=0.1
    )
    row("LSVI-UCB, no noise", base, held, runs, without_noise=True)
    for epsilon, calibration in ((100.0, "tight"), (10.0, "tight"), (100.0, "paper")):
        config = replace(base, epsilon=epsilon, calibration=calibration)
        row(f"LSVI-UCB, epsilon {epsilon:g}, {calibration}", config, held, runs)


def tabular(episodes, runs):
    held = load("tabular_mixture")()
    base = UcrlVtr(
        model="joint",
        epsilon=10.0,
        delta=1e-5,
        episodes=episodes,
        steps=3,
        dimension=18,
        bonus_scale=0.03,
        shift_scale=0.4,
        planning_period=20,
        clipping="range_aware",
    )
    row("table: UCRL-VTR, joint, epsilon 10", base, held, runs)
    row("table: UCRL-VTR, local, epsilon 10", replace(base, model="local"), held, runs)
    shape = {"epsilon": 10.0, "episodes": episodes, "steps": 3, "bonus_scale": 0.03, "planning_period": 20}
    row("table: PUCB, epsilon 10", Pucb(**shape), held, runs)
    row("table: LDP-OBI, epsilon 10", LdpObi(**shape), held, runs)


def main(episodes=20_000, runs=20):
    print(
        f"{'K = ' + str(episodes):44}", *(f"{head:>9}" for head in ("K/16", "K/4", "K")), "   slope      gap optimism"
    )
    mixture(episodes, runs)
    linear(episodes, runs)
    tabular(episodes, runs)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
