"""The schedule of the batched variant: doubling batches, one noisy sum an option, nothing kept from batch to batch.

An honest reference for what K / epsilon costs without a tree: a person is in one batch, and in one sum of it.
Source: Sajed and Sheffet (2019), the same idea for multi-armed bandits; constants of this file.
"""

import math
from dataclasses import dataclass


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
        log = math.log(8 * arms * number**2 * horizon)
        plays = math.ceil(max(32 * log * 4**number, 8 * log * 2**number / epsilon))
        spent += 2 * plays
        if batches and spent > horizon:
            return tuple(batches)
        width = math.sqrt(log / (2 * plays)) + log / (epsilon * plays)
        batches.append(Batch(number=number, plays=plays, half_width=width))
