"""The marks of conditions: proved, looked at by a run, asserted by a person, left to a person, assumed, violated."""

from dataclasses import dataclass
from typing import Literal

from dpaudit.model.condition import Condition
from dpaudit.model.condition_kinds import ConditionKind
from dpaudit.report.inputs import ReportInputs
from dpaudit.report.releases import leaves

Mark = Literal["proved", "looked at", "asserted", "for a person", "assumed", "violated"]

MARK_WORDS: dict[Mark, str] = {
    "proved": "a computation over the whole domain, or the construction itself, shows it",
    "looked at": "it held in every run that was watched; another run may differ",
    "asserted": "only a person can know it, and the deployment file says why it holds",
    "for a person": "only a person can know it, and nobody has said so",
    "assumed": "a run or a proof could show it; none did",
    "violated": "a run or a computation saw that it does not hold",
}
"""The meaning of each mark; three of them discharge a condition."""

_PROVED: frozenset[ConditionKind] = frozenset(("attained", "floating_point", "whole_domain"))
"""Kinds that are checked by a computation about every input, not by watching a run."""

FOR_A_PERSON: frozenset[ConditionKind] = frozenset(
    (
        "public_length",
        "public_key",
        "one_part",
        "contribution_bound",
        "secret_sample",
        "secret_order",
        "secret_positions",
        "no_data_read",
        "own_inputs_only",
        "independent_users",
        "whole_record",
        "one_appearance",
        "one_message",
        "stated",
        "limit_fixed_first",
        "public_refusals",
        "parts_in_order",
        "nothing_outside",
    )
)
"""Kinds about the system around the code, which no run of the code can show."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Marked:
    """A condition with its number in the certificate, its mark, and the reason that a person gave."""

    number: int
    condition: Condition
    mark: Mark
    because: str = ""


def marked(report: ReportInputs) -> tuple[Marked, ...]:
    """Return every condition of the certificate with its mark, in the certificate's order."""
    reasons = {assertion.kind: assertion.because for assertion in report.deployment.assertions}
    sampled_exactly = samplers_are_exact(report)
    lines: list[Marked] = []
    for number, condition in enumerate(report.certificate.conditions, start=1):
        because = reasons.get(condition.kind, "")
        mark = _mark(condition, asserted=bool(because), sampled_exactly=sampled_exactly)
        lines.append(
            Marked(number=number, condition=condition, mark=mark, because=because if mark == "asserted" else "")
        )
    return tuple(lines)


def undischarged(report: ReportInputs) -> tuple[Marked, ...]:
    """Return the conditions that nothing and nobody vouches for, and that no run saw violated."""
    return tuple(line for line in marked(report) if line.mark in ("assumed", "for a person"))


def samplers_are_exact(report: ReportInputs) -> bool:
    """Return whether every declared release is drawn by a sampler in integers, without floating point."""
    mechanisms = [leaf.node.mechanism for leaf in leaves(report.certificate.declaration)]
    return bool(mechanisms) and all(getattr(mechanism, "exact_sampler", False) for mechanism in mechanisms)


def _mark(condition: Condition, *, asserted: bool, sampled_exactly: bool) -> Mark:
    """Return the mark of one condition."""
    if condition.status == "violated":
        return "violated"
    if condition.status == "checked":
        return "proved" if condition.kind in _PROVED else "looked at"
    if condition.kind == "floating_point" and sampled_exactly:
        return "proved"
    if condition.kind in FOR_A_PERSON:
        return "asserted" if asserted else "for a person"
    return "assumed"
