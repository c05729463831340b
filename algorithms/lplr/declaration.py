"""What LPLR declares: one message a user, an array of cells of which the record fills one."""

from typing import TYPE_CHECKING

from dpaudit import Cells, Declaration, Local, Mechanism, Parallel, Printed, Release, Sequential

if TYPE_CHECKING:
    from algorithms.lplr.config import Lplr

KEY = "the epoch and the phase in which a user arrives"
"""What decides which kind of message a user sends."""

_RULES = {"count": "laplace", "vector": "laplace", "matrix": "wishart", "width": "laplace"}


def declaration_of(config: "Lplr") -> Declaration:
    """Return the declaration of `config`: parallel over users, cells within a message, a sum within a cell.

    Cells range over bins *and* actions, as a replaced record may change either; so one budget serves all actions.
    With variant "paper" the nodes repeat the paper: thirds of epsilon for the three statistics (Proposition 4.1), all
    of it for the confidence message (Lemma 4.4), and one budget for all actions (Theorem 3.2).
    """
    same, alone = config.leaves("replace_one"), config.leaves("add_remove")
    return Parallel(
        parts=(
            _message(config, same.update, alone.update),
            _message(config, same.confidence, alone.confidence),
        ),
        key=KEY,
        printed=_printed(config, "parallel"),
    )


def _message(
    config: "Lplr", inside: tuple[tuple[str, Mechanism], ...], touched: tuple[tuple[str, Mechanism], ...]
) -> Declaration:
    """Return one kind of message."""
    cells = Cells(
        inside=_statistics(config, inside), touched=_statistics(config, touched), printed=_printed(config, "cells")
    )
    return Local(part=cells, printed=_printed(config, "local"))


def _statistics(config: "Lplr", leaves: tuple[tuple[str, Mechanism], ...]) -> Declaration:
    """Return what one cell receives: each statistic with noise of its own."""
    releases = tuple(
        Release(label=label, mechanism=held, printed=_printed(config, _RULES.get(label, ""), share=1 / len(leaves)))
        for label, held in leaves
    )
    return releases[0] if len(releases) == 1 else Sequential(parts=releases, printed=_printed(config, "basic"))


def _printed(config: "Lplr", rule: str, share: float = 1.0) -> Printed | None:
    """Return the paper's own step, where the paper's noise is what runs."""
    return Printed(rule=rule, epsilon=config.epsilon * share) if config.variant == "paper" else None
