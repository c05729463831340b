"""The marks of conditions: proved, checked by a run, confirmed by a person, left to confirm, assumed, violated."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from dpaudit.certification.certificate import Certificate
from dpaudit.model.condition import Condition
from dpaudit.model.condition_kinds import KINDS, ConditionKind
from dpaudit.report.inputs import ReportInputs
from dpaudit.report.releases import leaves
from dpaudit.runtime.tables import table_of
from dpaudit.wording.verdicts import CAVEATS, Tone, verdict_label

Mark = Literal["proved", "checked", "confirmed", "to confirm", "assumed", "violated"]


@dataclass(frozen=True, slots=True, kw_only=True)
class MarkWord:
    """The sign of a mark, its tone, and what it means."""

    sign: str
    tone: Tone
    meaning: str


_WORDS: dict[Any, dict[str, Any]] = table_of("dpaudit.report", "marks.toml")
MARKS: dict[Mark, MarkWord] = {mark: MarkWord(**row) for mark, row in _WORDS.items()}
"""Every mark, the most urgent first."""

_TOLD: tuple[Mark, ...] = ("confirmed", "assumed")
"""The marks beside which the reason of a person is shown."""

OPEN: tuple[Mark, ...] = ("assumed", "to confirm")
"""The marks of conditions without evidence."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Marked:
    """A condition with its number in the certificate, its mark, and the reason that a person gave."""

    number: int
    condition: Condition
    mark: Mark
    because: str = ""

    @property
    def text(self) -> str:
        """The condition, with the reason that a person gave; it is no evidence of what a run could show."""
        if not self.because:
            return self.condition.text
        told = "Confirmed" if self.mark == "confirmed" else "The owner's word, which is no evidence"
        return f"{self.condition.text} {told}: {self.because}"


def marks_of(certificate: Certificate, reasons: Mapping[ConditionKind, str] | None = None) -> tuple[Marked, ...]:
    """Return every condition of a certificate with its mark, in the certificate's order.

    `reasons` has what a person confirms, by the kind of condition; the same marks stand on a terminal and in a report.
    """
    sampled_exactly = samplers_are_exact(certificate)
    lines: list[Marked] = []
    for number, condition in enumerate(certificate.conditions, start=1):
        because = (reasons or {}).get(condition.kind, "")
        mark = _mark(condition, confirmed=bool(because), sampled_exactly=sampled_exactly)
        lines.append(Marked(number=number, condition=condition, mark=mark, because=because if mark in _TOLD else ""))
    return tuple(lines)


def marked(report: ReportInputs) -> tuple[Marked, ...]:
    """Return every condition of a report's certificate with its mark and the reasons of the deployment."""
    reasons: dict[ConditionKind, str] = {
        assertion.kind: assertion.because for assertion in report.deployment.assertions
    }
    return marks_of(report.certificate, reasons)


def watched(report: ReportInputs) -> bool:
    """Return whether a run was looked at: it left findings, or conditions that no computation alone shows."""
    shown = any(line.mark in ("checked", "violated") for line in marked(report))
    return shown or bool(report.certificate.findings)


def unattacked_phrase(report: ReportInputs) -> str:
    """Return what is said where no audit is part of a report; a run that was watched is none, and is not denied."""
    if watched(report):
        return (
            "No attack on the output is part of this report. What a watched run showed stands in its conditions and "
            "findings."
        )
    return "Nobody attacked the running code."


def certificate_word(certificate: Certificate) -> str:
    """Return the word of a certificate's verdict, with the caveats of a report in which nobody confirms anything.

    A claim is plainly certified where each condition was proved or checked; an audit is no part of a certificate.
    """
    word = verdict_label(certificate.verdict)
    caveats = any(line.mark in OPEN for line in marks_of(certificate))
    return word + CAVEATS if certificate.verdict == "certified" and caveats else word


def by_urgency(lines: tuple[Marked, ...]) -> tuple[Marked, ...]:
    """Return conditions with their marks: violated ones first, then those without evidence, then the others."""
    order = tuple(MARKS)
    return tuple(sorted(lines, key=lambda line: (order.index(line.mark), line.number)))


def undischarged(report: ReportInputs) -> tuple[Marked, ...]:
    """Return the conditions that nothing and nobody vouches for, and that no run saw violated."""
    return tuple(line for line in marked(report) if line.mark in OPEN)


def samplers_are_exact(certificate: Certificate) -> bool:
    """Return whether every declared release is drawn by a sampler in integers, without floating point."""
    mechanisms = [leaf.node.mechanism for leaf in leaves(certificate.declaration)]
    return bool(mechanisms) and all(getattr(mechanism, "exact_sampler", False) for mechanism in mechanisms)


def _mark(condition: Condition, *, confirmed: bool, sampled_exactly: bool) -> Mark:
    """Return the mark of one condition."""
    if condition.status == "violated":
        return "violated"
    if condition.status == "checked":
        return "proved" if KINDS[condition.kind].shown_by == "computation" else "checked"
    if condition.kind == "floating_point" and sampled_exactly:
        return "proved"
    if KINDS[condition.kind].shown_by == "person":
        return "confirmed" if confirmed else "to confirm"
    return "assumed"
