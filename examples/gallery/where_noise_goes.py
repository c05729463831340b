"""Where a paper's noise goes.

CAPRI's printed argument pays for every slot of its schedule, and in each slot by the textbook constant. Read
inequality by inequality, each step that is looser than it need be costs a factor; the product is the distance between
the epsilon that is claimed and the one that is delivered.
"""

import matplotlib.pyplot as plt
from matplotlib.figure import Figure

from algorithms.capri import Capri
from dpaudit import certify


def main() -> Figure:
    """Return the factors of CAPRI's slack in noise, as bars on a logarithmic axis."""
    printed = Capri(model="joint", epsilon=1.0, delta=1e-5, horizon=10_000, calibration="paper")
    slack = certify(printed.declaration(), printed.claim()).slack
    assert slack is not None
    factors = [factor for factor in slack.factors if factor.noise_factor > 1.001]
    figure, axes = plt.subplots()
    names = [*(factor.name for factor in factors), "together"]
    sizes = [*(factor.noise_factor for factor in factors), slack.noise_ratio]
    bars = axes.barh(names, sizes, color=["C0"] * len(factors) + ["C1"], height=0.6)
    axes.bar_label(bars, [f"{size:.2f}" for size in sizes], padding=4)
    axes.set(xscale="log", xlim=(1, 2 * max(sizes)), xlabel="times the noise that is needed")
    axes.set_title("CAPRI at epsilon = 1, horizon 10,000: what the printed argument gives away")
    axes.invert_yaxis()
    axes.grid(visible=False, axis="y")
    return figure
