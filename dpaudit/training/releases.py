"""Releases of a watched training loop that no noise covers: records twice, NaN, extra outputs."""

from collections.abc import Iterator

import numpy as np

from dpaudit.training.check import Check
from dpaudit.training.steps import Taken
from dpaudit.training.watching import Watch

_FEW = 5


def released_apart(watch: Watch) -> Iterator[Check]:
    """Yield a check for each thing that was looked at and is not the sum of clipped gradients with its noise.

    Rules: `DPA220` a gradient that is not finite, `DPA229` an empty batch without noise, `DPA228` a record that is in
    a step twice, `DPA224` a further output without noise; `DPA326` batches that are reported and are not those of the
    sums.
    """
    steps = watch.steps
    yield from _other_batches(watch)
    bare = list(dict.fromkeys(name for name, value in watch.published if value is None))
    rows = (
        (
            "finite gradients",
            watch.not_finite,
            "DPA220",
            "{times} of {steps} steps released a number that is not finite: a NaN passes clipping and noise unchanged, "
            "and tells that a record in the batch caused it.",
        ),
        (
            "noise on empty batches",
            sum(_silent(step, watch) for step in watch.taken),
            "DPA229",
            "{times} of {steps} steps had an empty batch and released it without noise: an exact zero tells that no "
            "record was sampled.",
        ),
        (
            "records once in a step",
            repeated_steps(watch),
            "DPA228",
            "In {times} of {steps} steps a record stands more than once: several batches came before one step, as "
            "where gradients are accumulated or the loop skips a batch. A record contributes as many times the "
            "clipping norm as it stands there.",
        ),
        (
            "further outputs",
            len(bare),
            "DPA224",
            "The loop also publishes {names:.200}, to which no declared noise is added.",
        ),
    )
    for name, times, rule, says in rows:
        if times:
            message = says.format(times=times, steps=steps, names=", ".join(bare))
            yield Check(name=name, observed=times, declared=0, rule=rule, message=message)


def _other_batches(watch: Watch) -> Iterator[Check]:
    """Yield a check where most canaries in reported batches did not move their rows, and a few of the others did.

    A row stands still where its feature is dropped, and all rows move where weights decay; neither is a finding.
    """
    rows = watch.rows()
    if rows is None:
        return
    present, absent = int(rows.present.sum()), int((~rows.present).sum())
    still, strange = int((rows.norms[rows.present] == 0).sum()), int((rows.norms[~rows.present] > 0).sum())
    if still < _FEW or strange < _FEW or 2 * still <= present or 2 * strange > absent:
        return
    message = (
        f"The reported batches are not those of the sums: {still} of {present} canaries in a batch did not "
        f"move the sum, {strange} of {absent} that were in none did."
    )
    yield Check(name="reported batches", observed=still, declared=0, rule="DPA326", message=message)


def repeated_steps(watch: Watch) -> int:
    """Return in how many steps a record stands more than once."""
    return sum(len(np.unique(batch)) < len(batch) for batch in watch.sampled)


def _silent(step: Taken, watch: Watch) -> bool:
    """Return whether a step on an empty batch was released without noise."""
    if step.batch is None or step.batch.size or not step.finite:
        return False
    noise = list(step.noise_by_parameter().values()) or [step.layer[watch.slots.blanks]]
    return any(values.size for values in noise) and not any(values.any() for values in noise)
