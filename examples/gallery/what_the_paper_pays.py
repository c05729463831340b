"""What a paper's arithmetic costs its users.

UCRL-VTR learns a two-step decision process from users who see noisy statistics only. Each point is a run with the
noise of the paper or with the smallest noise for the same claim, drawn at the epsilon that is *proved* for it. The
printed noise proves an epsilon hundreds of times smaller than it claims and pays for it: at no claim is anything
learned. With tight noise learning begins between a claim of 3 and one of 10. Flat stretches are play that no data has
changed; how high they lie is a matter of radius and ties, not of privacy.
"""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.figure import Figure

from algorithms.problems import load
from algorithms.ucrl_vtr import UcrlVtr
from dpaudit import Streams, bracket_epsilon, fold

EPISODES, RUNS = 1000, 4
CLAIMS = (1.0, 3.0, 10.0, 30.0)
UTILITY = {"bonus_scale": 0.1, "shift_scale": 0.4, "planning_period": 50}


def main() -> Figure:
    """Return regret an episode against certified epsilon, for both calibrations of the same claims."""
    problem = load("random_mixture")(states=3, actions=4, steps=2, dimension=2, seed=555)
    shape = {"model": "joint", "delta": 1e-5, "episodes": EPISODES, "steps": 2, "dimension": 2, **UTILITY}
    figure, axes = plt.subplots()
    for calibration, label in (("paper", "printed noise"), ("tight", "tight noise")):
        proved, regret = [], []
        for epsilon in CLAIMS:
            config = UcrlVtr(**shape, epsilon=epsilon, calibration=calibration)
            run = config.run(problem, Streams.spawn(np.random.default_rng(0)), RUNS)
            proved.append(bracket_epsilon(fold(config.declaration(), "replace_one"), 1e-5).upper)
            regret.append(run.arrays["regret"][:, -1].mean() / EPISODES)
        axes.plot(proved, regret, marker="o", label=label)
    plain = UcrlVtr(**shape, epsilon=1.0).run_without_noise(problem, Streams.spawn(np.random.default_rng(0)), RUNS)
    axes.axhline(plain.arrays["regret"][:, -1].mean() / EPISODES, linestyle="--", color="grey", label="no noise")
    uniform = np.full((1, *problem.mdp.shape), 1 / problem.mdp.shape[2])
    lost = problem.mdp.optimum() - problem.mdp.policy_values(uniform)[0]
    axes.axhline(lost, linestyle=":", color="grey", label="uniform play")
    axes.set(xscale="log", ylim=(0, None), xlabel="certified epsilon at delta = 1e-5", ylabel="mean regret an episode")
    axes.set_title("UCRL-VTR, claims of epsilon 1, 3, 10 and 30")
    axes.legend(loc="lower left", bbox_to_anchor=(0.0, 0.08))
    return figure
