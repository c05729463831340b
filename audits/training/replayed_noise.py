"""The noise of two runs of a loop, step beside step: it may follow nothing but the random numbers."""

from dataclasses import replace

import numpy as np

from audits.training.replay_runs import Run
from dpaudit.model.trace import Finding
from dpaudit.training.noise_beside_sums import same_directions

STALE, SCALED = "DPA227", "DPA212"

_SIZE = 1e-3
"""A part of the size of noise that single precision beside large sums does not change."""


def noise_of_another_seed(runs: tuple[Run, Run], alike: Run | None, seed: int) -> list[Finding]:
    """Return a finding where two runs from different seeds carry the same noise.

    `runs` are such a pair on the same records. Records that are all alike, as in `alike`, give many steps the same
    batch: noise that a batch or its gradients decide comes again there, whatever the `seed` of the second run is.
    """
    constant = "The noise of step {0} is the same in two runs from different seeds: it comes from a constant seed."
    looks = [(runs, constant)]
    if alike is not None:
        script = replace(alike.start.script, batches=alike.batches or ())
        twin = replace(alike.start, seed=seed, script=script).run()
        followed = (
            "On records that are all alike, step {0} of one run and step {1} of another from a different seed carry "
            "the same noise: the records of the batch decide it, as a seed does that is made from them."
        )
        looks.append(((alike, twin), followed))
    for (first, second), says in looks:
        if steps := _same_noise(first, second):
            message = (
                f"{says.format(*steps)} Who knows that can take it off. Draw its seed from `rng` or from the system."
            )
            return [Finding(rule=STALE, where="noise", message=message)]
    return []


def size_of_noise(first: Run, second: Run, what: str) -> list[Finding]:
    """Return a finding where two runs from one seed carry the same noise of a parameter, but of another size."""
    for at, steps in enumerate(zip(first.watch.taken, second.watch.taken, strict=False), start=1):
        ours, theirs = (step.noise_by_parameter() for step in steps)
        for name in (name for name in ours if name in theirs and same_directions([ours[name]], [theirs[name]]).any()):
            factor = float(np.linalg.norm(theirs[name]) / np.linalg.norm(ours[name]))
            if abs(factor - 1) > _SIZE:
                message = (
                    f"Step {at}: with {what} and the same random numbers the noise of {name} is {factor:.4g} times as "
                    "large. Its scale follows the records, as through the number of records in a batch or a norm of "
                    "exact gradients."
                )
                return [Finding(rule=SCALED, where="noise", message=message)]
    return []


def _same_noise(first: Run, second: Run) -> tuple[int, int] | None:
    """Return the numbers of two steps of two runs that carry the same noise, the same step first; None if none do."""
    same = np.argwhere(same_directions(first.watch.noises(), second.watch.noises()))
    closest = min(same.tolist(), key=lambda steps: abs(steps[0] - steps[1]), default=None)
    return None if closest is None else (closest[0] + 1, closest[1] + 1)
