"""Rules about who contributes to what and who sees it: parallel parts, groups, post-processing, views."""

import math
from collections.abc import Callable

from dpaudit.declaration import Billboard, Group, Local
from dpaudit.rules.step import Rule, Step, exceeding


def _largest(step: Step) -> float:
    """The largest epsilon of a part."""
    return step.largest.epsilon


def _largest_premises(step: Step) -> tuple[str, ...]:
    """The largest delta of a part must fit."""
    return exceeding("delta", step.largest.delta, step.printed.delta)


def _group(step: Step) -> float:
    """Dwork and Roth (2014), Theorem 2.2: epsilon grows with the size of the group."""
    return step.largest.epsilon * (step.node.size if isinstance(step.node, Group) else math.inf)


def _group_premises(step: Step) -> tuple[str, ...]:
    """Delta grows by (e^(k epsilon) - 1) / (e^epsilon - 1)."""
    if not isinstance(step.node, Group):
        return ("the rule is about a group of records, and this node is none",)
    epsilon, size = step.largest.epsilon, step.node.size
    growth = math.expm1(size * epsilon) / math.expm1(epsilon) if epsilon else size
    return exceeding("delta", step.largest.delta * growth, step.printed.delta)


def _kind_premises(kind: type, what: str) -> Callable[[Step], tuple[str, ...]]:
    """Return premises of a rule that speaks of one kind of node."""

    def premises(step: Step) -> tuple[str, ...]:
        wrong = () if isinstance(step.node, kind) else (f"the rule is about {what}, and this node is none",)
        return (*wrong, *_largest_premises(step))

    return premises


STRUCTURE_RULES = (
    Rule(
        name="parallel",
        title="parallel composition",
        formula="the largest budget of a part",
        source="McSherry (2009), Theorem 4",
        side_conditions=("a record touches one part, and not by its own value",),
        conclude=_largest,
        premises=_largest_premises,
    ),
    Rule(
        name="group",
        title="group privacy",
        formula="(k epsilon, delta (e^(k epsilon) - 1) / (e^epsilon - 1))",
        source="Dwork and Roth (2014), Theorem 2.2",
        side_conditions=("a person owns at most k records",),
        conclude=_group,
        premises=_group_premises,
    ),
    Rule(
        name="post_processing",
        title="post-processing",
        formula="the budget of what is processed",
        source="Dwork and Roth (2014), Proposition 2.1",
        side_conditions=("no data is read again",),
        conclude=_largest,
        premises=_largest_premises,
    ),
    Rule(
        name="billboard",
        title="billboard lemma",
        formula="a central (epsilon, delta) of the billboard is a joint one of what users make of it",
        source="Hsu, Huang, Roth, Roughgarden and Wu (2014), Lemma 2.5",
        side_conditions=("a user's output reads the billboard and their own record only",),
        conclude=_largest,
        premises=_kind_premises(Billboard, "a public billboard"),
    ),
    Rule(
        name="local",
        title="local randomiser",
        formula="a user's budget is that of their own message",
        source="Kasiviswanathan, Lee, Nissim, Raskhodnikova and Smith (2011)",
        side_conditions=("one message a user",),
        conclude=_largest,
        premises=_kind_premises(Local, "a user's own message"),
    ),
)
