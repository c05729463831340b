"""What forty weekly sums cost.

The same noisy sums, released week after week. Adding up the epsilons of single weeks counts every week at its
worst; the tight curve knows that a record is not unlucky forty times in a row. The bound through Renyi divergences
lies between them. Every curve is an upper bound that holds.
"""

import matplotlib.pyplot as plt
from matplotlib.figure import Figure

from dpaudit import Release, Repeat, bracket_epsilon, fold
from dpaudit.engines import DEFAULT, Precision
from mechanisms import Gaussian

DELTA = 1e-5


def main() -> Figure:
    """Return epsilon at delta = 1e-5 by the number of weeks, read in three ways."""
    week = Release(label="sums", mechanism=Gaussian(stddev=30.0, l2_sensitivity=1.0, neighbours="replace_one"))
    weeks = range(1, 53)

    def upper(times: int, delta: float, precision: Precision = DEFAULT) -> float:
        return bracket_epsilon(fold(Repeat(part=week, times=times), "replace_one"), delta, precision).upper

    figure, axes = plt.subplots()
    basic = [n * upper(1, DELTA / n) for n in weeks]
    axes.plot(weeks, basic, label="weeks added up")
    axes.plot(weeks, [upper(n, DELTA, DEFAULT.by("renyi")) for n in weeks], label="Renyi")
    axes.plot(weeks, [upper(n, DELTA) for n in weeks], label="tight")
    axes.axhline(1.0, color="0.5", linestyle=":")
    axes.annotate("the claim", (1, 1.0), xytext=(0, 4), textcoords="offset points", color="0.4")
    axes.set(xlabel="weeks", ylabel="epsilon at delta = 1e-5", ylim=(0, 4), title="Upper bounds on what has been spent")
    axes.legend(loc="center right")
    return figure
