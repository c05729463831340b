"""Notes on the replayed LSVI-UCB for a reader of its results."""

from algorithms._linear_rl.values import vacuous_radius
from algorithms.problems.linear_mdp import LinearMdp
from algorithms.replayed_lsvi.plan import plan_of
from algorithms.replayed_lsvi.settings import ReplayedLsviSettings


def notes_of(settings: ReplayedLsviSettings, problem: LinearMdp | None = None) -> tuple[str, ...]:
    """Return that its regret is unproved, and whether optimism saturates even in the last stage."""
    plan = plan_of(settings)
    stage = plan.stages[-1]
    unproved = "Private, regret unproved: the construction is this project's own, and nobody else has reviewed it."
    least = stage.radius / (plan.ridge + stage.shift + stage.users) ** 0.5
    return (unproved, *vacuous_radius("in the last stage", least, plan.bounds[0]))
