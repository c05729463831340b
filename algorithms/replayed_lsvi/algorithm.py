"""The replayed LSVI-UCB: its settings together with what it declares, runs, audits and notes."""

from typing import ClassVar

from algorithms._linear_rl.algorithm import LinearRlAlgorithm
from algorithms._linear_rl.values import vacuous_radius
from algorithms.problems.linear_mdp import LinearMdp
from algorithms.replayed_lsvi.cases import cases_of, replays_of
from algorithms.replayed_lsvi.plan import declaration_of, plan_blind_of, plan_of, plan_without_noise_of
from algorithms.replayed_lsvi.run import run_plan
from algorithms.replayed_lsvi.settings import ReplayedLsviSettings
from dpaudit.arguments import settled


def notes_of(settings: ReplayedLsviSettings, problem: LinearMdp | None = None) -> tuple[str, ...]:
    """Return that its regret is unproved, and whether optimism saturates even in the last stage."""
    plan = plan_of(settings)
    stage = plan.stages[-1]
    unproved = "Private, regret unproved: the construction is this project's own, and nobody else has reviewed it."
    least = stage.radius / (plan.ridge + stage.shift + stage.users) ** 0.5
    return (unproved, *vacuous_radius("in the last stage", least, plan.bounds[0]))


@settled
class ReplayedLsvi(ReplayedLsviSettings, LinearRlAlgorithm):
    """Least-squares value iteration for linear processes whose users keep their episodes to themselves.

    Parameters: see `ReplayedLsviSettings`.
    Guarantee: (epsilon, delta)-local privacy of each user, at any number of stages and steps. Proof: the schedule is
    public, and a user is asked about one step or not at all. Given all earlier messages, theirs is one Gaussian release
    of a matrix and a vector that are clipped, whatever they met.
    Source: this project; Luyo, Garcelon, Lazaric and Pirotta (2021), Algorithm 2, for the regression.

    >>> config = ReplayedLsvi(epsilon=1, delta=1e-5, episodes=10_000, steps=4, dimension=4)
    >>> [stage.users for stage in config.plan().stages], config.plan().last
    ([156, 312, 624], 5008)
    """

    name: ClassVar[str] = "replayed_lsvi"

    plan = plan_of
    plan_without_noise = plan_without_noise_of
    plan_blind = plan_blind_of
    transcript = run_plan
    declaration = declaration_of
    cases = cases_of
    notes = notes_of
    replays = replays_of
