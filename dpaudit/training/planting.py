"""Canaries in feature slots: records that alone can move a row of the first layer's gradient.

Each canary is one-hot in a feature column of its own, with a fixed wrong label, and in by a fair coin. Gradients of
different canaries are orthogonal, pass through the loop's real clipping and noise, and point in a direction that is
known beforehand. Blank columns are zero for every record: what is released there is noise alone.
"""

from dataclasses import dataclass, replace

import numpy as np

from dpaudit.checks import count, positive
from dpaudit.model.mechanism import Array
from dpaudit.training.watching import Slots


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Planted:
    """Records to train on, canaries among them.

    Shape: `features` (n + canaries that are in, columns + m + blanks), `labels` (n + canaries that are in,);
    `included` (m,) says which canaries are in.

    >>> rng = np.random.default_rng(0)
    >>> planted = plant(np.zeros((5, 2)), np.zeros(5, dtype=int), outputs=2, canaries=4, rng=rng, blanks=1)
    >>> planted.records - 5 - int(planted.included.sum())
    0
    """

    features: Array
    labels: Array
    slots: Slots
    included: Array

    @property
    def records(self) -> int:
        """How many records are trained on."""
        return len(self.labels)


def plant(
    features: Array,
    labels: Array,
    *,
    outputs: int,
    canaries: int,
    rng: np.random.Generator,
    blanks: int = 64,
    scale: float = 10.0,
    included: Array | None = None,
    width: int | None = None,
) -> Planted:
    """Return the records with canaries planted; each is in with probability 1/2, or as `included` (m,) says.

    `outputs` is the number of classes. Without `width` the model is a linear softmax layer that starts at zero, whose
    gradient moves a canary's row along (1/outputs, ..., 1/outputs - 1). For any other network `width` is the number of
    units of its first layer; in which direction a canary moves its row there is not known, and its score is how far.
    `scale` is the value of the canary's one feature: its gradient in the linear model has norm scale
    sqrt(1 - 1/outputs) at the start, which should be far above the clipping norm.
    Raises: ValueError: fewer than 2 outputs, a label that is no class from 0 to outputs - 1, or shapes that do not fit.

    >>> rng = np.random.default_rng(0)
    >>> plant(np.zeros((5, 2)), np.zeros(5, dtype=int), outputs=2, canaries=4, rng=rng, blanks=1).features.shape[1]
    7
    """
    count("outputs", outputs, at_least=2)
    count("canaries", canaries, at_least=0)
    count("blanks", blanks, at_least=0)
    positive("scale", scale)
    data = np.asarray(features, dtype=np.float64)
    if data.ndim != 2 or len(data) != len(labels):
        raise ValueError(f"Expected features (n, columns) with n={len(labels)} labels, got shape {data.shape}.")
    if len(labels) and not 0 <= np.min(labels) <= np.max(labels) < outputs:
        raise ValueError(
            f"Expected labels to be classes from 0 to outputs={outputs} less 1, got {np.min(labels)} to "
            f"{np.max(labels)}; for a network whose first layer has another width, give width."
        )
    coins = rng.random(canaries) < 0.5 if included is None else np.asarray(included, dtype=bool)
    rows, columns = data.shape
    inside = np.flatnonzero(coins)
    planted = np.zeros((rows + len(inside), columns + canaries + blanks))
    planted[:rows, :columns] = data
    planted[rows + np.arange(len(inside)), columns + inside] = scale
    members = np.full(canaries, -1, dtype=np.int64)
    members[inside] = rows + np.arange(len(inside))
    direction = np.full(outputs, 1 / outputs)
    direction[-1] -= 1
    directions = np.tile(direction / np.linalg.norm(direction), (canaries, 1))
    slots = Slots(
        canaries=columns + np.arange(canaries),
        members=members,
        directions=directions if width is None else np.zeros((canaries, count("width", width))),
        blanks=columns + canaries + np.arange(blanks),
    )
    given = np.asarray(labels)
    marked = np.concatenate([given, np.full(len(inside), outputs - 1, dtype=given.dtype)])
    return Planted(features=planted, labels=marked, slots=slots, included=coins)


def gradient_canaries(records: int, canaries: int, size: int, rng: np.random.Generator) -> tuple[Slots, Array]:
    """Return slots and coins of canaries that are gradients: unit vectors along a coordinate of their own.

    For a loop that takes per-record gradients apart, whatever its model is: it appends `canaries` coordinates to the
    gradient of `size` coordinates, where record `members[j]` has a gradient of one and all others zero. The gradient is
    reported as one column, (size + canaries, 1).

    >>> slots, coins = gradient_canaries(records=100, canaries=3, size=8, rng=np.random.default_rng(0))
    >>> slots.canaries
    array([ 8,  9, 10])
    """
    coins = rng.random(canaries) < 0.5
    members = np.full(canaries, -1, dtype=np.int64)
    members[coins] = records + np.arange(int(coins.sum()))
    slots = replace(
        Slots.none(),
        canaries=size + np.arange(canaries),
        members=members,
        directions=np.ones((canaries, 1)),
    )
    return slots, coins
