"""The callback of a training loop: one call a step, numpy arrays in; every step is kept as it was reported."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np

from dpaudit.arguments import settled
from dpaudit.checks import Count, Positive, PositiveShare
from dpaudit.model.mechanism import Array
from dpaudit.training.steps import CanaryRows, Loader, Script, Taken, TooManyStepsError, by_name, mark


@settled
class Training:
    """What is declared of a run: each step adds N(0, (noise_multiplier max_grad_norm)^2) to a sum of clipped gradients.

    `sample_rate` is the probability with which each of `records` records is in a step's batch, independently.
    Unit: noise_multiplier has none; max_grad_norm is that of a gradient.
    Raises: ValueError: a number out of its range.

    >>> Training(noise_multiplier=4, max_grad_norm=0.1, sample_rate=0.1, steps=40, records=1000).stddev
    0.4
    """

    noise_multiplier: Positive
    max_grad_norm: Positive
    sample_rate: PositiveShare
    steps: Count
    records: Count

    @property
    def stddev(self) -> float:
        """The standard deviation of each coordinate's noise, in units of a gradient."""
        return self.noise_multiplier * self.max_grad_norm


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Slots:
    """Rows of the gradient that only known records can touch.

    Shape: gradients are (rows, outputs). `canaries` (m,) holds the row of each canary, `members` (m,) the index of its
    record among those trained on, -1 where it was left out; `directions` (m, outputs) are unit vectors along which a
    canary moves its row, or zeros where no direction is known. `blanks` holds rows that no
    record touches: there a released gradient is noise alone.

    >>> len(Slots.none().canaries)
    0
    """

    canaries: Array
    members: Array
    directions: Array
    blanks: Array

    @property
    def directed(self) -> bool:
        """Whether the directions are known."""
        return bool(np.any(self.directions)) or len(self.canaries) == 0

    @classmethod
    def none(cls) -> "Slots":
        """Return no slots at all: what is not planted cannot be looked at."""
        empty = np.zeros(0, dtype=np.int64)
        return cls(canaries=empty, members=empty, directions=np.zeros((0, 1)), blanks=empty)


@dataclass(slots=True, eq=False)
class Watch:
    """Listens to a training loop; `step` is its one callback.

    `taken` holds every step; all that is said of a run is computed from it. `script` is what a replay prescribes.
    `loader` is what the loop's loader states and hands out, `predict` the model's outputs for features, and
    `trainable` the names in the public state that steps are meant to move, where they were attached. `half` says that
    gradients of single records were seen in half precision. Leaving a `with`
    block of the watch detaches it.
    Memory: the noisy and exact sums of all steps; take a small model and few steps.

    >>> watch = Watch(records=3)
    >>> _ = watch.step(np.ones((2, 1)), summed=np.zeros((2, 1)), batch=np.array([0, 2]))
    >>> watch.steps, watch.squares
    (1, 2.0)
    """

    records: int
    slots: Slots = field(default_factory=Slots.none)
    script: Script = field(default_factory=Script)
    loader: Loader | None = None
    predict: Callable[[Array], Array] | None = None
    trainable: tuple[str, ...] = ()
    half: bool = False
    taken: list[Taken] = field(default_factory=list[Taken])
    published: list[tuple[str, Any]] = field(default_factory=list[tuple[str, Any]])
    readers: list[Callable[[], Mapping[str, Any]]] = field(default_factory=list[Callable[[], Mapping[str, Any]]])
    detach: list[Callable[[], None]] = field(default_factory=list[Callable[[], None]])

    def __enter__(self) -> Self:
        """Return the watch."""
        return self

    def __exit__(self, *_: object) -> None:
        """Detach the watch from what it was attached to."""
        while self.detach:
            self.detach.pop()()

    def step(self, released: Any, summed: Any = None, batch: Any = None) -> Any:
        """Take note of one step, and return the noisy sum that training goes on with.

        Shape: `released` (features, units), the *sum* of clipped gradients with its noise, before any averaging, or a
        mapping of parameters to their sums, the first layer's first; `summed`, the same without noise, where the loop
        has it; `batch`, the indices of the records in the step, which are numbered before anything is drawn: numbers
        given at a first sight would follow the draws. The answer has the form of `released`, and is `released` itself
        except in a replay. Without `summed` the noise is seen in blank rows only, and contributions statistically.
        A gradient that is not finite is noted, and counts as a step of zeros.
        Raises: ValueError: a gradient of another shape, or a batch that names a record that does not exist.
            TooManyStepsError: a replay that takes far more steps than it was given sums for.
        """
        if self.script.most is not None and self.steps >= self.script.most:
            raise TooManyStepsError(f"The replay went on after {self.steps} steps.")
        after = by_name(released)
        before = None if summed is None else by_name(summed)
        self._require_shapes(after, before)
        records = None if batch is None else np.asarray(batch, dtype=np.int64)
        if records is not None and records.size and not 0 <= records.min() <= records.max() < self.records:
            raise ValueError(
                f"Step {self.steps + 1} names record {records.max()}; there are {self.records}, counted from 0. A loop "
                "that trains on copies of records, or on further rows, must name a record by its number as given: "
                "batch=lambda: numbers."
            )
        given = self.script.sums[self.steps % len(self.script.sums)] if self.script.sums else {}
        self.taken.append(Taken(released=after, summed=before, batch=records, state=self.state()))
        if self.steps == 1 and self.script.after_first is not None:
            self.script.after_first()
        if {name: values.shape for name, values in given.items()} != {name: v.shape for name, v in after.items()}:
            return released
        return given if isinstance(released, Mapping) else next(iter(given.values()))

    def follow(self, read: Callable[[], Mapping[str, Any]]) -> None:
        """Have the public state read in every step: `read` returns arrays, numbers and texts by their names."""
        self.readers.append(read)

    def state(self) -> dict[str, Any]:
        """Return the public state as it is now; arrays by their digests."""
        return {name: mark(value) for read in self.readers for name, value in read().items()}

    @property
    def steps(self) -> int:
        """How many steps were reported."""
        return len(self.taken)

    @property
    def sampled(self) -> list[Array]:
        """The batches that were reported."""
        return [step.batch for step in self.taken if step.batch is not None]

    @property
    def not_finite(self) -> int:
        """How many steps held a number that is not finite."""
        return sum(not step.finite for step in self.taken)

    def noises(self) -> list[Array]:
        """Return the noise seen in each finite step, flat: beside the sums, or in rows that no record moves."""
        return [
            np.concatenate([values.ravel() for values in step.noise_by_parameter().values()])
            if step.summed is not None
            else step.layer[self.slots.blanks].ravel()
            for step in self.taken
            if step.finite
        ]

    @property
    def coordinates(self) -> int:
        """How many numbers of the noise were seen."""
        return sum(noise.size for noise in self.noises())

    @property
    def squares(self) -> float:
        """The sum of the squared noise that was seen."""
        return sum(float((noise**2).sum()) for noise in self.noises())

    @property
    def projections(self) -> list[Array]:
        """How far each step moved each canary's row along its direction. Shape: (m,) a step."""
        return [
            np.einsum("mk,mk->m", step.layer[self.slots.canaries], self.slots.directions)
            if len(self.slots.canaries)
            else np.zeros(0)
            for step in self.taken
        ]

    def publish(self, name: str, value: Any = None) -> None:
        """Take note that the loop publishes a further output: its value, which a replay compares, or None.

        Without a value it counts as an output without declared noise, such as the loss of a batch.
        """
        self.published.append((name, value))

    def _require_shapes(self, after: Mapping[str, Array], before: Mapping[str, Array] | None) -> None:
        """Refuse gradients that do not have the rows of the slots, and sums of other shapes than the noisy ones."""
        for name, values in () if before is None else before.items():
            if name not in after or after[name].shape != values.shape:
                raise ValueError(
                    f"Step {self.steps + 1}: expected summed in the shape of released, "
                    f"{after[name].shape if name in after else 'absent'}, got {values.shape} for {name!r}."
                )
        layer, planted = next(iter(after.values())), len(self.slots.canaries) + len(self.slots.blanks)
        rows = int(max(self.slots.canaries.max(initial=-1), self.slots.blanks.max(initial=-1))) + 1
        if planted and (layer.ndim != 2 or len(layer) < rows):
            turned = layer.ndim == 2 and layer.shape[1] >= rows
            remedy = "Transpose it" if turned else "Canaries need a first layer that takes the features and is trained"
            raise ValueError(
                f"Step {self.steps + 1}: expected released as the gradient of the first layer, one row a feature and "
                f"one column a unit: at least {rows} rows; got shape {layer.shape}. {remedy}."
            )
        deep = sum(values.ndim > 1 for values in after.values()) > 1
        if planted and (deep or layer.shape[1] != self.slots.directions.shape[1]):
            self.slots = replace(self.slots, directions=np.zeros((len(self.slots.canaries), layer.shape[1])))

    def scores(self) -> Array:
        """Return each canary's score (m,): how far the released gradients moved its row along its direction.

        Where no direction is known, the score is the squared length of that movement.
        """
        if not self.slots.directed and self.taken:
            moved = np.sum([step.layer[self.slots.canaries] for step in self.taken], axis=0)
            return (moved**2).sum(axis=1)
        return np.sum(self.projections, axis=0) if self.taken else np.zeros(len(self.slots.canaries))

    def presence(self) -> Array | None:
        """Return whether each canary was in each step's batch (steps, m), or None where no batch was reported."""
        if len(self.sampled) != self.steps or not self.steps:
            return None
        inside = np.zeros((self.steps, self.records + 1), dtype=bool)
        for step, batch in enumerate(self.sampled):
            inside[step, batch] = True
        inside[:, self.records] = False
        return inside[:, self.slots.members]

    def rows(self) -> CanaryRows | None:
        """Return what the rows of the canaries did before noise; None where no step reported its sums."""
        seen = [(step, before) for step in self.taken if (before := step.layer_sum) is not None]
        if not seen or not len(self.slots.canaries):
            return None
        places, included = self.slots.canaries, self.slots.members >= 0
        norms = np.array([np.linalg.norm(before[places], axis=1) for _, before in seen])
        noise = [step.layer[places] - before[places] for step, before in seen]
        rows = [included if s.batch is None else included & np.isin(self.slots.members, s.batch) for s, _ in seen]
        present = np.array(rows)
        common = np.array([float(np.einsum("mk,mk->", part, self.slots.directions)) for part in noise])
        return CanaryRows(norms=norms, present=present, common=common)
