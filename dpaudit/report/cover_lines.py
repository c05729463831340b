"""The lines of the cover: claimed, proved, measured, not assessed, to confirm; the same in every format."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, Literal

from dpaudit.checks import Count, Natural
from dpaudit.json_schema import Keywords
from dpaudit.report.compliance.fields import Field, Section
from dpaudit.report.facts import Facts
from dpaudit.report.inputs import ReportInputs
from dpaudit.report.marks import Mark, by_urgency, unattacked_phrase, undischarged
from dpaudit.report.meaning import meaning_of, proved_of
from dpaudit.report.verdicts import Outcome
from dpaudit.wording.audits import position, strongest
from dpaudit.wording.certificates import bound_name
from dpaudit.wording.scores import scores_meaning

Form = Literal["declared", "proved", "measured", "unassessed", "caveat"]
"""How a line looks: what is claimed, proved and measured, what nobody assessed, and what is left to confirm."""

_MOST_NAMED = 6
"""So many conditions without evidence are named on the cover; the table of conditions has all of them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedCondition:
    """A condition with its number in the certificate and its mark."""

    number: Count
    mark: Annotated[Mark, Keywords({"enum": ["assumed", "to confirm"]})]
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CoverLine:
    """A line of the cover: its tag, how it looks, what it says, the conditions below it, how many more there are."""

    tag: str
    form: Form
    text: str
    conditions: tuple[NamedCondition, ...] = ()
    further: Natural = 0


def cover_lines(facts: Facts, section: Section) -> tuple[CoverLine, ...]:
    """Return the lines of the cover, the claim first; `section` is section 0."""
    report, cover = facts.report, {field.name: field for field in section.fields}
    bound = bound_name(report.certificate)
    bound = "not proved" if report.void and bound == "proved" else bound
    form: Form = "proved" if bound == "proved" else "unassessed"
    return (
        CoverLine(tag="claimed", form="declared", text=meaning_of(report)),
        CoverLine(tag=bound, form=form, text=proved_of(report)),
        *_measured(report, cover),
        *_named(cover),
        *_to_confirm(report, facts.outcome),
    )


def _measured(report: ReportInputs, cover: dict[str, Field]) -> Iterator[CoverLine]:
    """Yield what audits of code and of scores measured, and what they did not look at."""
    for audit, name in strongest(report.audits):
        yield CoverLine(tag="measured", form="measured", text=f"{position(audit)[:-1]} ({name}).")
    for scored in report.scores:
        text = f"{scores_meaning(scored.result)} (scores of {scored.file}; sampling as stated)"
        yield CoverLine(tag="measured", form="measured", text=text)
    if report.audits:
        text = cover["Releases that no audit attacked"].value
        yield CoverLine(tag="not attacked", form="unassessed", text=text)
    else:
        text = "No audit ran the code." if report.scores else unattacked_phrase(report)
        yield CoverLine(tag="not assessed", form="unassessed", text=text)


def _named(cover: dict[str, Field]) -> Iterator[CoverLine]:
    """Yield what one person, usefulness and trust mean here, where they mean something."""
    for name, tag in (("One person", "one person"), ("Usefulness", "usefulness"), ("Trusted parties", "trusted")):
        field = cover[name]
        if field.status != "not_applicable":
            form: Form = "unassessed" if field.status == "not_assessed" else "declared"
            yield CoverLine(tag=tag, form=form, text=field.value)


def _to_confirm(report: ReportInputs, outcome: Outcome) -> Iterator[CoverLine]:
    """Yield the caveats and the conditions without evidence; nothing where there are none."""
    told = not report.void or outcome.word == "STATED"
    lines = by_urgency(undischarged(report)) if told else ()
    if lines or outcome.caveats:
        yield CoverLine(
            tag="to confirm",
            form="caveat",
            text=" ".join(outcome.caveats),
            conditions=tuple(
                NamedCondition(number=line.number, mark=line.mark, text=line.condition.text)
                for line in lines[:_MOST_NAMED]
            ),
            further=len(lines[_MOST_NAMED:]),
        )
