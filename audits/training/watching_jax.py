"""Watching training by jax-privacy through the object that adds its noise; JAX itself is not imported here."""

from collections.abc import Callable
from typing import Any

import numpy as np

from dpaudit import UnsupportedError, Watch
from dpaudit.model.mechanism import Array


def watch_privatizer(
    privatizer: Any,
    watch: Watch | None = None,
    *,
    weights: Callable[[Any], Any] | None = None,
    batch: Callable[[], Any] | None = None,
) -> tuple[Any, Watch]:
    """Return a privatizer whose every update is noted, and the watch: one step an update.

    `privatizer` is what `jax_privacy.noise_addition` returns: a gradient transformation whose `update` takes the sum of
    clipped gradients and its state. `weights` picks the first layer's gradient out of a tree of gradients, as
    (features, units); by default the gradient is an array. `batch` returns the records of the step. The returned
    privatizer takes the place of the first one, gives the same numbers, and must be called outside of `jax.jit`.
    What is covered: the noise that the privatizer adds and the sums that it gets; not: clipping of other layers,
    sampling unless `batch` is given, and what comes after the privatizer.
    Raises: UnsupportedError: an object without `update`, or an update inside of `jax.jit`, where no number is known.

    >>> from collections import namedtuple
    >>> Transformation = namedtuple("Transformation", "init update")
    >>> noisy = Transformation(init=lambda model: 0, update=lambda summed, state: (summed + 0.5, state + 1))
    >>> watched, watch = watch_privatizer(noisy)
    >>> watched.update(np.zeros((2, 1)), 0)[1], watch.steps, watch.squares
    (1, 1, 0.5)
    """
    if not callable(getattr(privatizer, "update", None)) or not callable(getattr(privatizer, "_replace", None)):
        raise UnsupportedError(
            f"{type(privatizer).__name__} is no gradient transformation with init and update; give what "
            "jax_privacy.noise_addition returns."
        )
    seen = Watch(records=1) if watch is None else watch
    chosen = weights or _itself

    def update(sum_of_clipped_grads: Any, noise_state: Any, *arguments: Any, **keywords: Any) -> Any:
        answer = privatizer.update(sum_of_clipped_grads, noise_state, *arguments, **keywords)
        held = None if batch is None else np.asarray(batch())
        seen.step(_rows(chosen(answer[0])), _rows(chosen(sum_of_clipped_grads)), held)
        return answer

    return privatizer._replace(update=update), seen


def _itself(gradient: Any) -> Any:
    """Return a gradient that is one array."""
    return gradient


def _rows(gradient: Any) -> Array:
    """Return a gradient as numbers in double precision, (features, units); one column where it has one axis."""
    try:
        values = np.asarray(gradient, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise UnsupportedError(
            "The update holds no numbers: call it outside of jax.jit, and give weights= for a tree of gradients "
            f"({type(error).__name__})."
        ) from None
    rows: Array = values.reshape(len(values), -1) if values.ndim else values.reshape(1, 1)
    return rows
