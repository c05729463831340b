"""Notes on UCRL-VTR for a reader of its results: whether its constants let it learn."""

import numpy as np

from algorithms._linear_rl.values import vacuous_radius
from algorithms.problems.linear_mixture import LinearMixture
from algorithms.ucrl_vtr import printed_scales as printed
from algorithms.ucrl_vtr.plan import plan_of
from algorithms.ucrl_vtr.planning import domain_of
from algorithms.ucrl_vtr.settings import UcrlVtrSettings


def notes_of(settings: UcrlVtrSettings, problem: LinearMixture) -> tuple[str, ...]:
    """Return whether optimism still saturates at the last episode, if every user saw the same features.

    Raises: ValueError: a problem that does not fit the settings.
    """
    domain_of(settings, problem)
    plan = plan_of(settings)
    radius = plan.confidence.radii(settings.episodes)[0]
    shift = plan.confidence.shift(0, settings.episodes)
    top = plan.ranges[1]
    least = float(radius * top / np.sqrt(plan.ridge + shift + (settings.episodes - 1) * top**2))
    notes = list(vacuous_radius(f"after {settings.episodes:,} episodes", least, plan.ranges[0]))
    if settings.bonus == "hoeffding" and settings.calibration == "paper":
        bound = printed.regret_bound(radius, **settings.sizes())
        if bound >= settings.episodes * settings.steps:
            notes.append(
                f"The paper's bound on the regret is {bound:.3g} here, and no policy loses more than "
                f"{settings.episodes * settings.steps:.3g}."
            )
    return tuple(notes)
