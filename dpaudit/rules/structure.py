"""Rules about who contributes to what and who sees it: parallel parts, groups, post-processing, views."""

from dpaudit.model.declaration import Billboard, Cells, Group, Local, Parallel, PostProcess
from dpaudit.model.losses import group_delta
from dpaudit.rules.step import Budget, Step, exceeding, rule


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
    rule("parallel", _largest, _largest_premises, Parallel),
    rule("cells", _cells, _cells_premises, Cells),
    rule("group", _group, _group_premises, Group),
    rule("post_processing", _largest, _largest_premises, PostProcess, Billboard, Local),
    rule("billboard", _largest, _largest_premises, Billboard),
    rule("local", _largest, _largest_premises, Local),
)
