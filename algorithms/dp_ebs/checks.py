"""The conditions that a run of DP-EBS checks. Each text states what was observed and no more."""

from dataclasses import dataclass, field

import numpy as np

from algorithms.dp_ebs.plan import Plan
from algorithms.dp_ebs.rounds.lockstep import Outcome, Pushed
from dpaudit import Condition
from dpaudit.model.mechanism import Array

CLOCK = Condition(
    kind="public_schedule",
    about=("elements of a counter",),
    text="A counter got one element a round it was played and one a removal, whatever the answers.",
)
BATCH = Condition(
    kind="one_contribution",
    about=("answers",),
    text="Every option left played each batch's scheduled duels, and no duel was won more often than played.",
)

STAGE = Condition(
    kind="one_contribution",
    about=("answers",),
    text="Every challenger left played each stage's scheduled duels, and no duel was won more often than played.",
)

_REMEMBERED = 8


@dataclass(slots=True)
class Sample:
    """A watcher that remembers the first outputs of each counter in the first run, to tell their noise apart."""

    arms: int
    outputs: dict[int, list[float]] = field(default_factory=dict)

    def __call__(self, pushed: Pushed) -> None:
        """Remember the outputs of the first run, up to a few for each counter."""
        for position in np.flatnonzero(pushed.runs == 0):
            remembered = self.outputs.setdefault(int(pushed.arms[position]), [])
            if len(remembered) < _REMEMBERED:
                remembered.append(float(pushed.outputs[position]) % 1.0)

    def noises(self) -> list[Array]:
        """Return the fractional parts of the outputs, which are those of the noise, by option."""
        return [np.array(self.outputs.get(arm, [])) for arm in range(self.arms)]


def clocks_are_public(outcome: Outcome, clocks: list[int], plan: Plan) -> bool:
    """Return whether each counter of one run took one element for each of its plays and of the removals it outlived.

    The last option left plays itself to the end; those plays enter no counter. Without counters there is nothing to
    look at. Where both options of a duel are credited, plays on the right against others count as well.
    Shape: one run in `outcome`; `clocks` by option.
    """
    gone, horizon = outcome.eliminated_at[0], plan.horizon
    left = np.flatnonzero(gone > horizon)
    duels = outcome.plays[0]
    plays = duels.sum(axis=1)
    if plan.credits_both:
        plays = plays + duels.sum(axis=0) - np.diag(duels)
    if len(left) == 1 and len(gone) > 1:
        plays[left[0]] -= horizon - gone[gone <= horizon].max()
    outlived = [(gone < own).sum() for own in gone]
    return all(clock == played + more for clock, played, more in zip(clocks, plays, outlived, strict=False))
