"""The declaration of the cell table: one Gaussian release an epoch, in parallel over epochs."""

from algorithms.cell_table.plan import plan_of
from algorithms.cell_table.settings import CellTableSettings
from dpaudit import Billboard, Declaration, Parallel, PostProcess, Release

KEY = "the epoch in which a user arrives"
"""What decides the part of the declaration that a record touches."""


def declaration_of(settings: CellTableSettings) -> Declaration:
    """Return what a run releases: a noisy table for each epoch that reaches its full length."""
    plan = plan_of(settings)
    leaves = tuple(
        Release(label=plan.label(epoch), mechanism=plan.mechanism) for epoch in plan.epochs if epoch.complete
    )
    steps = ("tables added over epochs", "elimination of actions")
    return Billboard(part=PostProcess(part=Parallel(parts=leaves, key=KEY), steps=steps), reads=("their own context",))
