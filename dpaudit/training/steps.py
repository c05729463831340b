"""One step of a training loop as it was reported, and what a replay prescribes to the steps of a loop."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from typing import Any

import numpy as np

from dpaudit.model.mechanism import Array

GRADIENT = "gradient"
"""The name of the one parameter of a loop that reports an array."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Taken:
    """One step of a loop: noisy sums and sums before noise by parameter, the batch, and the public state before it.

    Shape: the first parameter is the first layer's gradient, (features, units); the others have any shape. `state`
    holds what was read just before the noisy sums were used: numbers, texts, and digests of arrays.
    """

    released: Mapping[str, Array]
    summed: Mapping[str, Array] | None = None
    batch: Array | None = None
    state: Mapping[str, Any] = field(default_factory=dict[str, Any])

    @property
    def finite(self) -> bool:
        """Whether every reported number is finite."""
        sums = (*self.released.values(), *(self.summed or {}).values())
        return all(bool(np.isfinite(values).all()) for values in sums)

    @property
    def layer(self) -> Array:
        """The first layer's noisy sum (features, units); zeros where a number of the step is not finite."""
        values = next(iter(self.released.values()))
        return values if self.finite else np.zeros_like(values)

    @property
    def layer_sum(self) -> Array | None:
        """The first layer's sum before noise, where the loop reported it and all is finite."""
        return next(iter(self.summed.values())) if self.summed is not None and self.finite else None

    def noise_by_parameter(self) -> Mapping[str, Array]:
        """Return the noise of each parameter; nothing without sums before noise."""
        sums = self.summed if self.summed is not None and self.finite else {}
        return {name: self.released[name] - before for name, before in sums.items()}

    def divided(self, factor: float) -> "Taken":
        """Return the step with noisy sums and sums before noise divided by a factor."""
        noisy = {name: values / factor for name, values in self.released.items()}
        before = None if self.summed is None else {name: values / factor for name, values in self.summed.items()}
        return replace(self, released=noisy, summed=before)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Script:
    """What a replay prescribes to a loop: the noisy sums of its steps, its batches, and a call after the first step.

    After the last of the sums the first comes again; batches beyond those that are listed are the loop's own. `most`
    ends a loop that does not end by itself.
    """

    sums: tuple[Mapping[str, Array], ...] = ()
    batches: tuple[Array, ...] = ()
    after_first: Callable[[], None] | None = None
    most: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Loader:
    """What a watched loader states, and the batches that it handed out, in order.

    `rate` is its sampling rate; `fixed_size` says that its batches have one public size. `told` is false where batches
    are fetched ahead by other processes, so that nobody knows to which step one belongs. `noise_multiplier` is what the
    optimizer beside it states: an engine that computes it from the loader takes another one for other records.
    """

    rate: float
    fixed_size: bool
    noise_multiplier: float | None = None
    told: bool = True
    batches: list[Array] = field(default_factory=list[Array])


class TooManyStepsError(RuntimeError):
    """A replayed loop takes far more steps than the run whose sums it was given."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class CanaryRows:
    """Norms of the canaries' rows before noise, whether each canary was in the batch, and the noise of all rows.

    Shape: norms and present (steps, m); common (steps,), the noise along all directions together.
    """

    norms: Array
    present: Array
    common: Array


def by_name(sums: Any) -> dict[str, Array]:
    """Return sums by parameter, in double precision; one array is the gradient."""
    named = sums if isinstance(sums, Mapping) else {GRADIENT: sums}
    return {str(name): np.array(values, dtype=np.float64) for name, values in named.items()}


def mark(value: Any) -> Any:
    """Return a number or text itself, and of an array its shape and digest."""
    if isinstance(value, bool | int | float | str | None):
        return value
    array = np.ascontiguousarray(value)
    return array.shape, array.dtype.str, blake2b(array.tobytes(), digest_size=16).hexdigest()
