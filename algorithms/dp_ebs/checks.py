"""What a run of DP-EBS can look at, and the looking. Each text says what was seen and no more."""

from dataclasses import dataclass, field

import numpy as np

from algorithms.dp_ebs.lockstep import Pushed
from dpaudit import Condition, Streams
from dpaudit.model.mechanism import Array

ROUNDS = Condition(
    kind="public_schedule",
    about=("duels",),
    text="Every run played exactly its horizon of duels, one person each.",
)
OWN_STREAM = Condition(kind="own_noise_stream")
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
        """Remember."""
        first = np.flatnonzero(pushed.runs == 0)
        for place in first:
            held = self.outputs.setdefault(int(pushed.arms[place]), [])
            if len(held) < _REMEMBERED:
                held.append(float(pushed.outputs[place]) % 1.0)

    def noises(self) -> list[Array]:
        """Return the fractional parts of the outputs, which are those of the noise, by option."""
        return [np.array(self.outputs.get(arm, [])) for arm in range(self.arms)]


def streams_differ(streams: Streams) -> bool:
    """Return whether noise has a stream of its own."""
    return all(streams.noise is not other for other in (streams.actions, streams.environment, streams.public))


def conditions(looked: dict[Condition, bool]) -> tuple[Condition, ...]:
    """Return each condition that was looked at, as checked or violated."""
    return tuple(condition.seen(holds=held) for condition, held in looked.items())
