"""When layered regression pays.

Two estimators of the same locally private regression, at the same epsilon: noisy sufficient statistics, solved once,
and regression in layers, which divides users by how much of their features is left unexplained. On features that all
but coincide the simple error falls like N^-1/4 and the layered one like N^-1/2; they cross at some 10^8 users. Each
point costs the same, as the noise of any number of users is drawn by the law of its sum.
"""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.figure import Figure

from algorithms.lplr import Lplr
from algorithms.lplr.baselines import SufficientStatistics
from algorithms.lplr.offline import deviation, fit_offline
from algorithms.problems import load
from algorithms.problems.linear_bandit import LinearBandit
from dpaudit import Streams

EPSILON, RUNS = 1.0, 60


def layered(users: int, problem: LinearBandit) -> float:
    """Return the mean absolute deviation of the layered estimator."""
    plan = Lplr(epsilon=EPSILON, horizon=users, dimension=2, actions=1).plan()
    found = fit_offline(plan, problem, users, Streams.spawn(np.random.default_rng(0)), RUNS)
    return float(deviation(problem, found.prediction[:, 0]).mean())


def simple(users: int, problem: LinearBandit) -> float:
    """Return the mean absolute deviation of the solved noisy statistics."""
    config = SufficientStatistics(epsilon=EPSILON, horizon=users, dimension=2)
    parameter = config.fit(problem, Streams.spawn(np.random.default_rng(0)), RUNS)
    return float(deviation(problem, np.clip(parameter @ problem.features[:, 0].T, -1, 1)).mean())


def main() -> Figure:
    """Return both errors by the number of users, with the slopes that the theory gives."""
    users = np.geomspace(1e6, 1e14, 17)
    problems = [load("ill_conditioned")(users=float(n)) for n in users]
    figure, axes = plt.subplots()
    for name, estimate, exponent in (("in layers", layered, -0.5), ("sufficient statistics", simple, -0.25)):
        errors = np.array([estimate(int(n), problem) for n, problem in zip(users, problems, strict=True)])
        (line,) = axes.loglog(users, errors, marker="o", markersize=3, label=name)
        axes.loglog(users, errors[-1] * (users / users[-1]) ** exponent, ":", color=line.get_color(), linewidth=1)
    axes.set(xlabel="users", ylabel="mean absolute deviation of predictions")
    axes.set_title("Locally private regression at epsilon = 1 on features that all but coincide")
    axes.legend(loc="lower left")
    return figure
