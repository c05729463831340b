"""The declaration of LPLR: one message a user, an array of cells of which the record fills one."""

from algorithms.lplr.leaves import fewest_shuffled, leaves_of
from algorithms.lplr.settings import LplrSettings
from dpaudit import (
    Cells,
    Declaration,
    Local,
    Mechanism,
    Parallel,
    PostProcess,
    Printed,
    Release,
    Sequential,
    Shuffle,
)

KEY = "the epoch and the phase in which a user arrives"
"""What decides which kind of message a user sends."""

STEPS = ("regression on the sums of a phase", "eliminations")
"""The post-processing of shuffled messages."""

_RULES = {"count": "laplace", "vector": "laplace", "matrix": "wishart", "width": "laplace"}


def declaration_of(settings: LplrSettings) -> Declaration:
    """Return the declaration of the settings: parallel over users, cells within a message, a sum within a cell.

    Cells range over bins *and* actions, as a replaced record may change either; so one budget serves all actions.
    With variant "paper" the nodes repeat the paper: thirds of epsilon for the three statistics (Proposition 4.1), all
    of it for the confidence message (Lemma 4.4), and one budget for all actions (Theorem 3.2). Where messages are
    shuffled, the smallest phase is declared: a user's message is in one, and others can be added to it.
    """
    if settings.model == "shuffle":
        leaves = leaves_of(settings)
        report = _statistics(settings, (*leaves.update, *leaves.confidence))
        return PostProcess(part=Shuffle(part=report, users=fewest_shuffled(settings)), steps=STEPS)
    same, alone = leaves_of(settings), leaves_of(settings, "add_remove")
    return Parallel(
        parts=(
            _message(settings, same.update, alone.update),
            _message(settings, same.confidence, alone.confidence),
        ),
        key=KEY,
        printed=_printed(settings, "parallel"),
    )


def _message(
    settings: LplrSettings, inside: tuple[tuple[str, Mechanism], ...], touched: tuple[tuple[str, Mechanism], ...]
) -> Declaration:
    """Return one kind of message."""
    cells = Cells(
        inside=_statistics(settings, inside),
        touched=_statistics(settings, touched),
        printed=_printed(settings, "cells"),
    )
    return Local(part=cells, printed=_printed(settings, "local"))


def _statistics(settings: LplrSettings, leaves: tuple[tuple[str, Mechanism], ...]) -> Declaration:
    """Return what one cell receives: each statistic with noise of its own."""
    releases = tuple(
        Release(
            label=label, mechanism=mechanism, printed=_printed(settings, _RULES.get(label, ""), share=1 / len(leaves))
        )
        for label, mechanism in leaves
    )
    return releases[0] if len(releases) == 1 else Sequential(parts=releases, printed=_printed(settings, "basic"))


def _printed(settings: LplrSettings, rule: str, share: float = 1.0) -> Printed | None:
    """Return the paper's own step, where the paper's noise is what runs."""
    return Printed(rule=rule, epsilon=settings.epsilon * share) if settings.variant == "paper" else None
