"""What it costs to keep votes private.

Five options, a hundred thousand people, one question each. A tree with the printed noise, one with the noise that
the same claim needs, and batches without a tree all promise the same epsilon for one answer. Uniform play learns
nothing; the further left a curve comes down, the stronger the promise at which the bandit still learns.
"""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.figure import Figure

from algorithms.dp_ebs import DpEbs
from algorithms.problems import load
from dpaudit import Streams

HORIZON = 100_000
EPSILONS = (0.1, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0)


def main() -> Figure:
    """Return mean regret by epsilon for three ways to keep the same promise."""
    problem = load("bradley_terry")(arms=5)
    figure, axes = plt.subplots()
    for name, settings in (
        ("trees, as printed", {"calibration": "paper"}),
        ("trees, tight noise", {"calibration": "tight"}),
        ("batches", {"variant": "batched"}),
    ):
        means = []
        for epsilon in EPSILONS:
            config = DpEbs(epsilon=epsilon, horizon=HORIZON, arms=5, width="tight", **settings)
            run = config.run(problem, Streams.spawn(np.random.default_rng(0)), 3)
            means.append(run.arrays["utility_regret"].mean())
        axes.plot(EPSILONS, means, marker="o", markersize=3, label=name)
    axes.axhline(HORIZON * problem.utility_regret.mean(), linestyle="--", color="0.6", label="uniform play")
    axes.set(xlabel="epsilon, in nats", ylabel="mean regret after 100,000 rounds", xscale="log", ylim=(0, None))
    axes.set_title("What a private vote costs, one good option of five")
    axes.legend(loc="center left")
    return figure
