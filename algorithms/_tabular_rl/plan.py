"""The calibrated plan of a tabular learner: one Laplace mechanism for the counts of every step."""

from collections.abc import Callable
from dataclasses import dataclass

from algorithms._tabular_rl.settings import TabularSettings
from dpaudit.model.mechanism import Array
from mechanisms import Laplace


def as_met(counts: Array) -> Array:
    """Return an episode's counts as they were met."""
    return counts


@dataclass(frozen=True, slots=True, kw_only=True)
class TablePlan:
    """A calibrated tabular learner: `labels` and one Laplace mechanism for each step's table of counts."""

    labels: tuple[str, ...]
    mechanism: Laplace
    episodes: int
    local: bool
    noise_in_sum: int
    bonus_scale: float
    fail_prob: float
    planning_period: int
    enter: Callable[[Array], Array] = as_met


def plan_of(settings: TabularSettings, *, local: bool) -> TablePlan:
    """Return the plan: a replaced user moves two cells a step by one, in one message or in every node they are in."""
    nodes = 1 if local else settings.episodes.bit_length()
    scale = 2.0 * settings.steps * nodes / settings.epsilon
    return TablePlan(
        labels=tuple(f"transitions of step {h + 1}" for h in range(settings.steps)),
        mechanism=Laplace(scale=scale, l1_sensitivity=2.0, neighbours="replace_one"),
        episodes=settings.episodes,
        local=local,
        noise_in_sum=nodes,
        bonus_scale=settings.bonus_scale,
        fail_prob=settings.fail_prob,
        planning_period=settings.planning_period,
    )
