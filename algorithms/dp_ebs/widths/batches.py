"""The batches of the batched variant: those of the claimed epsilon, or those planned for a smaller one.

The batched variant is an honest reference for what K / epsilon costs without a tree: doubling batches, one noisy sum an
option, nothing carried from batch to batch. A person is in one batch, and in one sum of it.

A schedule that is made for a smaller epsilon has longer batches, and may serve a larger one better. At five options,
10^5 rounds and epsilon 0.1 the first batch of the claim's own schedule is a little too short for the noise on the
problem `bradley_terry`, and the next one takes most of the rounds. The noise is that of the claim whatever the
schedule, so the guarantee does not depend on it.
Source: Sajed and Sheffet (2019) for the idea of batches, in multi-armed bandits, with constants of this file.
"""

import math
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from algorithms._shuffles import report_epsilon
from algorithms.dp_ebs.noise.calibrated import batch_noise
from algorithms.dp_ebs.noise.shuffled import ShuffledSum, vote_release
from algorithms.dp_ebs.settings import DpEbsSettings
from dpaudit.model.mechanism import Array
from mechanisms import Laplace, RandomisedResponse

_GAPS = 200
_STEPS = 64
"""Schedules are tried at so many epsilons an octave."""

_FLAT = 1 / 8
"""From this epsilon on the noise shortens no batch: 8 lg 2^e / epsilon <= 32 lg 4^e for every e."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    """Batch `number`, from 1: every option left plays `plays` duels; `half_width` bounds the error of its mean."""

    number: int
    plays: int
    half_width: float

    @property
    def label(self) -> str:
        """The label of the batch's sums."""
        return f"batch {self.number}"


def batches_of(*, epsilon: float, horizon: int, arms: int) -> tuple[Batch, ...]:
    """Return the batches that two options could still complete within `horizon` rounds; at least one.

    With lg = ln(8 K e^2 T) in batch e: plays = ceil(max(32 lg 4^e, 8 lg 2^e / epsilon)) and
    half_width = sqrt(lg / (2 plays)) + lg / (epsilon plays).
    """
    batches: list[Batch] = []
    spent = 0
    while True:
        number = len(batches) + 1
        log = _batch_log(number, horizon, arms)
        plays = math.ceil(max(32 * log * 4**number, 8 * log * 2**number / epsilon))
        spent += 2 * plays
        if batches and spent > horizon:
            return tuple(batches)
        width = batch_half_width(number, plays, epsilon=epsilon, horizon=horizon, arms=arms)
        batches.append(Batch(number=number, plays=plays, half_width=width))


def batch_half_width(number: int, plays: int, *, epsilon: float, horizon: int, arms: int) -> float:
    """Return the half width of a batch of `plays` duels an option, with noise 1 / epsilon in its sums."""
    log = _batch_log(number, horizon, arms)
    return math.sqrt(log / (2 * plays)) + log / (epsilon * plays)


def _batch_log(number: int, horizon: int, arms: int) -> float:
    """Return lg of `batches_of`."""
    return math.log(8 * arms * number**2 * horizon)


def batches_for(settings: DpEbsSettings) -> tuple[Batch, ...]:
    """Return the batches of a run, from public settings alone."""
    make = planned_batches if settings.schedule == "planned" else batches_of
    batches = make(epsilon=settings.epsilon, horizon=settings.horizon, arms=settings.arms)
    if settings.model != "shuffle":
        return batches
    bias = 2 * vote_of(settings).probability - 1
    logs = (_batch_log(batch.number, settings.horizon, settings.arms) for batch in batches)
    # Hoeffding's inequality for the votes as they are sent, answers and their noise together
    widths = (math.sqrt(log / (2 * batch.plays)) / bias for log, batch in zip(logs, batches, strict=True))
    return tuple(replace(batch, half_width=width) for batch, width in zip(batches, widths, strict=True))


def vote_of(settings: DpEbsSettings) -> RandomisedResponse:
    """Return the randomiser of one vote where votes are shuffled, calibrated to the smallest shuffle."""
    users = fewest_shuffled(settings)
    vote = report_epsilon(vote_release, epsilon=settings.epsilon, delta=settings.delta, users=users)
    return RandomisedResponse(epsilon=vote)


def fewest_shuffled(settings: DpEbsSettings) -> int:
    """Return how many people the smallest shuffle has: those of the first batch who see one option on the left."""
    batches = batches_of(epsilon=settings.epsilon, horizon=settings.horizon, arms=settings.arms)
    return min(batch.plays for batch in batches)


def sum_law(settings: DpEbsSettings, batch: Batch) -> Laplace | ShuffledSum:
    """Return the law of one released sum of a batch."""
    if settings.model == "shuffle":
        return ShuffledSum(response=vote_of(settings), users=batch.plays)
    return batch_noise(settings.epsilon)


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
