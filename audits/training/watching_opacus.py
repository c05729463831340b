"""Any optimizer of Opacus, watched by one call: sums before and after noise, and the batches if the loop tells them."""

from collections.abc import Callable
from typing import Any

import numpy as np

from dpaudit import UnsupportedError, Watch
from dpaudit.model.mechanism import Array


def watch_opacus(
    optimizer: Any,
    watch: Watch | None = None,
    *,
    parameter: int | None = None,
    batch: Callable[[], Any] | None = None,
) -> Watch:
    """Return the watch that from now on notes each step of an optimizer that Opacus made private.

    Works for every subclass of DPOptimizer that adds noise in `add_noise`: flat and per-layer clipping, ghost clipping,
    and the worker of rank 0 in distributed training, which adds all noise; there `batch` names the records of that
    worker's share. With adaptive clipping noise follows the clipping norm, so that it is not that of a fixed one.
    `parameter` is the place of the watched weights among `optimizer.params`; by default the first that is a
    matrix, in most networks the first layer's. `batch` returns the indices of the records of the present step; without
    it, sampling is not looked at. Without a given `watch` no canaries are planted, and noise and steps are looked at.
    Shape: weights (units, features, ...) are noted as (features ..., units).
    Raises: UnsupportedError: the object adds no noise, has no such weights, holds them in shards (FSDP), or is that of
        a worker that adds no noise.

    >>> from audits import watch_opacus
    >>> class Values:  # what stands for a tensor here
    ...     def __init__(self, values): self.values = np.array(values)
    ...     def dim(self): return self.values.ndim
    ...     def detach(self): return self
    ...     def cpu(self): return self
    ...     def double(self): return self
    ...     def numpy(self): return self.values
    >>> class Optimizer:  # what stands for the optimizer that `make_private` returned
    ...     def __init__(self): self.params = [Values([[0.0, 0.0]])]
    ...     def add_noise(self): self.params[0].grad = Values([[1.5, 0.0]])
    >>> optimizer = Optimizer()
    >>> optimizer.params[0].summed_grad = Values([[1.0, 0.0]])
    >>> watch = watch_opacus(optimizer)
    >>> optimizer.add_noise()
    >>> watch.steps, float(watch.squares)
    (1, 0.25)
    """
    if not callable(getattr(optimizer, "add_noise", None)) or not getattr(optimizer, "params", None):
        raise UnsupportedError(
            f"{type(optimizer).__name__} is no optimizer of Opacus: it has no add_noise and no "
            f"params. Give the one that "
            "PrivacyEngine.make_private returned."
        )
    _require_noise_here(optimizer)
    matrices = [place for place, held in enumerate(optimizer.params) if held.dim() >= 2]
    if parameter is None and not matrices:
        raise UnsupportedError("The optimizer has no weights that are a matrix; say which parameter is to be watched.")
    place = matrices[0] if parameter is None else parameter
    if not 0 <= place < len(optimizer.params):
        raise UnsupportedError(f"Expected parameter={place} to be from 0 to {len(optimizer.params) - 1}.")
    seen = Watch(records=1) if watch is None else watch
    weights, add_noise = optimizer.params[place], optimizer.add_noise

    def watched(*arguments: Any, **keywords: Any) -> Any:
        summed = _rows(weights.summed_grad)
        answer = add_noise(*arguments, **keywords)
        seen.step(_rows(weights.grad), summed, None if batch is None else np.asarray(batch()))
        return answer

    optimizer.add_noise = watched
    return seen


def _require_noise_here(optimizer: Any) -> None:
    """Refuse the optimizer of a worker whose steps, seen alone, carry no noise, and one whose sums lie in shards."""
    if getattr(optimizer, "rank", 0):
        raise UnsupportedError(
            f"Opacus adds all noise in the worker of rank 0, and none in this one, of rank {optimizer.rank}. Watch the "
            "optimizer where torch.distributed.get_rank() is 0."
        )
    if hasattr(optimizer, "grad_state"):
        raise UnsupportedError(
            f"{type(optimizer).__name__} holds its sums in shards (FSDP), which cannot be watched; watch a run with "
            "distributed data instead."
        )


def _rows(tensor: Any) -> Array:
    """Return a gradient as (features, units), in double precision."""
    values = np.array(tensor.detach().cpu().double().numpy())
    rows: Array = values.reshape(len(values), -1).T.copy()
    return rows
