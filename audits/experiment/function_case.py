"""A user-supplied function as an audit case."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, get_args

from audits.experiment.own_values import NO_VALUES, OwnValues, own_values
from audits.outputs.calls import as_run
from dpaudit import AuditCase, Claim
from dpaudit.arguments import named_arguments
from dpaudit.checks import one_of
from dpaudit.model.case import Score

Arithmetic = Literal["exact", "floating"]
"""What the claim is about: noise in exact arithmetic, or the floating-point values that are released."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FunctionCase(AuditCase):
    """A case that runs a user-supplied function.

    `arithmetic` says whether the claim takes exact arithmetic for granted; if it is "floating", last bits that tell the
    data sets apart are a violation. `fine` names columns of the outputs that follow rounding alone: no attack reads
    them. `own` holds the values of one data set alone: the attack sees which runs show them.

    >>> claim = Claim(epsilon=1.0, neighbours="replace_one")
    >>> function_case(lambda data, rng: data + rng.laplace(), (0.0, 1.0), claim).alone
    True
    """

    arithmetic: Arithmetic = "exact"
    fine: frozenset[str] = frozenset()
    own: OwnValues = NO_VALUES


@named_arguments
def function_case(
    function: Callable[..., Any],
    neighbours: tuple[Any, Any],
    claim: Claim,
    *,
    score: Score | None = None,
    name: str = "function",
    view: str = "output",
    arithmetic: Arithmetic = "exact",
) -> FunctionCase:
    """Return the case that runs `function` on a pair of neighbours under the claim's relation.

    `function` is called as function(data, rng, n_runs); one of (data, rng) or of (data) alone is called once a run.

    >>> claim = Claim(epsilon=1.0, neighbours="replace_one")
    >>> function_case(lambda data, rng, n_runs: data + rng.laplace(size=n_runs), (0.0, 1.0), claim).arithmetic
    'exact'
    """
    run, alone = as_run(function)
    return FunctionCase(
        name=name,
        view=view,
        description="a user-supplied function",
        neighbours=neighbours,
        relation=claim.neighbours,
        run=run,
        score=score,
        alone=alone,
        arithmetic=one_of("arithmetic", arithmetic, get_args(Arithmetic)),
        own=own_values(neighbours),
    )
