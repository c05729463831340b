"""The derivation of a declaration as the rows that a certificate carries."""

from typing import get_args

from dpaudit.accounting.derivation.judgement import Judgement
from dpaudit.errors import DPAuditError
from dpaudit.model.losses import ApproximateLoss, GaussianLoss, LaplaceLoss
from dpaudit.model.witness import DerivationRow, MoveName, Numbers

MOST_ROWS = 20_000
"""More rows are left out, all of them: the checker then confirms nothing, and says why."""

_READ = (
    "times",
    "size",
    "rate",
    "population",
    "batch_size",
    "batch_bound",
    "steps",
    "epochs",
    "per_epoch",
    "users",
    "runs",
    "gamma",
    "eta",
    "mean",
    "rho",
)
"""Fields of nodes that rules read as numbers."""


def derivation_of(judgement: Judgement) -> tuple[DerivationRow, ...]:
    """Return one row for each path, move and number of records, premises first, so that the last one is the whole.

    Guarantee: no more than `MOST_ROWS` rows; of a longer derivation none.

    >>> from dpaudit.accounting.derivation.walker import derived
    >>> from dpaudit.model.declaration import Repeat, Stated
    >>> told = Stated(epsilon=0.5, source="a supplier")
    >>> [row.rule for row in derivation_of(derived(Repeat(part=told, times=3), "replace_one"))]
    ['stated', 'repeat']
    """
    rows: dict[tuple[str, str, int], DerivationRow] = {}
    _add(judgement, rows)
    return tuple(rows.values()) if len(rows) <= MOST_ROWS else ()


def _add(judgement: Judgement, rows: dict[tuple[str, str, int], DerivationRow]) -> int:
    """Add the rows of a judgement that are not there yet, and return the id of its own."""
    move = judgement.move
    key = judgement.path, move.name, move.records
    if key not in rows and len(rows) <= MOST_ROWS:
        premises = tuple(_add(part, rows) for group in judgement.premises for part in group)
        (name,) = (name for name in get_args(MoveName) if name == move.name)
        rows[key] = DerivationRow(
            id=len(rows),
            rule=judgement.rule.name,
            path=judgement.path,
            move=name,
            records=move.records,
            parameters=_parameters(judgement),
            premises=premises,
            conclusion=() if premises else _conclusion(judgement),
        )
    return rows[key].id if key in rows else 0


def _parameters(judgement: Judgement) -> Numbers:
    """Return the numbers of a node that its rule reads."""
    parameters = ((name, getattr(judgement.node, name, None)) for name in sorted(_READ))
    return tuple((name, value) for name, value in parameters if isinstance(value, int | float))


def _conclusion(judgement: Judgement) -> Numbers:
    """Return the loss of a leaf from above, if it is one of a few numbers."""
    try:
        alternatives = judgement.above
    except DPAuditError:  # a premise that has a rule, and whose numbers nobody reads
        return ()
    losses = [loss for alternative in alternatives for loss, _ in alternative.parts]
    if sum(alternative.events for alternative in alternatives) != 1:
        return ()
    match losses[0]:
        case GaussianLoss(mu=mu):
            return (("mu", mu),)
        case LaplaceLoss(shift=shift):
            return (("shift", shift),)
        case ApproximateLoss(epsilon=epsilon, delta=delta):
            return (("delta", delta), ("epsilon", epsilon))
        case _:
            return ()
