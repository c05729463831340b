"""Notes on LSVI-UCB for a reader of its results: whether its schedule and constants let it learn."""

import math

import numpy as np

from algorithms._linear_rl.values import vacuous_radius
from algorithms.lsvi_ucb.plan import most_switches, plan_of
from algorithms.lsvi_ucb.planning import domain_of
from algorithms.lsvi_ucb.settings import LsviUcbSettings
from algorithms.problems.linear_mdp import LinearMdp

UNPROVED = (
    "Private, regret unproved: the switching rule is post-processing of released matrices, but noise alone can set it "
    "off or keep it from acting. A threshold above 2 (determinant) or 3 (spectral) and shift_scale of 1 or more have a "
    "proof."
)


def notes_of(settings: LsviUcbSettings, problem: LinearMdp) -> tuple[str, ...]:
    """Return whether there is one batch only, and whether optimism saturates even after all episodes.

    Raises: ValueError: a problem that does not fit the settings.
    """
    domain_of(settings, problem)
    plan = plan_of(settings)
    if settings.schedule == "switching" and settings.regret_unproved:
        return (UNPROVED, *_radius_notes(settings))
    if not plan.releases:
        return ("There is one batch, so nothing is released and nothing is ever learned; see least_batches.",)
    return (*_cap_notes(settings), *_radius_notes(settings))


def _cap_notes(settings: LsviUcbSettings) -> tuple[str, ...]:
    """Return that a cap below the proved number of switches leaves a part of the regret unproved."""
    most = math.ceil(most_switches(settings)) if settings.schedule == "switching" else 0
    if settings.switches >= most:
        return ()
    return (
        f"The policy changes at most {settings.switches} of the {most} times that the switching rule may need by its "
        "proof; where that cap is reached, the regret from then on is unproved.",
    )


def _radius_notes(settings: LsviUcbSettings) -> tuple[str, ...]:
    """Return whether optimism saturates even after all episodes."""
    plan = plan_of(settings)
    least = plan.radius / float(np.sqrt(plan.ridge + plan.shift + plan.episodes))
    return vacuous_radius(f"after {plan.episodes:,} episodes", least, plan.ranges[0])
