"""The schedule of the batched variant: the batches of the claimed epsilon, or those planned over smaller ones.

A schedule that is made for a smaller epsilon has longer batches, and may serve a larger one better. At five options,
10^5 rounds and epsilon 0.1 the first batch of the claim's own schedule is a little too short for the noise on the
problem `bradley_terry`, and the next one takes most of the rounds. The noise is that of the claim whatever the
schedule, so the guarantee does not depend on it.
"""

import math
from functools import lru_cache

import numpy as np

from algorithms.dp_ebs.settings import DpEbsSettings
from algorithms.dp_ebs.widths import Batch, batch_half_width, batches_of
from dpaudit.model.mechanism import Array

_GAPS = 200
_STEPS = 64
"""Schedules are tried at so many epsilons an octave."""

_FLAT = 1 / 8
"""From this epsilon on the noise shortens no batch: 8 lg 2^e / epsilon <= 32 lg 4^e for every e."""


def batches_for(settings: DpEbsSettings) -> tuple[Batch, ...]:
    """Return the batches of a run, from public settings alone."""
    make = planned_batches if settings.schedule == "planned" else batches_of
    return make(epsilon=settings.epsilon, horizon=settings.horizon, arms=settings.arms)


@lru_cache(maxsize=64)
def planned_batches(*, epsilon: float, horizon: int, arms: int) -> tuple[Batch, ...]:
    """Return the schedule with the smallest `predicted_regret` among those of smaller epsilons on a fixed grid.

    Guarantee: the prediction does not grow with epsilon, as the grid is fixed and each schedule's widths shrink. The
    regret on one problem may: it depends on where its gap lies between two widths.
    Edge cases: below the grid, where not even the first batch is completed, the claim's own schedule.
    """
    least = math.ceil(_STEPS * math.log2(16 * math.log(8 * arms * horizon) * arms / horizon))
    most = math.floor(_STEPS * math.log2(min(epsilon, _FLAT)) + 1e-9)
    schedules = [_scheduled(2 ** (step / _STEPS), epsilon, horizon, arms) for step in range(least, most + 1)]
    if not schedules:
        return batches_of(epsilon=epsilon, horizon=horizon, arms=arms)
    return min(reversed(schedules), key=lambda batches: predicted_regret(batches, horizon=horizon, arms=arms))


def predicted_regret(batches: tuple[Batch, ...], *, horizon: int, arms: int) -> float:
    """Return the mean logarithm of the regret over gaps from sqrt(arms / horizon) to 1, evenly in their logarithm.

    A gap g is taken to cost g for each round up to the first batch with four half widths below g, all options playing;
    all rounds where there is none.
    """
    gaps = np.geomspace(math.sqrt(arms / horizon), 1.0, _GAPS)
    rounds: Array = np.full(_GAPS, float(horizon))
    spent = 0
    for batch in batches:
        spent += batch.plays * arms
        if spent > horizon:
            break
        rounds = np.where((rounds == horizon) & (gaps >= 4 * batch.half_width), float(spent), rounds)
    return float(np.log(gaps * rounds).mean())


def _scheduled(planned: float, epsilon: float, horizon: int, arms: int) -> tuple[Batch, ...]:
    """Return the batches of the epsilon `planned`, with the widths of the noise at `epsilon`."""
    return tuple(
        Batch(
            number=batch.number,
            plays=batch.plays,
            half_width=batch_half_width(batch.number, batch.plays, epsilon=epsilon, horizon=horizon, arms=arms),
        )
        for batch in batches_of(epsilon=planned, horizon=horizon, arms=arms)
    )
