"""Releases of a watched training loop that no noise covers: records twice, mixed records, NaN, extra outputs."""

import math
from collections.abc import Iterator

from dpaudit.training.check import Check
from dpaudit.training.watching import Watch


def released_apart(watch: Watch) -> Iterator[Check]:
    """Yield a check for each thing that was looked at and is not the sum of clipped gradients with its noise.

    Rules: `DPA332` a gradient that is not finite, `DPA333` an empty batch without noise, `DPA334` a record that is in
    a step twice, `DPA335` a layer that mixes the records of a batch, `DPA336` a further output without noise.
    """
    steps = watch.steps
    if watch.not_finite:
        yield _found(
            "finite gradients",
            watch.not_finite,
            "DPA332",
            (
                f"{watch.not_finite} of {steps} steps released a number that is not finite: a NaN "
                f"passes clipping and noise "
                "unchanged, and tells that a record in the batch caused it."
            ),
        )
    if watch.silent:
        yield _found(
            "noise on empty batches",
            watch.silent,
            "DPA333",
            (
                f"{watch.silent} of {steps} steps had an empty batch and released it without noise: "
                f"an exact zero tells "
                "that no record was sampled."
            ),
        )
    if watch.repeated:
        yield _found(
            "records once in a step",
            watch.repeated,
            "DPA334",
            (
                f"In {watch.repeated} of {steps} steps a record stands more than once, as gradient "
                f"accumulation puts it: it "
                "contributes as many times the clipping norm as it stands there."
            ),
        )
    if watch.compared:
        message = (
            "What the network returns for a record differs with the others in its batch, as batch "
            "normalisation makes it: "
            "clipping each gradient does not bound what one record changes."
        )
        yield _found("records apart", watch.mixed, "DPA335" if watch.mixed else "", message if watch.mixed else "")
    if watch.published:
        names = ", ".join(dict.fromkeys(watch.published))
        yield _found(
            "further outputs",
            len(watch.published),
            "DPA336",
            (f"The loop also publishes {names:.200}, to which no declared noise is added."),
        )


def _found(name: str, times: int, rule: str, message: str) -> Check:
    """Return the check of something that must not happen at all."""
    return Check(
        name=name, observed=times, declared=0, caught_below=0.0, caught_above=math.inf, rule=rule, message=message
    )
