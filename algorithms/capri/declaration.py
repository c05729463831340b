"""The declaration of CAPRI: the tight tree, and the paper's own argument at its nodes."""

import math

from algorithms.capri.plan import plan_of
from algorithms.capri.settings import CapriSettings
from dpaudit import Billboard, Declaration, Local, Parallel, PostProcess, Printed, Release

KEY = "the epoch in which a user arrives"
"""What decides the part of the declaration that a record touches."""


def declaration_of(settings: CapriSettings) -> Declaration:
    """Return what a run releases: one Gaussian an epoch (joint) or a user (local), in parallel over epochs.

    With calibration "paper" the nodes carry the paper's own argument: the classic Gaussian mechanism in
    each of ln(horizon) slots, composed one after another.
    Source: Lemma 6.6, Step 5, and Claim 6.8.
    """
    plan, slots = plan_of(settings), math.log(settings.horizon)
    leaves = tuple(
        Release(
            label=plan.label(epoch),
            mechanism=plan.mechanism,
            printed=_printed(settings, "classic_gaussian", share=1 / slots),
        )
        for epoch in plan.epochs
        if plan.releases(epoch)
    )
    parts = Parallel(parts=leaves, key=KEY, printed=_printed(settings, "basic", slots=slots))
    if settings.model == "local":
        return Local(part=parts, printed=_printed(settings, "local"))
    steps = ("estimates and elimination", "the bound and the sets R and S of the next epoch")
    return Billboard(
        part=PostProcess(part=parts, steps=steps, printed=_printed(settings, "post_processing")),
        reads=("their own context",),
        printed=_printed(settings, "billboard"),
    )


def _printed(settings: CapriSettings, rule: str, *, share: float = 1.0, slots: float | None = None) -> Printed | None:
    """Return the paper's own step, where the paper's noise is what runs."""
    if settings.calibration != "paper":
        return None
    return Printed(rule=rule, epsilon=settings.epsilon * share, delta=settings.delta * share, slots=slots)
