"""Any training function as one that trains many models: PyTorch, JAX, scikit-learn or plain numpy."""

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np

from dpaudit.model.mechanism import Array

TrainModels: TypeAlias = Callable[[Array, np.random.Generator], Array]
"""losses(included, rng): included (models, records) says which records each model is trained on; the result is the loss
of each record, and of each record that is never trained on, under each model, in nats: (models, records + others)."""


def each_model(
    train: Callable[[Any, np.random.Generator], Any],
    losses: Callable[[Any, Any], Any],
    data: tuple[Any, ...],
    others: tuple[Any, ...] | None = None,
) -> TrainModels:
    """Return what trains models one by one by `train(data, rng) -> model` and reads `losses(model, data)`.

    `data` holds arrays or tensors with one entry a record in front, such as features and labels; `train` gets the
    entries of the records that are in. `losses` returns minus the logarithm of the true class's probability for each
    record, in nats. `others` are records for comparison that are never trained on. `rng` is the only randomness that
    `train` may use if a result is to be repeated: seed a framework's generator from it.
    Raises: ValueError: no array, arrays of unequal lengths, or losses of another shape or that are NaN.

    >>> def train(data, rng):
    ...     return data[0].mean() + rng.normal(0, 0.1)
    >>> values = np.arange(4.0)
    >>> together = each_model(train, lambda model, data: (data[0] - model) ** 2 / 2, (values,))
    >>> together(np.ones((3, 4), dtype=bool), np.random.default_rng(0)).shape
    (3, 4)
    """
    records = _records(data)
    more = 0 if others is None else _records(others)

    def together(included: Array, rng: np.random.Generator) -> Array:
        if np.shape(included)[1:] != (records,):
            raise ValueError(f"Expected included (models, records={records}), got shape {np.shape(included)}.")
        table = np.empty((len(included), records + more))
        for number, coins in enumerate(included):
            inside = np.flatnonzero(coins)
            model = train(tuple(column[inside] for column in data), rng.spawn(1)[0])
            table[number, :records] = _read(losses(model, data), records)
            if others is not None:
                table[number, records:] = _read(losses(model, others), more)
        return table

    return together


def _records(data: tuple[Any, ...]) -> int:
    """Return the number of records."""
    lengths = {len(column) for column in data}
    if len(lengths) != 1:
        raise ValueError(f"Expected arrays with one entry a record each, got lengths {sorted(lengths)}.")
    return int(lengths.pop())


def _read(losses: Any, records: int) -> Array:
    """Return losses as an array, one for each record; a tensor gives up its gradient."""
    plain = losses.detach().cpu().numpy() if hasattr(losses, "detach") else losses
    values = np.asarray(plain, dtype=float)
    if values.shape != (records,) or np.isnan(values).any():
        raise ValueError(
            f"Expected losses(model, data) to return one number for each of {records} records, without NaN; got shape "
            f"{values.shape}{' with NaN' if np.isnan(values).any() else ''}. Do not average over the batch."
        )
    return values
