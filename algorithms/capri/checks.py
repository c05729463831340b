"""What a run of CAPRI can look at, and the looking.

Each text says what was seen and no more, so that a look does not turn a general condition of the declaration into a
checked one. The exception is the sensitivity, which the look decides: the bound comes from the very map applied.
"""

import numpy as np
from scipy.special import gammaln, xlogy

from algorithms.capri.design import Design, Factors
from algorithms.capri.schedule import Epoch
from dpaudit import Condition, Released, Streams
from dpaudit.model.mechanism import Array

KEY = "the epoch in which a user arrives"
"""What decides the part of the declaration that a record touches."""

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
SENSITIVITY = Condition(kind="sensitivity")
FRESH = Condition(kind="distinct_noise")
SCHEDULE = Condition(
    kind="public_schedule",
    about=("users of each epoch",),
    text="Each epoch took exactly its scheduled number of users.",
)

EVERY_EPOCH: tuple[Condition, ...] = (CLIPPED, BOUND, SENSITIVITY, GENERATOR, SCHEDULE)
"""What is looked at in every epoch."""

_ROUNDING = 1 + 1e-9
_COINCIDENCE = -27.7
"""ln(1e-12): what is less likely than this is no coincidence."""


def epoch_is_full(epoch: Epoch, counts: Array) -> bool:
    """Return whether as many users took part as the public schedule says, in every run."""
    return bool((counts.sum(axis=(1, 2)) == epoch.length).all())


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


def noise_is_fresh(streams: Streams, released: tuple[Released, ...]) -> bool:
    """Return whether noise has a stream of its own and no two releases carry the same noise."""
    others = (streams.actions, streams.environment, streams.public)
    fingerprints = [line.fingerprint for line in released if line.fingerprint is not None]
    return all(streams.noise is not other for other in others) and len(set(fingerprints)) == len(fingerprints)


def conditions(looked: dict[Condition, bool]) -> tuple[Condition, ...]:
    """Return each condition that was looked at, as checked or violated."""
    return tuple(condition.seen(holds=held) for condition, held in looked.items())
