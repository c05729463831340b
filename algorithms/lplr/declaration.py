"""The declaration of LPLR: one message a user, an array of cells of which the record fills one.

The privacy of the printed noise stands beside it in closed form. The accountant arrives at the same numbers from the
declaration; the closed forms certify nothing.
"""

import math

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


def delta_floor(epsilon: float) -> float:
    """Return the delta that printed Wishart noise has at *every* epsilon, however large: 1 - e^(-epsilon / 9).

    That is of a record of norm 1; the floor does not depend on the dimension.
    Proof: a record adds A = x x^T to W, whose density on the cone of positive semi-definite matrices is proportional
    to e^(-c tr W) with c = 1 / (2 * 4.5 / epsilon) and 0 outside, so that P(W >= A) = e^(-c tr A).

    >>> [round(delta_floor(epsilon), 6) for epsilon in (0.1, 0.5, 1.0, 4.0)]
    [0.01105, 0.054041, 0.105161, 0.35882]
    """
    return -math.expm1(-epsilon / 9)


def printed_update_loss(epsilon: float) -> float:
    """Return the largest finite loss of a printed update message, residuals being at most 1: 4 epsilon / 3.

    Counts and vectors cost epsilon / 3 in each of the two cells that a replacement changes; at equal norms the matrix
    noise adds nothing finite. Attained by records of norm 1 with equal entries, in different cells.
    """
    return 4 * epsilon / 3


def printed_confidence_loss(epsilon: float) -> float:
    """Return the loss of a printed confidence message beyond the first layer: 2 epsilon, one for each cell."""
    return 2 * epsilon
