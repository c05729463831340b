"""The plan of a run, fixed before anybody votes: the calibrated mechanisms, the width and the steps of a round."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from algorithms.dp_ebs.noise.calibrated import tree_of, vote_response
from algorithms.dp_ebs.settings import DpEbsSettings
from algorithms.dp_ebs.widths.intervals import HalfWidth, half_width
from dpaudit.model.mechanism import Array
from mechanisms import RandomisedResponse, TreeAggregation


class Counters(Protocol):
    """Running sums of many streams, each with a clock of its own; see `mechanisms.TreeAggregation.bank`."""

    @property
    def clocks(self) -> Array:
        """How many elements each counter has taken in."""
        ...

    def push(self, counters: Array, elements: Array) -> Array:
        """Return the outputs of distinct `counters` after one more element each."""
        ...

    def keep(self, counters: Array) -> None:
        """Forget all other counters."""
        ...


Opponents = Callable[[int, Array, Array, np.random.Generator], Array]
"""opponents(round, lists of those left, how many, rng) -> the option on the right in every run."""

Eliminate = Callable[[int, Array, Array, Array], Array]
"""eliminate(round, upper, lower, left) -> who goes; arrays (arms, n_runs)."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Plan:
    """A calibrated algorithm. `tree` is the noise of a counter, `response` that of a vote (local); one is None.

    The steps are fields, so that an audit can script the public ones, and a test can break one and see who notices.
    """

    arms: int
    horizon: int
    reading: str
    tree: TreeAggregation | None
    response: RandomisedResponse | None
    half_width: HalfWidth
    opponents: Opponents
    eliminate: Eliminate
    counters: "Callable[[Plan, int, np.random.Generator], Counters]"

    @property
    def credits_both(self) -> bool:
        """Whether the option on the right is credited with its wins too."""
        return self.reading == "R3"


def plan_of(settings: DpEbsSettings) -> Plan:
    """Return the plan, which depends on nothing but the settings: mechanisms, widths and steps."""
    local = settings.model == "local"
    tree = None if local else tree_of(settings)
    scale = 0.0 if tree is None else float(getattr(tree.leaf, "scale", 0.0))
    width = half_width(
        settings.width,
        arms=settings.arms,
        horizon=settings.horizon,
        fail_prob=1 / settings.horizon if settings.fail_prob is None else settings.fail_prob,
        scale=scale,
        levels=(settings.horizon + settings.arms).bit_length(),
        factor=settings.width_factor,
    )
    response = vote_response(settings.epsilon) if local else None
    if response is not None:
        width = HalfWidth(sampling=width.sampling / (2 * response.probability - 1), tree=width.tree)
    return Plan(
        arms=settings.arms,
        horizon=settings.horizon,
        reading=settings.removal,
        tree=tree,
        response=response,
        half_width=width,
        opponents=uniform_opponents,
        eliminate=eliminate_below,
        counters=tree_counters,
    )


def uniform_opponents(number: int, lists: Array, left: Array, rng: np.random.Generator) -> Array:
    """Return a uniform draw from the options left in every run, the one on the left included."""
    drawn = (rng.random(len(left)) * left).astype(np.int64)
    return lists[np.arange(len(left)), drawn]


def eliminate_below(number: int, upper: Array, lower: Array, left: Array) -> Array:
    """Return the options whose upper bound is below the largest lower bound. Shape: (arms, n_runs)."""
    below: Array = upper < lower.max(axis=0)
    return below & left


def tree_counters(plan: Plan, n_counters: int, rng: np.random.Generator) -> Counters:
    """Return the private counters of the plan, or exact ones where every vote was randomised before."""
    if plan.tree is None:
        return ExactCounters(n_counters=n_counters)
    return plan.tree.bank(n_counters, rng)


@dataclass(slots=True)
class ExactCounters:
    """Sums without noise, for votes that carry their own."""

    clocks: Array
    sums: Array

    def __init__(self, *, n_counters: int) -> None:
        self.clocks, self.sums = np.zeros(n_counters, dtype=np.int64), np.zeros(n_counters)

    def push(self, counters: Array, elements: Array) -> Array:
        """Return the sums after one more element each."""
        self.clocks[counters] += 1
        self.sums[counters] += elements
        return self.sums[counters]

    def keep(self, counters: Array) -> None:
        """Forget all other counters."""
        self.clocks, self.sums = self.clocks[counters], self.sums[counters]


def debiased(plan: Plan, sent: Array) -> Any:
    """Return votes as the counters add them: as they are, or unbiased estimates of randomised ones.

    Source: Saha and Asi (2024), Remark 3: (o (e^eps + 1) - 1) / (e^eps - 1).
    """
    if plan.response is None:
        return sent
    truth = plan.response.probability
    return (sent - (1 - truth)) / (2 * truth - 1)
