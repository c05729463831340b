"""The conditions that a run of DP-EBS checks. Each text states what was observed and no more."""

from dataclasses import dataclass, field

import numpy as np

from algorithms.dp_ebs.lockstep import Pushed
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
    text="Every answer entered exactly one batch's sums, and moved one of them by 1 at most.",
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
