"""What privacy costs a bandit.

The same kernel bandit with the noise of its paper and with the noise that the accountant finds sufficient for the same
claim. Both are (1, 1e-5)-private for the other users; the second loses less than the first, and still more
than a learner with almost no noise: the figure shows by how much.
"""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.figure import Figure

from algorithms.capri import Capri
from algorithms.problems import load
from dpaudit import Streams

KERNEL = {"kernel": "squared_exponential", "length_scale": 1.0}
HORIZON = 300_000


def main() -> Figure:
    """Return mean cumulative regret by round for two calibrations of one claim and for almost no noise."""
    problem = load("grid")(contexts=3, actions=3, length_scale=1.0, seed=0)
    figure, axes = plt.subplots()
    for name, epsilon, calibration in (
        ("as printed, epsilon = 1", 1.0, "paper"),
        ("tight, epsilon = 1", 1.0, "tight"),
        ("almost no noise", 1e4, "tight"),
    ):
        config = Capri(model="joint", delta=1e-5, horizon=HORIZON, epsilon=epsilon, calibration=calibration, **KERNEL)
        run = config.run(problem, Streams.spawn(np.random.default_rng(0)), 40)
        regret = np.cumsum(run.arrays["regret"].mean(axis=0))
        rounds = [epoch.stop for epoch in config.plan().epochs]
        axes.plot([0, *rounds], [0.0, *regret], marker="o", markersize=3, label=name)
    axes.set(xlabel="rounds", ylabel="mean cumulative regret", xlim=(0, HORIZON))
    axes.set_title("Regret of CAPRI on nine cells, 40 runs")
    axes.legend(loc="upper left")
    return figure
