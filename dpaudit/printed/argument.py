"""The printed reading: a paper's argument, replayed rule by rule, with what does not hold in it."""

import math
from collections.abc import Callable
from dataclasses import dataclass

from dpaudit.engines.basic import total_infinite_mass, total_supremum
from dpaudit.errors import DeclarationError
from dpaudit.model.claim import Claim
from dpaudit.model.declaration import Cells, Declaration, Group, Parallel, Release, Repeat, Stated, children, walk
from dpaudit.model.losses import Composition, group_delta
from dpaudit.model.readings import FailedStep, PrintedReading
from dpaudit.rules import RULES, Budget, Rule, Step
from dpaudit.runtime.plugins import suggestion

_ROUNDING = 1e-9


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
    inferences = tuple(infer(declaration))
    problems = tuple(problem for inference in inferences for problem in inference.problems)
    budget = printed_budget(declaration)
    reaches = budget.epsilon <= claim.epsilon * (1 + _ROUNDING) and budget.delta <= claim.delta * (1 + _ROUNDING)
    if not reaches:
        message = f"the argument ends at ({budget.epsilon:.6g}, {budget.delta:.6g}), which is weaker than the claim"
        problems = (*problems, FailedStep(node="root", rule="claim", message=message))
    return PrintedReading(epsilon=budget.epsilon, delta=budget.delta, valid=not problems, problems=problems)


def infer(declaration: Declaration) -> list[Inference]:
    """Return one inference for each annotated node, parents first."""
    return [
        Inference(path=path, rule=rule, step=step, concluded=rule.conclude(step))
        for path, node in walk(declaration)
        if node.printed is not None
        for rule, step in [_step(node, printed_budget)]
    ]


def printed_budget(node: Declaration) -> Budget:
    """Return the budget the paper has at `node`; where it prints none, what its parts imply.

    Without an annotation a sequence adds up, parallel parts take the largest, cells twice what one is touched,
    a group grows by its size, and one part passes on its own; a release without one takes its exact pure
    epsilon, which is infinite for Gaussian noise.
    """
    if node.printed is not None:
        return Budget(epsilon=node.printed.epsilon, delta=node.printed.delta)
    return implied(node, printed_budget)


def implied(node: Declaration, budget: Callable[[Declaration], Budget]) -> Budget:
    """Return what an unannotated `node` costs when each part costs `budget(part)`."""
    match node:
        case Stated(epsilon=epsilon, delta=delta):
            return Budget(epsilon=epsilon, delta=delta)
        case Release(mechanism=mechanism):
            composition = Composition.of(mechanism.loss())
            return Budget(epsilon=total_supremum(composition)[1], delta=total_infinite_mass(composition)[1])
        case Parallel(parts=parts):
            held = [budget(part) for part in parts]
            return Budget(epsilon=max(b.epsilon for b in held), delta=max(b.delta for b in held))
        case Repeat(part=part, times=times):
            one = budget(part)
            return Budget(epsilon=times * one.epsilon, delta=min(1.0, times * one.delta))
        case Cells(inside=inside, touched=touched):
            same, twice = budget(inside), budget(touched)
            return Budget(
                epsilon=max(same.epsilon, 2 * twice.epsilon), delta=min(1.0, max(same.delta, 2 * twice.delta))
            )
        case Group(part=part, size=size):
            one = budget(part)
            return Budget(epsilon=size * one.epsilon, delta=group_delta(one.epsilon, one.delta, size))
        case _:
            held = [budget(part) for part in children(node)]
            return Budget(epsilon=sum(b.epsilon for b in held), delta=min(1.0, sum(b.delta for b in held)))


def conclude(node: Declaration, leaf: Callable[[Step], float] | None = None) -> Budget:
    """Return what the cited rules give for the noise that `node` really has, at the printed deltas.

    `leaf` replaces the rules of releases by another one; inner nodes keep the rules that are printed. A rule that does
    not speak of its node concludes nothing: an infinite epsilon.
    """
    if node.printed is None:
        return implied(node, lambda part: conclude(part, leaf))
    rule, step = _step(node, lambda part: conclude(part, leaf))
    if rule.misapplied(step):
        return Budget(epsilon=math.inf, delta=node.printed.delta)
    concluded = leaf(step) if leaf is not None and isinstance(node, Release) else rule.conclude(step)
    return Budget(epsilon=concluded, delta=node.printed.delta)


def _step(node: Declaration, budget: Callable[[Declaration], Budget]) -> tuple[Rule, Step]:
    """Return the rule an annotated node cites, and what it is applied to."""
    assert node.printed is not None  # noqa: S101  # callers look first
    if node.printed.rule not in RULES:
        known = suggestion(node.printed.rule, tuple(RULES))
        raise DeclarationError(f"Unknown rule {node.printed.rule!r} in a printed annotation{known}")
    times = node.times if isinstance(node, Repeat) else 1
    parts = tuple((budget(part), times) for part in children(node))
    return RULES[node.printed.rule], Step(node=node, printed=node.printed, parts=parts)
