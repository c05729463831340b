"""Rules about who contributes to what and who sees it: parallel parts, groups, post-processing, views."""

from dpaudit.model.declaration import Billboard, Cells, Group, Local, Parallel, PostProcess
from dpaudit.model.losses import group_delta
from dpaudit.rules.step import Budget, Rule, Step, exceeding


def _largest(step: Step) -> float:
    """The largest epsilon of a part."""
    return step.largest.epsilon


def _largest_premises(step: Step) -> tuple[str, ...]:
    """The largest delta of a part must fit."""
    return exceeding("delta", step.largest.delta, step.printed.delta)


def _size(step: Step) -> int:
    """The size of the group."""
    return step.node.size if isinstance(step.node, Group) else 1


def _group(step: Step) -> float:
    """Vadhan (2017), Lemma 2.2: epsilon grows with the size of the group."""
    return step.largest.epsilon * _size(step)


def _group_premises(step: Step) -> tuple[str, ...]:
    """Delta grows by (e^(k epsilon) - 1) / (e^epsilon - 1)."""
    delta = group_delta(step.largest.epsilon, step.largest.delta, _size(step))
    return exceeding("delta", delta, step.printed.delta)


def _cell_budgets(step: Step) -> tuple[Budget, Budget]:
    """The budgets of the same cell and of one cell of a record against none; of any other node its largest twice."""
    if not isinstance(step.node, Cells):
        return step.largest, step.largest
    (inside, _), (touched, _) = step.parts
    return inside, touched


def _cells(step: Step) -> float:
    """A replaced record stays in its cell, or empties one and fills another."""
    inside, touched = _cell_budgets(step)
    return max(inside.epsilon, 2 * touched.epsilon)


def _cells_premises(step: Step) -> tuple[str, ...]:
    """What one cell costs is met twice, and so must fit twice."""
    inside, touched = _cell_budgets(step)
    problems: list[str] = []
    if 2 * touched.epsilon > step.printed.epsilon * (1 + 1e-9):
        problems.append(
            f"replacing a record empties one cell and fills another: {touched.epsilon:.6g} is met twice, "
            f"the paper counts it once"
        )
    return (*problems, *exceeding("delta", max(inside.delta, 2 * touched.delta), step.printed.delta))


STRUCTURE_RULES = (
    Rule(
        name="parallel",
        title="parallel composition",
        formula="the largest budget of a part",
        source="McSherry (2009), Theorem 4",
        side_conditions=("a record touches one part, and not by its own value",),
        conclude=_largest,
        premises=_largest_premises,
        nodes=(Parallel,),
    ),
    Rule(
        name="cells",
        title="cells picked by the record's value",
        formula="max(same cell, 2 x one cell of a record against none)",
        source="Dwork, McSherry, Nissim and Smith (2006), Proposition 1, at the two cells that a replacement changes",
        side_conditions=("a record fills exactly one cell; every other cell receives noise alone",),
        conclude=_cells,
        premises=_cells_premises,
        nodes=(Cells,),
    ),
    Rule(
        name="group",
        title="group privacy",
        formula="(k epsilon, delta (e^(k epsilon) - 1) / (e^epsilon - 1))",
        source="Vadhan (2017), Lemma 2.2, with the geometric sum; Dwork and Roth (2014), Theorem 2.2, at delta 0",
        side_conditions=("a person owns at most k records",),
        conclude=_group,
        premises=_group_premises,
        nodes=(Group,),
    ),
    Rule(
        name="post_processing",
        title="post-processing",
        formula="the budget of what is processed",
        source="Dwork and Roth (2014), Proposition 2.1",
        side_conditions=("no data is read again",),
        conclude=_largest,
        premises=_largest_premises,
        nodes=(PostProcess, Billboard, Local),
    ),
    Rule(
        name="billboard",
        title="billboard lemma",
        formula="a central (epsilon, delta) of the billboard is a joint one of what users make of it",
        source="Hsu, Huang, Roth, Roughgarden and Wu (2014), Lemma 9",
        side_conditions=("a user's output reads the billboard and their own record only",),
        conclude=_largest,
        premises=_largest_premises,
        nodes=(Billboard,),
    ),
    Rule(
        name="local",
        title="local randomiser",
        formula="a user's budget is that of their own message",
        source="Kasiviswanathan, Lee, Nissim, Raskhodnikova and Smith (2011)",
        side_conditions=("one message a user",),
        conclude=_largest,
        premises=_largest_premises,
        nodes=(Local,),
    ),
)
