"""Running totals without running out of budget.

A total that is published after each of T contributions can be noised afresh every time: then each contribution is in
up to T releases. A tree of partial sums puts it into about log2(T) of them, and a total is made of as few. Both curves
meet the same claim, with the noise that the accountant finds smallest.
"""

import math

import matplotlib.pyplot as plt
from matplotlib.figure import Figure

from dpaudit import Claim
from mechanisms import Gaussian, TreeAggregation

CLAIM = Claim(epsilon=1.0, delta=1e-6, neighbours="add_remove", unit="one purchase")


def main() -> Figure:
    """Return the standard deviation of the last published total by the number of totals."""
    once = Gaussian.calibrated(CLAIM, l2_sensitivity=1.0)
    horizons = [2**k - 1 for k in range(1, 21)]
    afresh = [once.stddev * math.sqrt(horizon) for horizon in horizons]
    trees = [TreeAggregation.calibrated(CLAIM, horizon=horizon, leaf=once) for horizon in horizons]
    tree = [held.leaf.stddev * math.sqrt(held.horizon.bit_count()) for held in trees]
    figure, axes = plt.subplots()
    axes.plot(horizons, afresh, label="every total with noise of its own")
    axes.plot(horizons, tree, label="a tree of partial sums")
    axes.set(xscale="log", yscale="log", xlabel="published totals", ylabel="standard deviation of the last total")
    axes.set_title("Purchases, at epsilon = 1 and delta = 1e-6")
    axes.legend(loc="upper left")
    return figure
