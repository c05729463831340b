"""An audit of a synthesizer as a document: the audit first, then the disclosure risks, apart from it."""

from dpaudit.documents.document import Document, Paragraph, Table, document, under
from dpaudit.model.synthesizer_result import AttackRate, SynthesizerResult
from dpaudit.render.audit import audit_document
from dpaudit.wording.numerals import nearest, whole

_TITLE = "Disclosure risks, no part of the verdict"


def synthesizer_document(result: SynthesizerResult) -> Document:
    """Return an audit of a synthesizer as a document, for the terminal, Markdown and pages."""
    rows = tuple(
        (risk.name, _phrase(risk.rate), _phrase(risk.base), "yes" if risk.above_base else "not shown")
        for risk in result.risks
    )
    head = ("attack", "records", "control records", "above the base rate")
    return document(
        audit_document(result.audit).blocks,
        under(_TITLE, Paragraph(_meaning(result)), Table(rows, head=head, looks=("quiet", "", "", ""), wrapped=True)),
    )


def _meaning(result: SynthesizerResult) -> str:
    """Return what the rates are, or why there are none."""
    if not result.risks:
        return f"Not measured: {result.unmeasured}."
    return (
        f"One synthetic table was made from {whole(result.records)} records; {whole(result.controls)} others are "
        "controls. An attack that is right about controls as often knows it from the population. Rates with limits at "
        f"confidence {nearest(1 - result.risks[0].significance)}; they bound no epsilon, and a private synthesizer may "
        "have high ones."
    )


def _phrase(rate: AttackRate) -> str:
    """Return a rate with its counts and limits."""
    low, high = rate.limits
    return f"{nearest(rate.rate, 3)} ({rate.right} of {rate.attacks}; {nearest(low, 3)} to {nearest(high, 3)})"
