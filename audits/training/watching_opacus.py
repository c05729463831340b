"""A training loop through Opacus, watched by one line: its model, its optimizer and its loader."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from dpaudit import UnsupportedError
from dpaudit.model.mechanism import Array
from dpaudit.training import Watch
from dpaudit.training.steps import Loader


def watch_opacus(
    model: Any,
    optimizer: Any,
    loader: Any = None,
    watch: Watch | None = None,
    *,
    batch: Callable[[], Any] | None = None,
) -> Watch:
    """Return the watch that from now on sees each step of a loop through Opacus; use it in a `with` block.

    `model`, `optimizer` and `loader` are what `PrivacyEngine.make_private` returned; the model may also be the one that
    was given to it. Each step is noted with the sums of all parameters before and after noise, the records in the
    batch, and the public state: all parameters and buffers, and the settings and state of the optimizer. Leaving the
    `with` block detaches the watch. Without a given `watch`, nothing is replayed and no canaries are planted.
    Works for every subclass of DPOptimizer that adds noise in `add_noise`: flat and per-layer clipping, ghost clipping,
    virtual steps of BatchMemoryManager (one step a logical batch), and the worker of rank 0 in distributed training,
    which adds all noise. With adaptive clipping noise follows the clipping norm, so that it is not that of a fixed one.
    Batches are seen where the loader fetches them in the process of the loop (`num_workers=0`), as Opacus draws them.
    Without a loader, and in distributed training, where `records` are those of the worker's share, `batch` returns the
    indices of the records of the present step.
    Raises: UnsupportedError: the optimizer adds no noise, holds its sums in shards (FSDP), or is that of a worker that
        adds no noise; no loader is where one is expected.

    >>> from audits import watch_opacus
    >>> class Values:  # what stands for a tensor here
    ...     def __init__(self, values): self.values = np.array(values)
    ...     def detach(self): return self
    ...     def cpu(self): return self
    ...     def numpy(self): return self.values
    >>> class Model:
    ...     weights = Values([[0.0, 0.0]])
    ...     def named_parameters(self): return [("weights", self.weights)]
    ...     def named_buffers(self): return []
    >>> class Optimizer:  # what stands for the optimizer that `make_private` returned
    ...     params, param_groups, state = [Model.weights], [{"lr": 0.1}], {}
    ...     def add_noise(self): self.params[0].grad = Values([[1.5, 0.0]])
    >>> optimizer = Optimizer()
    >>> optimizer.params[0].summed_grad = Values([[1.0, 0.0]])
    >>> with watch_opacus(Model(), optimizer) as watch:
    ...     optimizer.add_noise()
    >>> watch.steps, watch.squares, watch.taken[0].state["lr of group 0"]
    (1, 0.25, 0.1)
    """
    _require_noise_here(optimizer)
    seen = Watch(records=_records(loader)) if watch is None else watch
    own = {_bare(name): parameter for name, parameter in model.named_parameters()}
    names = {id(parameter): name for name, parameter in own.items()}
    named = {names.setdefault(id(p), f"parameter {at}"): p for at, p in enumerate(optimizer.params)}
    ordered = dict(sorted(named.items(), key=lambda item: not _is_matrix(item[1])))  # the first matrix leads
    seen.follow(lambda: _public_state(model, optimizer, own | named))
    seen.predict = _outputs_of(model)
    seen.trainable = tuple(name for name, parameter in own.items() if _is_meant(parameter))
    batches = _Batches(loader, seen, getattr(optimizer, "noise_multiplier", None))
    add_noise = optimizer.add_noise

    def watched(*arguments: Any, **keywords: Any) -> Any:
        sums = {name: _rows(p.summed_grad) for name, p in ordered.items()}
        answer = add_noise(*arguments, **keywords)
        released = {name: _rows(p.grad) for name, p in ordered.items()}
        records = batches.of_step() if batch is None else batch()
        seen.half |= any(map(_in_half_precision, ordered.values()))
        given: Mapping[str, Array] = seen.step(released, sums, records)
        if given is not released:
            for name, parameter in ordered.items():
                _set_rows(parameter.grad, given[name])
        return answer

    optimizer.add_noise = watched
    seen.detach.append(lambda: setattr(optimizer, "add_noise", add_noise))
    return seen


class _Batches:
    """The records that a loader's batch sampler handed out since the last step."""

    def __init__(self, loader: Any, watch: Watch, noise: float | None) -> None:
        sampler = getattr(loader, "batch_sampler", None)
        if loader is not None and sampler is None:
            raise UnsupportedError(
                f"{type(loader).__name__} has no batch_sampler: give the loader that PrivacyEngine.make_private "
                "returned, or none."
            )
        self.watch, self.since, self.told = watch, list[int](), False
        if loader is None or sampler is None:
            return
        self.told = not getattr(loader, "num_workers", 0)
        stated = Loader(
            rate=float(getattr(loader, "sample_rate", 1 / len(loader))),
            fixed_size=hasattr(sampler, "drop_last"),
            noise_multiplier=noise,
            told=self.told,
        )
        watch.loader = stated
        if not self.told:
            return
        kind = type(sampler)

        def told(itself: Any) -> Iterator[list[int]]:
            return self._handed_out(kind.__iter__(itself), stated.batches)

        sampler.__class__ = type(kind.__name__, (kind,), {"__iter__": told})
        watch.detach.append(lambda: setattr(sampler, "__class__", kind))

    def _handed_out(self, drawn: Iterator[list[int]], batches: list[Array]) -> Iterator[list[int]]:
        """Yield each batch, as drawn or as the watch's script says, and keep it until the next step."""
        for batch in drawn:
            prescribed = self.watch.script.batches[len(batches) :]
            chosen = [int(record) for record in (prescribed[0] if prescribed else batch)]
            batches.append(np.array(chosen, dtype=np.int64))
            self.since += chosen
            yield chosen

    def of_step(self) -> Array | None:
        """Return the records since the last step and begin anew; None where batches are not told."""
        records, self.since = np.array(self.since, dtype=np.int64), []
        return records if self.told else None


def _require_noise_here(optimizer: Any) -> None:
    """Refuse what adds no noise: another optimizer, that of a worker without noise, and one with sums in shards."""
    if not callable(getattr(optimizer, "add_noise", None)) or not getattr(optimizer, "params", None):
        raise UnsupportedError(
            f"{type(optimizer).__name__} is no optimizer of Opacus: it has no add_noise and no params. Give the one "
            "that PrivacyEngine.make_private returned: watch_opacus(model, optimizer, loader)."
        )
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


def _records(loader: Any) -> int:
    """Return how many records a loader draws from."""
    return len(loader.dataset) if hasattr(loader, "dataset") else 1


def _public_state(model: Any, optimizer: Any, parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Return parameters and the buffers of a model, and the settings and state of its optimizer, by name."""
    tensors = {f"buffer {_bare(name)}": stored for name, stored in model.named_buffers()}
    read: dict[str, Any] = {name: _numbers(stored) for name, stored in {**tensors, **parameters}.items()}
    names = {id(parameter): name for name, parameter in parameters.items()}
    for at, group in enumerate(optimizer.param_groups):
        read |= {f"{key} of group {at}": _plain(value) for key, value in group.items() if key != "params"}
    for parameter, stored in optimizer.state.items():
        owner = names.get(id(parameter), "a parameter")
        read |= {f"optimizer's {key} of {owner}": _plain(value) for key, value in stored.items()}
    for key in ("noise_multiplier", "max_grad_norm", "expected_batch_size"):
        read |= {f"{key} of the optimizer": getattr(optimizer, key)} if hasattr(optimizer, key) else {}
    return read


def _outputs_of(model: Any) -> Callable[[Array], Array]:
    """Return the function from features to the outputs of a model of PyTorch, in the precision of its weights."""

    def predict(features: Array) -> Array:
        import torch  # noqa: PLC0415 - the user's loop has it; nobody else needs it

        before, weights = model.training, next(iter(model.parameters()))
        given = torch.as_tensor(features)
        model.eval()
        with torch.no_grad():
            outputs = model(given.to(weights.dtype) if given.is_floating_point() else given)
        model.train(before)
        return _numbers(getattr(outputs, "logits", outputs))

    return predict


def _plain(value: Any) -> Any:
    """Return a setting as a number, a text, or an array."""
    if hasattr(value, "detach"):
        return _numbers(value)
    return value if isinstance(value, bool | int | float | str | None) else repr(value)


def _bare(name: str) -> str:
    """Return the name of a parameter in the user's model, without the wrappers' prefix."""
    return name.removeprefix("_module.").removeprefix("module.")


def _numbers(tensor: Any) -> Array:
    """Return a tensor as an array, in its own precision."""
    return np.array(tensor.detach().cpu().numpy())


def _is_meant(parameter: Any) -> bool:
    """Return whether steps are meant to move a parameter: it is trainable, or a matrix that does nothing as it is."""
    idle = _is_matrix(parameter) and not _numbers(parameter).any()
    return idle or bool(getattr(parameter, "requires_grad", True))


def _is_matrix(parameter: Any) -> bool:
    """Return whether a parameter has rows and columns, as the weights of a layer have."""
    return _numbers(parameter).ndim >= 2


def _rows(tensor: Any) -> Array:
    """Return a gradient as (features, units), in double precision; vectors as they are."""
    values = _numbers(tensor).astype(np.float64)
    return values.reshape(len(values), -1).T.copy() if values.ndim >= 2 else values


def _set_rows(tensor: Any, rows: Array) -> None:
    """Write (features, units) into a gradient of PyTorch."""
    values = rows.T.reshape(tuple(tensor.shape)) if tensor.dim() >= 2 else rows
    tensor.copy_(tensor.new_tensor(values))


def _in_half_precision(parameter: Any) -> bool:
    """Return whether the gradients of single records of a parameter have no more digits than half precision has."""
    gradients: Any = getattr(parameter, "grad_sample", None)
    parts: list[Any] = [
        part for part in (gradients if isinstance(gradients, list) else [gradients]) if hasattr(part, "bfloat16")
    ]
    short = (
        bool((part == rounded).all()) for part in parts if part.any() for rounded in (part.bfloat16(), part.half())
    )
    return any(short)
