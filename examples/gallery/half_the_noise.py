"""Half the noise, found out run by run.

A counter should add Laplace noise of scale 1 and adds half of it, so it delivers epsilon = 2 for a claimed 1. The
anytime-valid bound may be read after every run without losing its guarantee. It passes the claim within two hundred
runs for each of these seeds; on code that keeps its promise it almost never does.
"""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.figure import Figure

from audits.bounds import EProcess


def main() -> Figure:
    """Return the anytime lower bound on epsilon by the number of runs, for broken and for correct code."""
    figure, axes = plt.subplots()
    for place, (scale, name) in enumerate(((0.5, "half the noise"), (1.0, "as claimed"))):
        for seed in range(8):
            rng = np.random.default_rng(seed)
            coins = rng.random(400) < 0.5
            noisy = coins + rng.laplace(scale=scale, size=400)
            scores = (np.abs(noisy) - np.abs(noisy - 1)) / scale
            process, path = EProcess.fresh(0.0), []
            for start in range(0, 400, 4):
                process = process.extended(scores[start : start + 4], coins[start : start + 4])
                path.append(process.lower(0.05))
            label = name if seed == 0 else None
            axes.step(range(4, 404, 4), path, color=f"C{1 - place}", linewidth=1.1, alpha=0.7, label=label)
    axes.axhline(1.0, color="0.5", linestyle=":")
    axes.annotate("the claim", (4, 1.0), xytext=(0, 4), textcoords="offset points", color="0.4")
    axes.set(xlabel="runs so far", ylabel="epsilon is at least", ylim=(0, 2.4))
    axes.set_title("A lower bound that may be read at any time, 8 seeds each")
    axes.legend(loc="upper right")
    return figure
