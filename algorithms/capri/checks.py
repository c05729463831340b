"""The conditions that a run of CAPRI checks on its own arrays.

Each text states what was observed and no more, so that an observation does not turn a general condition of the
declaration into a checked one. The sensitivity is decided by replays on neighbours, see `replays`.
"""

import numpy as np
from scipy.special import gammaln, xlogy

from algorithms.capri.design import Design, Factors
from dpaudit import Condition
from dpaudit.model.mechanism import Array

CLIPPED = Condition(
    kind="clipping",
    about=("rewards",),
    text="No cell's sum of rewards exceeded reward_bound times the number of its users.",
)
BOUND = Condition(
    kind="whole_domain",
    about=("contexts and active actions",),
    text="The sensitivity bound runs over every context, those of probability 0 included, and every active action.",
)
GENERATOR = Condition(
    kind="independent_design",
    about=("R and S",),
    text="In no epoch did R or S repeat the contexts of all its users in every run.",
)
SCHEDULE = Condition(
    kind="public_schedule",
    about=("users of each epoch",),
    text="Each epoch took exactly its scheduled number of users.",
)

PUBLIC_LAW = Condition(
    kind="independent_design",
    about=("the law of contexts",),
    text="The law of contexts is public: R and S are drawn from it without looking at a record (Assumption 2.5).",
)


def stated_conditions_of(_: object) -> tuple[Condition, ...]:
    """Return what the paper assumes and no run can see."""
    return (PUBLIC_LAW,)


EVERY_EPOCH: tuple[Condition, ...] = (CLIPPED, BOUND, GENERATOR, SCHEDULE)
"""The conditions that are checked in every epoch."""

_ROUNDING = 1 + 1e-9
_COINCIDENCE = -27.7
"""ln(1e-12): what is less likely than this is no coincidence."""


def sums_are_clipped(counts: Array, sums: Array, reward_bound: float) -> bool:
    """Return whether no cell's sum exceeds what its users can contribute after clipping."""
    return bool((np.abs(sums) <= reward_bound * counts.reshape(sums.shape) * _ROUNDING).all())


def bound_holds(factors: Factors, active: Array) -> bool:
    """Return whether every active cell of every context, however unlikely, lies within the bound `scale`.

    The lengths are taken from the very map that the sum is computed with.
    """
    lengths = np.sqrt(np.where(active, (factors.maps**2).sum(axis=1), 0.0))
    return bool((lengths <= factors.scale[:, None] * _ROUNDING).all())


def design_is_independent(design: Design, counts: Array, context_probabilities: Array) -> bool:
    """Return whether neither R nor S repeats the users' contexts more faithfully than chance allows.

    Guarantee: a false alarm has probability at most 1e-12 a call; the chance of an equal draw is the
    multinomial probability of what the users drew.
    """
    users = counts.sum(axis=2)
    chance = (gammaln(users.sum(axis=1) + 1) - gammaln(users + 1).sum(axis=1)).sum()
    chance += xlogy(users, context_probabilities).sum()
    if chance > _COINCIDENCE:
        return True
    drawn = (points.reshape(counts.shape).sum(axis=2) for points in (design.covariance, design.basis))
    return not any(np.array_equal(contexts, users) for contexts in drawn)
