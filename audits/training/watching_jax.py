"""Watching training by jax-privacy through the object that adds its noise; JAX itself is not imported here."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from dpaudit import UnsupportedError
from dpaudit.model.mechanism import Array
from dpaudit.training import Watch

_MATRIX = 2


def watch_privatizer(
    privatizer: Any,
    watch: Watch | None = None,
    *,
    weights: Callable[[Any], Any] | None = None,
    batch: Callable[[], Any] | None = None,
) -> tuple[Any, Watch]:
    """Return a privatizer whose every update is noted, and the watch: one step an update.

    `privatizer` is what `jax_privacy.noise_addition` returns: a gradient transformation whose `update` takes the sum of
    clipped gradients and its state, an array or a tree of them. `weights` picks the first layer's gradient out of a
    tree, as (features, units); by default it is the first matrix. `batch` returns the records of the step. The returned
    privatizer takes the place of the first one, gives the same numbers, and must be called outside of `jax.jit`.
    What is covered: the noise that the privatizer adds and the sums that it gets; not: sampling unless `batch` is
    given, and of what comes after the privatizer only what the loop returns.
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
        records = None if batch is None else np.asarray(batch())
        released, summed = (_layer_first(tree, chosen) for tree in (answer[0], sum_of_clipped_grads))
        given = seen.step(released, summed, records)
        return answer if given is released else (_rebuilt(answer[0], given), *answer[1:])

    return privatizer._replace(update=update), seen


def _itself(gradient: Any) -> Any:
    """Return a gradient that is one array, and of a tree its first array with rows and columns, if there is one."""
    leaves = [leaf for _, leaf in _leaves(gradient)]
    return next((leaf for leaf in leaves if np.ndim(leaf) >= _MATRIX), leaves[0])


def _leaves(tree: Any, path: str = "gradient") -> list[tuple[str, Any]]:
    """Return the arrays of a tree of dictionaries, lists and tuples, by their places in it."""
    if isinstance(tree, Mapping):
        return [leaf for key, part in tree.items() for leaf in _leaves(part, f"{path} {key}")]
    if isinstance(tree, list | tuple):
        return [leaf for at, part in enumerate(tree) for leaf in _leaves(part, f"{path} {at}")]
    return [(path, tree)]


def _layer_first(tree: Any, chosen: Callable[[Any], Any]) -> dict[str, Array]:
    """Return the arrays of a tree by name: the chosen layer first, as (features, units)."""
    layer = chosen(tree)
    leaves = _leaves(tree)
    first = next((name for name, leaf in leaves if leaf is layer), "layer")
    return {first: _rows(layer)} | {name: _numbers(leaf) for name, leaf in leaves if name != first}


def _rebuilt(tree: Any, given: Mapping[str, Array], path: str = "gradient") -> Any:
    """Return the tree with the given arrays in the places of its own."""
    if isinstance(tree, Mapping):
        kind: Any = type(tree)
        return kind({key: _rebuilt(part, given, f"{path} {key}") for key, part in tree.items()})
    if isinstance(tree, list | tuple):
        parts = [_rebuilt(part, given, f"{path} {at}") for at, part in enumerate(tree)]
        return type(tree)(*parts) if hasattr(tree, "_fields") else type(tree)(parts)
    return given[path].reshape(np.shape(tree)) if path in given else tree


def _numbers(gradient: Any) -> Array:
    """Return a gradient in double precision."""
    try:
        return np.asarray(gradient, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise UnsupportedError(
            "The update holds no numbers: call it outside of jax.jit, on arrays or a tree of arrays "
            f"({type(error).__name__})."
        ) from None


def _rows(gradient: Any) -> Array:
    """Return a gradient as (features, units); one column where it has one axis."""
    values = _numbers(gradient)
    return values.reshape(len(values), -1) if values.ndim else values.reshape(1, 1)
