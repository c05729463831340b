"""Audits of code and of scores as documents: the verdict first, then the evidence."""

from dpaudit.documents.document import Document, Paragraph, Table, document, judged, under
from dpaudit.model.audit_result import AuditResult
from dpaudit.model.scores_result import ScoresResult
from dpaudit.render.bars import bars
from dpaudit.wording.audits import audit_facts, audit_meaning, power_sentence
from dpaudit.wording.claims import claim_parameters, neighbours_phrase
from dpaudit.wording.numerals import at_most
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
