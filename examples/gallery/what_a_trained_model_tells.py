"""What a trained model tells of its records.

A classifier learns a survey's party identification by DP-SGD for epsilon 1, 4 and 8, and without noise. Membership
attacks bound epsilon from below: by the losses of one model (LiRA, RMIA and the loss; the best of four), by the loss of
one mislabelled record over 1,000 models, and by the gradients of one run with 1,000 canaries. Every bound lies below
what is certified, and what is certified is no promise that an attack comes near it.
"""

import csv
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.figure import Figure

ROWS = Path(__file__).parents[2] / "docs" / "measured" / "trained_models.csv"
ATTACKS = {
    "losses of one model": ("LiRA, online", "LiRA, offline", "RMIA", "loss"),
    "loss of one record, 1,000 models": ("one record",),
    "gradients of one run": ("gradient canaries",),
}


def main() -> Figure:
    """Return the bounds of three kinds of attack beside the certified epsilon."""
    with ROWS.open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    claimed = list(dict.fromkeys(row["claimed"] for row in rows))
    figure, axes = plt.subplots()
    certified = [float(next(row["epsilon"] for row in rows if row["claimed"] == name)) for name in claimed[:-1]]
    places = np.arange(len(claimed))
    axes.hlines(certified, places[:-1] - 0.2, places[:-1] + 0.2, color="0.3", label="certified")
    for (label, names), marker, aside in zip(ATTACKS.items(), "osD", (-0.12, 0.0, 0.12), strict=True):
        best = [
            max(float(row["epsilon_lower"]) for row in rows if row["claimed"] == name and row["attack"] in names)
            for name in claimed
        ]
        axes.plot(places + aside, best, marker=marker, markersize=5, linestyle="none", label=label)
    axes.set_xticks(places, claimed)
    axes.set(xlabel="certified epsilon of the training, delta 1e-5", ylabel="epsilon, in nats", ylim=(-0.3, 8.6))
    axes.grid(visible=False, axis="x")
    axes.set_title("What attacks show of a trained model")
    axes.legend(loc="upper left")
    return figure
