"""A Hugging Face Trainer over Opacus, watched by one line: its model, its optimizer, its loader and its events."""

from importlib import import_module
from typing import Any

import numpy as np

from audits.training.watching_opacus import watch_opacus
from dpaudit import UnsupportedError
from dpaudit.model.mechanism import Array
from dpaudit.training import Watch


def watch_trainer(trainer: Any, watch: Watch | None = None) -> Watch:
    """Return the watch that from now on sees each step of a `transformers.Trainer`; use it in a `with` block.

    The trainer holds what `PrivacyEngine.make_private` returned: the model, the optimizer (`optimizers=`), and the
    loader, which its `get_train_dataloader` returns. What is noted, and what a replay prescribes, are those of
    `watch_opacus`. The trainer fetches batches ahead, so its events say which of them a step uses: those of the
    substeps of gradient accumulation, and of the batches before a step that `BatchMemoryManager` skips, are one step.
    Leaving the `with` block detaches the watch.
    Raises: UnsupportedError: the trainer has no optimizer yet, or one that adds no noise, or no loader of batches.

    >>> from types import SimpleNamespace
    >>> watch_trainer(SimpleNamespace(optimizer=None))
    Traceback (most recent call last):
    dpaudit.errors.UnsupportedError: SimpleNamespace has no optimizer yet: give the one of make_private in optimizers=.
    """
    optimizer = getattr(trainer.optimizer, "optimizer", trainer.optimizer)
    if optimizer is None:
        raise UnsupportedError(
            f"{type(trainer).__name__} has no optimizer yet: give the one of make_private in optimizers=."
        )
    loader, steps = trainer.get_train_dataloader(), _used_batches()
    seen = watch_opacus(trainer.model, optimizer, loader, watch, batch=steps.records)
    steps.watch = seen
    own = vars(trainer).get("get_train_dataloader")
    trainer.get_train_dataloader = lambda: loader
    trainer.add_callback(steps)

    def detach() -> None:
        trainer.remove_callback(steps)
        del trainer.get_train_dataloader
        if own is not None:
            trainer.get_train_dataloader = own

    seen.detach.append(detach)
    return seen


def _used_batches() -> Any:
    """Return the callback that counts which of the batches that the loader handed out belong to the next step."""
    # Who has a trainer has its package; nobody else needs it.
    transformers: Any = import_module("transformers")

    class UsedBatches(transformers.TrainerCallback):  # type: ignore[misc] # the base is untyped
        """`first` of the batches that are not used yet, and the `number` of those that were since the last step."""

        watch: Watch
        first, number = 0, 0

        def on_epoch_begin(self, *_: Any, **__: Any) -> None:
            """Leave out what an epoch that was cut short fetched ahead."""
            loader = self.watch.loader
            self.first, self.number = 0 if loader is None else len(loader.batches), 0

        def on_substep_end(self, *_: Any, **__: Any) -> None:
            """Count a batch whose gradients are kept for a later step."""
            self.number += 1

        def on_pre_optimizer_step(self, *_: Any, **__: Any) -> None:
            """Count the batch before a step of the optimizer."""
            self.number += 1

        def records(self) -> Array | None:
            """Return the records of this step, and begin the next one; None where batches are not told."""
            loader = self.watch.loader
            if loader is None or not loader.told:
                return None
            used = loader.batches[self.first : self.first + self.number]
            self.first, self.number = self.first + self.number, 0
            return np.concatenate([np.zeros(0, dtype=np.int64), *used])

    return UsedBatches()
