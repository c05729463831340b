"""The printed reading: a paper's argument, replayed rule by rule, with what does not hold in it."""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TypeAlias

from dpaudit.engines.basic import total_infinite_mass, total_supremum
from dpaudit.errors import DeclarationError
from dpaudit.model import declaration as nodes
from dpaudit.model.claim import Claim, Neighbours
from dpaudit.model.declaration import Declaration, children, walk
from dpaudit.model.losses import Composition, group_delta
from dpaudit.model.moves import relation_below
from dpaudit.model.readings import FailedStep, PrintedReading
from dpaudit.rules import RULES, Budget, Rule, Step
from dpaudit.runtime.plugins import suggestion

_ROUNDING = 1e-9
PartBudget: TypeAlias = Callable[[Declaration, Neighbours], Budget]
"""What a part costs, read for a relation."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Inference:
    """One step of the replay: where, what it cites, what that gives, and the budget the paper has there."""

    path: str
    rule: Rule
    step: Step
    concluded: float

    @property
    def problems(self) -> tuple[FailedStep, ...]:
        """What is wrong with the step as printed."""
        printed = self.step.printed
        messages = list(self.rule.misapplied(self.step) or self.rule.premises(self.step))
        if self.concluded > printed.epsilon * (1 + _ROUNDING):
            messages.append(f"the rule gives epsilon {self.concluded:.6g}, the paper has {printed.epsilon:.6g}")
        if printed.largest_epsilon is not None and printed.epsilon > printed.largest_epsilon:
            messages.append(
                f"the paper states this for epsilon of at most {printed.largest_epsilon:.6g}, here it is "
                f"{printed.epsilon:.6g}"
            )
        return tuple(FailedStep(node=self.path, rule=self.rule.name, message=message) for message in messages)


def is_printed(declaration: Declaration) -> bool:
    """Return whether any node carries a paper's budget."""
    return any(node.printed is not None for _, node in walk(declaration))


def replay(declaration: Declaration, claim: Claim) -> PrintedReading:
    """Return what the paper's own rules conclude for `declaration`, and where they do not.

    Each annotated node is checked against the budgets printed on its parts, so one bad step is reported
    once. The reading is valid when no step has a problem and the last one reaches the claim; a step whose
    conclusion is true although its theorem does not prove it is still a problem, and says so.
    Raises: DeclarationError: an unknown rule.
    """
    inferences = tuple(infer(declaration, claim.neighbours))
    problems = tuple(problem for inference in inferences for problem in inference.problems)
    budget = printed_budget(declaration, claim.neighbours)
    reaches = budget.epsilon <= claim.epsilon * (1 + _ROUNDING) and budget.delta <= claim.delta * (1 + _ROUNDING)
    if not reaches:
        message = f"the argument ends at ({budget.epsilon:.6g}, {budget.delta:.6g}), which is weaker than the claim"
        problems = (*problems, FailedStep(node="root", rule="claim", message=message))
    return PrintedReading(epsilon=budget.epsilon, delta=budget.delta, valid=not problems, problems=problems)


def infer(declaration: Declaration, neighbours: Neighbours) -> list[Inference]:
    """Return one inference for each annotated node, parents first, of a tree that is read for `neighbours`."""
    return list(_inferences(declaration, neighbours, "root"))


def _inferences(node: Declaration, neighbours: Neighbours, path: str) -> Iterator[Inference]:
    """Yield the inference of a node, if it is annotated, then those of its parts."""
    if node.printed is not None:
        rule, step = _step(node, neighbours, printed_budget)
        yield Inference(path=path, rule=rule, step=step, concluded=rule.conclude(step))
    for i, part in enumerate(children(node)):
        yield from _inferences(part, relation_below(node, i, neighbours), f"{path}.{i}")


def printed_budget(node: Declaration, neighbours: Neighbours) -> Budget:
    """Return the budget the paper has at `node`; where it prints none, what its parts imply.

    Without an annotation a sequence adds up, parallel parts take the largest, cells twice what one is touched,
    a group grows by its size, and one part passes on its own; a sample counts the records of its part that one move
    of the whole changes, and secret steps how often they meet the record. A release takes its exact pure epsilon,
    which is infinite for Gaussian noise. `neighbours` is the relation that `node` is read for.
    """
    if node.printed is not None:
        return Budget(epsilon=node.printed.epsilon, delta=node.printed.delta)
    return implied(node, neighbours, printed_budget)


def implied(node: Declaration, neighbours: Neighbours, budget: PartBudget) -> Budget:
    """Return what an unannotated `node` costs when each part costs what `budget` says for the part's own relation."""
    costs = _costs(node, neighbours, budget)
    match node:
        case nodes.Stated(epsilon=epsilon, delta=delta):
            return Budget(epsilon=epsilon, delta=delta)
        case nodes.Release(mechanism=mechanism):
            composition = Composition.of(mechanism.loss())
            return Budget(epsilon=total_supremum(composition)[1], delta=total_infinite_mass(composition)[1])
        case nodes.Parallel():
            return Budget(epsilon=max(cost.epsilon for cost in costs), delta=max(cost.delta for cost in costs))
        case nodes.Repeat(times=times):
            return _repeated(costs[0], times)
        case nodes.Cells():
            inside, touched = costs
            return Budget(
                epsilon=max(inside.epsilon, 2 * touched.epsilon),
                delta=min(1.0, max(inside.delta, 2 * touched.delta)),
            )
        case nodes.Group(size=size):
            return _grouped(costs[0], size)
        case nodes.Subsample() | nodes.Allocate():
            changed = _grouped(costs[0], _changed_records(node, neighbours))
            return _repeated(changed, node.per_epoch * node.epochs if isinstance(node, nodes.Allocate) else 1)
        case _:
            return Budget(
                epsilon=sum(cost.epsilon for cost in costs), delta=min(1.0, sum(cost.delta for cost in costs))
            )


def _costs(node: Declaration, neighbours: Neighbours, budget: PartBudget) -> list[Budget]:
    """Return what each part of `node` costs, read for the part's own relation."""
    return [budget(part, relation_below(node, i, neighbours)) for i, part in enumerate(children(node))]


def _repeated(cost: Budget, times: int) -> Budget:
    """Return what a part costs that is met `times` times."""
    return Budget(epsilon=times * cost.epsilon, delta=min(1.0, times * cost.delta))


def _grouped(cost: Budget, size: int) -> Budget:
    """Return what a part costs where `size` records change."""
    return Budget(epsilon=size * cost.epsilon, delta=group_delta(cost.epsilon, cost.delta, size))


def _changed_records(node: nodes.Subsample | nodes.Allocate, neighbours: Neighbours) -> int:
    """Return how many times a part's own relation one move of the whole is at most, beside the amplification.

    Where a record is replaced in a Poisson sample or at secret steps, one leaves the part and another one enters it; so
    it is where a record displaces another one of a sample that is cut. Draws with replacement may all be one record.
    """
    scheme = node.scheme if isinstance(node, nodes.Subsample) else "poisson"
    if scheme == "with_replacement":
        return node.batch_size or 1 if isinstance(node, nodes.Subsample) else 1
    return 2 if scheme == "truncated_poisson" or (scheme == "poisson" and neighbours == "replace_one") else 1


def conclude(node: Declaration, neighbours: Neighbours, leaf: Callable[[Step], float] | None = None) -> Budget:
    """Return what the cited rules give for the noise that `node` really has, at the printed deltas.

    `leaf` replaces the rules of releases by another one; inner nodes keep the rules that are printed. A rule that does
    not speak of its node concludes nothing: an infinite epsilon.
    """

    def concluded_of(part: Declaration, relation: Neighbours) -> Budget:
        return conclude(part, relation, leaf)

    if node.printed is None:
        return implied(node, neighbours, concluded_of)
    rule, step = _step(node, neighbours, concluded_of)
    if rule.misapplied(step):
        return Budget(epsilon=math.inf, delta=node.printed.delta)
    concluded = leaf(step) if leaf is not None and isinstance(node, nodes.Release) else rule.conclude(step)
    return Budget(epsilon=concluded, delta=node.printed.delta)


def _step(node: Declaration, neighbours: Neighbours, budget: PartBudget) -> tuple[Rule, Step]:
    """Return the rule an annotated node cites, and what it is applied to."""
    assert node.printed is not None  # noqa: S101  # callers look first
    if node.printed.rule not in RULES:
        rules = suggestion(node.printed.rule, tuple(RULES))
        raise DeclarationError(f"Unknown rule {node.printed.rule!r} in a printed annotation{rules}")
    times = node.times if isinstance(node, nodes.Repeat) else 1
    parts = tuple((cost, times) for cost in _costs(node, neighbours, budget))
    return RULES[node.printed.rule], Step(node=node, printed=node.printed, parts=parts)
