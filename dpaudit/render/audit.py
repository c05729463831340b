"""Audits of code and of scores as documents: the verdict first, then the evidence."""

from dpaudit.documents.document import Document, Paragraph, Table, document, judged, under
from dpaudit.model.audit_result import AuditResult
from dpaudit.model.scores_result import ScoresResult
from dpaudit.render.bars import bars
from dpaudit.wording.audits import (
    audit_meaning,
    claimed_rows,
    lines_sentence,
    measured_rows,
    plan_phrase,
    power_sentence,
    releases_sentence,
    significance_phrase,
)
from dpaudit.wording.claims import claim_parameters, neighbours_phrase
from dpaudit.wording.numerals import at_least, nearest, whole
from dpaudit.wording.scores import (
    area_phrase,
    ceiling_sentence,
    counts_phrase,
    rate_phrase,
    raw_phrase,
    sampling_phrase,
    scores_meaning,
)

Rows = tuple[tuple[str, str], ...]


def audit_document(result: AuditResult) -> Document:
    """Return an audit of code."""
    rows: Rows = (
        ("attack", f"{result.attack}, on what the adversary sees as '{result.view}'"),
        ("guesses", f"{result.counts.correct} right of {result.counts.guesses}, in {result.runs} runs"),
        ("bound", f"{result.bound}, wrong with probability at most {significance_phrase(result)}"),
        *(("assumes", held.assumption) for held in result.bounds if held.name == result.bound and held.assumption),
        *claimed_rows(result),
        *measured_rows(result.measured),
        ("power", power_sentence(result)),
        *(("remark", remark) for remark in result.remarks),
        *_coverage(result),
        *([] if result.plan is None else [("plan", plan_phrase(result.plan))]),
        ("seed", "not recorded" if result.seed is None else str(result.seed)),
    )
    claimed = ("claimed" if result.tested is None else "implied", result.claimed_epsilon)
    return document(
        judged(result.verdict, audit_meaning(result), subject=result.name),
        Paragraph(result.description),
        Table(rows, looks=("quiet", "")),
        bars([claimed, ("proved", result.certified), ("attacked", result.epsilon_lower)]),
    )


def scores_document(result: ScoresResult) -> Document:
    """Return an audit of scores; the first of its bounds decides."""
    bounds = tuple(
        (bound.name, at_least(bound.epsilon), bound.assumption or ("decides" if number == 0 else "nothing"))
        for number, bound in enumerate(result.bounds)
    )
    return document(
        judged(result.verdict, scores_meaning(result)),
        under("Evidence", Table(_evidence(result), looks=("quiet", ""))),
        under("Bounds on epsilon", Table(bounds, head=("bound", "epsilon", "assumes"), looks=("quiet", "value", ""))),
        under("Attack", Table(_attack(result), looks=("quiet", ""))),
        bars([("claimed", result.claim.epsilon), ("attacked", result.epsilon_lower)]),
        Paragraph(ceiling_sentence(result), quiet=True),
    )


def _coverage(result: AuditResult) -> Rows:
    """Return what the audit covers of its program; nothing where it belongs to none."""
    if result.coverage is None:
        return ()
    return (("releases", releases_sentence(result.coverage)), ("lines", lines_sentence(result.coverage)))


def _evidence(result: ScoresResult) -> Rows:
    """Return claim, sampling and counts."""
    declared = result.declared
    told = () if declared is None else (("declared", f"{declared.text}: {'' if declared.refuted else 'not '}refuted"),)
    return (
        ("claimed", f"{claim_parameters(result.claim)}; {neighbours_phrase(result.claim.neighbours)}"),
        *told,
        ("scores", f"{whole(result.members)} of members, {whole(result.others)} of others"),
        ("sampling", sampling_phrase(result.sampling)),
        ("counts", counts_phrase(result)),
        *measured_rows(result.measured),
        ("error", f"a true claim is rejected with probability at most {nearest(result.significance)}"),
    )


def _attack(result: ScoresResult) -> Rows:
    """Return how well the scores tell members from others."""
    rates = ((f"TPR at {nearest(rate.false_positive_rate)}", rate_phrase(rate)) for rate in result.rates)
    return (("AUROC", area_phrase(result)), *rates, ("raw counts", raw_phrase(result)))
