"""What dp-accounting answers where it can express an input, beside what ours proves."""

import math
from collections.abc import Callable
from typing import Any

from dpaudit import Claim, Declaration, DPAuditError, bracket_epsilon, fold
from dpaudit.interchange.dp_event import to_event

_SIMPLE = 1e-4


def peer_answer(declaration: Declaration, claim: Claim) -> str:
    """Return dp-accounting's epsilon by PLD and by Renyi, each judged against our bracket, or why there is none."""
    import dp_accounting
    from dp_accounting.pld import PLDAccountant
    from dp_accounting.rdp import RdpAccountant

    try:
        event = to_event(declaration)
    except DPAuditError as error:
        return f"cannot express it ({str(error).split(';')[0].split(',')[0].strip()})"
    bracket = bracket_epsilon(fold(declaration, claim.neighbours), claim.delta)
    relations = dp_accounting.NeighboringRelation
    relation = relations.REPLACE_ONE if claim.neighbours == "replace_one" else relations.ADD_OR_REMOVE_ONE
    said = []
    accountants: tuple[tuple[str, Callable[[], Any]], ...] = (
        ("PLD", lambda: PLDAccountant(relation, value_discretization_interval=_SIMPLE)),
        ("RDP", lambda: RdpAccountant(neighboring_relation=relation)),
    )
    for name, make in accountants:
        try:
            value = float(make().compose(event).get_epsilon(claim.delta))
        except Exception as error:
            said.append(f"{name} refuses ({type(error).__name__})")
            continue
        said.append(f"{name} {value:.6g} ({_judged(value, bracket.lower, bracket.upper)})")
    return f"{', '.join(said)}; ours {bracket.lower:.6g} .. {bracket.upper:.6g}"


def _judged(value: float, lower: float, upper: float) -> str:
    """Return how an answer that is meant as an upper bound compares with what is proved."""
    if value < lower * (1 - 1e-9):
        return f"below the truth by {1 - value / lower:.1%}"
    if math.isinf(value) and math.isfinite(upper):
        return "infinite for nothing"
    return "agrees" if value <= upper * 1.001 else f"looser by {value / upper - 1:.1%}"
