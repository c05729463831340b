"""The callback of a training loop: one call a step, numpy arrays in, a few sums kept."""

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from dpaudit.checks import count, positive
from dpaudit.model.mechanism import Array

_FINGERPRINT = 8
_ALIKE = 1e-4
_KEPT = 1 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Training:
    """What is declared of a run: each step adds N(0, (noise_multiplier max_grad_norm)^2) to a sum of clipped gradients.

    `sample_rate` is the probability with which each of `records` records is in a step's batch, independently.
    Unit: noise_multiplier has none; max_grad_norm is that of a gradient.
    Raises: ValueError: a number out of its range.

    >>> Training(noise_multiplier=4, max_grad_norm=0.1, sample_rate=0.1, steps=40, records=1000).stddev
    0.4
    """

    noise_multiplier: float
    max_grad_norm: float
    sample_rate: float
    steps: int
    records: int

    def __post_init__(self) -> None:
        for name in ("noise_multiplier", "max_grad_norm", "sample_rate"):
            object.__setattr__(self, name, positive(name, getattr(self, name)))
        if self.sample_rate > 1:
            raise ValueError(f"Expected sample_rate={self.sample_rate} in (0, 1].")
        for name in ("steps", "records"):
            object.__setattr__(self, name, count(name, getattr(self, name)))

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

    Memory: steps x canaries numbers (their projections), a few sums of the gradient's size, and the first million
    numbers of the noise. `heard` holds the squared noise of each step and its number of coordinates. Where sums without
    noise are reported, `absent` counts the looks at the row of a canary that was not in the batch, `strange` those at
    which it moved all the same, `common` holds for each step the noise along all canaries' directions together;
    `present` counts the looks at the row of a canary in the batch, and `still` those at which it did not move. `along`
    holds the sum of noise times sum and that of squared sums; `classes` the number of coordinates and their squared
    noise where the sum is zero, small or large.

    >>> watch = Watch(records=3)
    >>> watch.step(np.ones((2, 1)), summed=np.zeros((2, 1)), batch=np.array([0, 2]))
    >>> watch.steps, watch.squares
    (1, 2.0)
    """

    records: int
    slots: Slots = field(default_factory=Slots.none)
    steps: int = 0
    squares: float = 0.0
    coordinates: int = 0
    heard: list[tuple[float, int]] = field(default_factory=list)
    noises: list[Array] = field(default_factory=list)
    largest: float = 0.0
    contributions: int = 0
    projections: list[Array] = field(default_factory=list)
    moved: Array | None = None
    published: list[str] = field(default_factory=list)
    not_finite: int = 0
    silent: int = 0
    repeated: int = 0
    compared: int = 0
    mixed: int = 0
    absent: int = 0
    strange: int = 0
    common: list[float] = field(default_factory=list)
    present: int = 0
    still: int = 0
    along: list[float] = field(default_factory=lambda: [0.0, 0.0])
    classes: list[list[float]] = field(default_factory=lambda: [[0.0, 0.0] for _ in range(3)])
    sampled: list[Array] = field(default_factory=list)
    fingerprints: list[tuple[float, ...]] = field(default_factory=list)

    def step(self, released: Array, summed: Array | None = None, batch: Array | None = None) -> None:
        """Take note of one step.

        Shape: `released` (rows, outputs), the *sum* of clipped gradients with its noise, before any averaging;
        `summed`, the same without noise, where the loop has it; `batch`, the indices of the records in the step, which
        are numbered before anything is drawn: numbers given at a first sight would follow the draws.
        Without `summed` the noise is seen in blank rows only, and contributions statistically.
        A gradient that is not finite is noted, and counts as a step of zeros.
        Raises: ValueError: a gradient of another shape, or a batch that names a record that does not exist.
        """
        after = np.asarray(released, dtype=np.float64)
        self._require_shape(after, "released")
        if summed is not None and np.shape(summed) != after.shape:
            raise ValueError(
                f"Step {self.steps + 1}: expected summed in the shape of released, {after.shape}, got "
                f"{np.shape(summed)}."
            )
        before = None if summed is None else np.asarray(summed, dtype=np.float64)
        if np.isfinite(after).all() and (before is None or np.isfinite(before).all()):
            noise = after[self.slots.blanks] if before is None else after - before
            self._hear(noise, empty=batch is not None and np.size(batch) == 0)
            if before is not None:
                self._hear_beside(noise, before)
        else:
            self.not_finite += 1
            after, before = np.zeros_like(after), None
        rows = after[self.slots.canaries]
        self.projections.append(np.einsum("mk,mk->m", rows, self.slots.directions) if len(rows) else np.zeros(0))
        self.moved = rows if self.moved is None else self.moved + rows
        if batch is not None:
            held = np.asarray(batch, dtype=np.int64)
            if held.size and not (held.min() >= 0 and held.max() < self.records):
                raise ValueError(f"Step {self.steps + 1} names record {held.max()}; there are {self.records}.")
            self.sampled.append(held)
            self.repeated += len(np.unique(held)) < len(held)
        if before is not None and len(self.slots.canaries):
            norms = np.linalg.norm(before[self.slots.canaries], axis=1)
            self.largest = max(self.largest, float(norms.max()))
            self.contributions += int((norms > 0).sum())
            self._compare_rows(norms, after[self.slots.canaries] - before[self.slots.canaries], batch)
        self.steps += 1

    def _compare_rows(self, norms: Array, noise: Array, batch: Array | None) -> None:
        """Take note of rows that move though their canary is absent, and of the sum of the noise over all rows."""
        present = self.slots.members >= 0
        if batch is not None:
            present &= np.isin(self.slots.members, batch)
        self.present += int(present.sum())
        self.still += int((norms[present] == 0).sum())
        self.absent += int((~present).sum())
        self.strange += int((norms[~present] > 0).sum())
        self.common.append(float(np.einsum("mk,mk->", noise, self.slots.directions)))

    def _hear(self, noise: Array, *, empty: bool) -> None:
        """Take note of the noise of one step, on an empty batch or another one."""
        self.squares += float((noise**2).sum())
        self.heard.append((float((noise**2).sum()), noise.size))
        if self.coordinates < _KEPT:
            self.noises.append(np.array(noise, dtype=np.float32).reshape(-1))
        self.coordinates += noise.size
        self.silent += bool(empty and noise.size and not noise.any())
        self.fingerprints.append(tuple(float(value) for value in noise.reshape(-1)[:_FINGERPRINT]))

    def _hear_beside(self, noise: Array, sums: Array) -> None:
        """Take note of the noise of one step beside the sums that it covers."""
        squares, sizes = noise.ravel() ** 2, sums.ravel() ** 2
        self.along[0] += float(np.vdot(noise, sums))
        self.along[1] += float(sizes.sum())
        zero = sizes == 0
        moved = int(sizes.size - zero.sum())
        large = sizes > (sizes.sum() / moved if moved else 0.0)
        for place, chosen in enumerate((zero, ~zero & ~large, large)):
            self.classes[place][0] += float(chosen.sum())
            self.classes[place][1] += float(squares[chosen].sum())

    def compare(self, predict: Callable[[Array], Array], features: Array) -> None:
        """Take note of whether the network returns for each record alone what it returns for it in a batch.

        Shape: `features` (n, columns) of at least two records; `predict` returns one row a record. Normalisation over a
        batch and attention across records differ; dropout must be off.
        """
        records = np.asarray(features, dtype=np.float64)
        together = np.asarray(predict(records), dtype=np.float64)
        alone = [np.asarray(predict(records[i : i + 1]), dtype=np.float64)[0] for i in range(len(records))]
        self.compared += 1
        self.mixed += not np.allclose(together, np.stack(alone), rtol=_ALIKE, atol=_ALIKE)

    def publish(self, name: str) -> None:
        """Take note that the loop publishes a further output, such as the loss of a batch, without declared noise."""
        self.published.append(name)

    def _require_shape(self, gradient: Array, name: str) -> None:
        """Refuse a gradient that does not have the rows and the width of the slots."""
        rows = int(max(self.slots.canaries.max(initial=-1), self.slots.blanks.max(initial=-1))) + 1
        width = self.slots.directions.shape[1]
        if gradient.ndim != 2 or len(gradient) < rows or (len(self.slots.canaries) and gradient.shape[1] != width):
            raise ValueError(
                f"Step {self.steps + 1}: expected {name} as the gradient of the first layer, one row a feature and one "
                f"column a unit: at least {rows} rows and {width} columns; got shape "
                f"{gradient.shape}. Transpose it, or "
                "give the number of units of the first layer as width."
            )

    def scores(self) -> Array:
        """Return each canary's score (m,): how far the released gradients moved its row along its direction.

        Where no direction is known, the score is the squared length of that movement.
        """
        if not self.slots.directed and self.moved is not None:
            squared: Array = (self.moved**2).sum(axis=1)
            return squared
        return np.sum(self.projections, axis=0) if self.projections else np.zeros(len(self.slots.canaries))

    def presence(self) -> Array | None:
        """Return whether each canary was in each step's batch (steps, m), or None where no batch was reported."""
        if len(self.sampled) != self.steps or not self.steps:
            return None
        inside = np.zeros((self.steps, self.records + 1), dtype=bool)
        for place, batch in enumerate(self.sampled):
            inside[place, batch] = True
        inside[:, self.records] = False
        return inside[:, self.slots.members]
