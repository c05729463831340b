"""A user-supplied function as an audit case."""

from typing import Any

from dpaudit import AuditCase, Claim
from dpaudit.model.case import Run, Score


def function_case(
    function: Run,
    neighbours: tuple[Any, Any],
    claim: Claim,
    *,
    score: Score | None = None,
    name: str = "function",
    view: str = "output",
) -> AuditCase:
    """Return the case that runs `function` on a pair of neighbours under the claim's relation."""
    return AuditCase(
        name=name,
        view=view,
        description="a user-supplied function",
        neighbours=neighbours,
        relation=claim.neighbours,
        run=function,
        score=score,
    )
