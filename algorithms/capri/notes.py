"""Notes on CAPRI for a report: which of the printed constants are vacuous on a problem."""

from dataclasses import replace

import numpy as np

from algorithms.capri.design import Design, cell_law, factorise
from algorithms.capri.domain import domain_of
from algorithms.capri.plan import Domain, Plan, plan_of
from algorithms.capri.settings import CapriSettings
from algorithms.problems.kernel_bandit import KernelBandit


def notes_of(settings: CapriSettings, problem: KernelBandit) -> tuple[str, ...]:
    """Return what the printed confidence width amounts to on `problem`."""
    return width_note(plan_of(settings), domain_of(settings, problem), settings.elimination)


def width_note(plan: Plan, domain: Domain, elimination: str) -> tuple[str, ...]:
    """Return what the printed confidence width amounts to at the last epoch, if it can eliminate nothing.

    The epoch's sets are taken at their expected counts under the uniform law, with every action active. An
    action goes when its estimate is four half widths below the best; rewards differ by 2 reward_bound at most.
    """
    complete = [epoch for epoch in plan.epochs if epoch.complete]
    if not complete:
        return ("No epoch is completed at this horizon, so nothing is released and nothing is ever eliminated.",)
    epoch = complete[-1]
    active = np.ones((1, len(domain.context_probabilities), domain.n_actions), dtype=bool)
    expected = np.maximum(np.rint(epoch.length * cell_law(domain.context_probabilities, active)), 1.0)
    factors = factorise(domain.features, Design(covariance=expected, basis=expected), active.reshape(1, -1), plan.ridge)
    printed = replace(domain.half_width, settings=replace(domain.half_width.settings, elimination="theory"))
    margin = 4 * float(printed.of(factors, factors.scale * plan.stddev)[0])
    spread = 2 * plan.reward_bound
    if margin <= spread:
        return ()
    vacuous = (
        f"The printed confidence width is vacuous here: in the last epoch an action would have to be {margin:.0f} "
        f"below the best one to go, while rewards differ by {spread:g} at most."
    )
    if elimination == "theory":
        return (f"{vacuous} Nothing is eliminated, and the algorithm plays uniformly at random.",)
    return (f"{vacuous} This run uses elimination = {elimination!r} instead, which changes nothing in privacy.",)
