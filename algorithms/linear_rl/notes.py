"""What a reader should know about these algorithms that is neither proof nor attack: which constants are vacuous."""

from typing import TYPE_CHECKING

import numpy as np

from algorithms.linear_rl import printed_mixture as printed
from algorithms.linear_rl.batch_plan import BatchPlan

if TYPE_CHECKING:
    from algorithms.linear_rl.ucrl_vtr import UcrlVtr


def mixture_notes(config: "UcrlVtr") -> tuple[str, ...]:
    """Return whether optimism still saturates at the last episode, if every user saw the same features."""
    plan = config.plan()
    radius = plan.confidence.radii(config.episodes)[0]
    shift = plan.confidence.shift(0, config.episodes)
    top = plan.ranges[1]
    least = float(radius * top / np.sqrt(plan.ridge + shift + (config.episodes - 1) * top**2))
    notes: list[str] = []
    if least >= plan.ranges[0]:
        notes.append(
            f"The radius is vacuous here: after {config.episodes:,} episodes optimism alone is worth {least:.3g} "
            f"even where all users saw the same features, and values are clipped at {plan.ranges[0]:g}. Nothing is "
            "learned; a smaller bonus_scale and shift_scale change utility, and nothing in privacy."
        )
    if config.bonus == "hoeffding" and config.calibration == "paper":
        bound = printed.regret_bound(
            radius, episodes=config.episodes, steps=config.steps, d=config.dimension, fail_prob=config.fail_prob
        )
        if bound >= config.episodes * config.steps:
            notes.append(
                f"The paper's bound on the regret is {bound:.3g} here, and no policy loses more than "
                f"{config.episodes * config.steps:.3g}."
            )
    return tuple(notes)


def batch_notes(plan: BatchPlan) -> tuple[str, ...]:
    """Return whether there is one batch only, and whether optimism saturates even after all episodes."""
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
