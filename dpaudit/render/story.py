"""The chapters of `dpaudit demo`, each with one question and the numbers that answer it."""

import math
from collections.abc import Iterable
from pathlib import Path

from dpaudit.certification.certificate import Certificate
from dpaudit.documents.document import Bar, Bars, Block, Document, Paragraph, document, items, judged, under
from dpaudit.model.audit_result import AuditResult
from dpaudit.render.bars import bars
from dpaudit.report.marks import certificate_word
from dpaudit.study.usefulness import Usefulness
from dpaudit.wording.audits import audit_meaning
from dpaudit.wording.certificates import slack_sentence
from dpaudit.wording.claims import claim_parameters, promise
from dpaudit.wording.numerals import at_least_beside, at_most, counted, nearest, powers, whole


def on_paper(certificate: Certificate) -> Document:
    """Return the first chapter: the published claim, proved."""
    claim, slack = certificate.claim, certificate.slack
    return _chapter(
        "1  Is the claim true on paper?",
        "CAPRI is a contextual bandit. Here it chooses insurance plans for groups of patients, from what the RAND "
        f"Health Insurance Experiment recorded, and it claims {claim_parameters(claim)} in the {claim.model} model, "
        "with the noise that its paper prints.",
        judged(certificate_word(certificate), promise(claim)),
        _scale(certificate),
        slack_sentence(slack) if slack else "",
    )


def needed(published: Certificate, tight: Certificate) -> Document:
    """Return the second chapter: the noise that the claim needs."""
    ratio = published.slack.noise_ratio if published.slack else math.nan
    return _chapter(
        "2  How much noise does the claim need?",
        f'The same algorithm with calibration = "tight" adds {nearest(ratio)} times less noise, and its claim is '
        "exactly what it delivers.",
        judged(certificate_word(tight), powers(tight.reasons[0])),
        _scale(tight),
    )


def attacked(audits: tuple[AuditResult, ...]) -> Document:
    """Return the third chapter: attacks on the code."""
    parts: list[Block | str] = [
        "A fair coin picks one of two data sets that differ in one record. The algorithm runs, and an attacker who "
        "sees what the claim lets them see guesses the coin."
    ]
    alike = len({audit.verdict for audit in audits}) == 1
    for audit in audits[:1] if alike else audits:
        parts += [
            judged(audit.verdict, audit_meaning(audit)),
            bars([("claimed", audit.claim.epsilon), ("attacked", audit.epsilon_lower)]),
            _how_sure(audit),
        ]
    return _chapter("3  Does the code deliver it?", *parts, _others(audits[1:]) if alike else "")


def _others(audits: tuple[AuditResult, ...]) -> str:
    """Return what further audits with the same verdict show, in one sentence; nothing without any."""
    if not audits:
        return ""
    bounds = " and ".join(at_least_beside(audit.epsilon_lower, audit.claim.epsilon) for audit in audits)
    more = f"{counted(len(audits), 'more audit')}, of later releases, reached the same verdict"
    return f"{more}: epsilon of at least {bounds}."


def _how_sure(audit: AuditResult) -> str:
    """Return what the bound rests on: the guesses, what is taken for granted, and how often it would be wrong."""
    granted = f", if {audit.assumption}" if audit.assumption else ""
    return (
        f"{audit.counts.correct:,} of {audit.counts.guesses:,} guesses were right; the bound is wrong with "
        f"probability at most {nearest(audit.significance)}{granted}."
    )


def false_claim(audit: AuditResult) -> Document:
    """Return the fourth chapter: the same attack on a claim that is false."""
    return _chapter(
        "4  Would a false claim be noticed?",
        f"The same code, had somebody claimed epsilon = {nearest(audit.claim.epsilon)}:",
        judged(audit.verdict, audit_meaning(audit)),
    )


def useful(usefulness: Usefulness) -> Document:
    """Return the fifth chapter: the front of the study, from the most regret to the least."""
    front = usefulness.front
    if front is None:
        return _chapter("5  What does privacy cost?", f"Not assessed: {usefulness.why}.")
    rows = [(level.label, "", level.regret) for level in front.levels]
    rows += [(point.label, f"epsilon {at_most(point.epsilon)}", point.regret) for point in front.points]
    rows.sort(key=lambda row: -row[2])
    longest = rows[0][2]
    drawn = (Bar(name, regret / longest, nearest(regret, 3), detail=detail) for name, detail, regret in rows)
    return _chapter(
        "5  What does privacy cost?",
        f"Regret a round, simulated with {whole(front.horizon)} users, beside the epsilon of each certificate. Less is "
        "better. Uniform play chooses at random; a blind method adds its noise and sees no data.",
        Bars(tuple(drawn), length=30),
        " ".join(usefulness.sentences),
    )


def files(paths: Iterable[Path]) -> Document:
    """Return the last chapter: what was written."""
    return document(under("6  Something to show", items(map(str, paths))))


def _chapter(title: str, *parts: Block | str) -> Document:
    """Return a heading with paragraphs and other blocks below it."""
    return document(under(title, *(Paragraph(part) if isinstance(part, str) else part for part in parts)))


def _scale(certificate: Certificate) -> Bars:
    """Return claim and proof as bars."""
    return bars([("claimed", certificate.claim.epsilon), ("proved", certificate.tight.epsilon.upper)])
