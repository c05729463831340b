"""Notes on LSVI-UCB for a reader of its results: whether its schedule and constants let it learn."""

import numpy as np

from algorithms.lsvi_ucb.plan import plan_of
from algorithms.lsvi_ucb.planning import domain_of
from algorithms.lsvi_ucb.settings import LsviUcbSettings
from algorithms.problems.linear_mdp import LinearMdp


def notes_of(settings: LsviUcbSettings, problem: LinearMdp) -> tuple[str, ...]:
    """Return whether there is one batch only, and whether optimism saturates even after all episodes.

    Raises: ValueError: a problem that does not fit the settings.
    """
    domain_of(settings, problem)
    plan = plan_of(settings)
    if not plan.releases:
        return ("There is one batch, so nothing is released and nothing is ever learned; see least_batches.",)
    least = plan.radius / float(np.sqrt(plan.ridge + plan.shift + plan.episodes))
    if least < plan.ranges[0]:
        return ()
    return (
        f"The radius is vacuous here: after {plan.episodes:,} episodes optimism alone is worth {least:.3g} even where "
        f"all users showed the same features, and values are clipped at {plan.ranges[0]:g}. Nothing is learned; "
        "a smaller bonus_scale and shift_scale change utility, and nothing in privacy.",
    )
