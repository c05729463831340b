"""Audits of code, of scores and of a synthesizer as documents: the verdict first, then the evidence."""

from dpaudit.documents.document import Document, Paragraph, Table, document, judged, under
from dpaudit.model.audit_result import AuditResult
from dpaudit.model.scores_result import ScoresResult
from dpaudit.model.synthesizer_result import AttackRate, SynthesizerResult
from dpaudit.render.bars import bars
from dpaudit.wording.audits import audit_facts, audit_meaning, power_sentence
from dpaudit.wording.claims import claim_parameters, neighbours_phrase
from dpaudit.wording.numerals import at_most, nearest, whole
from dpaudit.wording.scores import (
    BOUNDS_HEAD,
    raw_phrase,
    scores_bounds,
    scores_evidence,
    scores_meaning,
    scores_rates,
)


def audit_document(result: AuditResult) -> Document:
    """Return an audit of code."""
    claimed = ("claimed" if result.tested is None else "implied", result.claimed_epsilon)
    rows = {"power": power_sentence(result), **audit_facts(result)}
    return document(
        judged(result.verdict, audit_meaning(result), subject=result.name),
        Table(tuple(rows.items()), looks=("quiet", "")),
        bars([claimed, ("proved", result.certified), ("attacked", result.epsilon_lower)]),
    )


def scores_document(result: ScoresResult) -> Document:
    """Return an audit of scores; the first of its bounds decides."""
    claimed = f"{claim_parameters(result.claim)}; {neighbours_phrase(result.claim.neighbours)}"
    evidence = (("claimed", claimed), *scores_evidence(result))
    attack = (*scores_rates(result), ("raw counts", raw_phrase(result)))
    ceiling = f"No scores, however sharp, show more than {at_most(result.ceiling)} by this rule with so many."
    return document(
        judged(result.verdict, scores_meaning(result)),
        under("Evidence", Table(evidence, looks=("quiet", ""))),
        under("Bounds on epsilon", Table(scores_bounds(result), head=BOUNDS_HEAD, wrapped=True)),
        under("Attack", Table(attack, looks=("quiet", ""))),
        bars([("claimed", result.claim.epsilon), ("attacked", result.epsilon_lower)]),
        Paragraph(ceiling, quiet=True),
    )


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
