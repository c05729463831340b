"""The verdict of a received report: what follows from the certificate, the audits and the scores that it holds."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from dpaudit.certification.certificate import Certificate
from dpaudit.configuration.scores_document import decode_scores
from dpaudit.configuration.tables import read_object
from dpaudit.errors import DPAuditError
from dpaudit.model.audit_result import AuditResult
from dpaudit.model.codec import encode
from dpaudit.model.condition_kinds import ConditionKind
from dpaudit.model.scores_result import ScoresResult
from dpaudit.report.marks import OPEN, Marked, marks_of
from dpaudit.report.verdicts import verdict_of

_BESIDE = ("schema", "blind_delta", "against")
_LONGEST = 200


def contradictions(data: Mapping[str, Any]) -> Iterator[str]:
    """Yield where the verdict of a report, as plain data, is not what the rest of it amounts to.

    Guarantee: without a contradiction the report's word follows from its certificate, its audits and its scores; each
    audit is of the certificate's claim, and so are scores; no audit whose bound exceeds the claim or the certificate is
    called anything but a violation; every mark of a condition is that of the certificate, or confirmed with a reason;
    and a report without caveats leaves nothing open. The numbers of audits and scores are read, not measured again.
    """
    try:
        certificate = Certificate.from_json(json.dumps(data["certificate"]))
        audits = tuple(map(_audit, data["audits"]))
        scores = tuple(decode_scores(evidence["result"]) for evidence in data["scores"])
        reasons: dict[ConditionKind, str] = {
            condition.kind: line["because"]
            for condition, line in zip(certificate.conditions, data["marks"], strict=True)
            if line["because"]
        }
        marks = marks_of(certificate, reasons)
        stated = [(line["number"], line["mark"]) for line in data["marks"]]
        word, shown, caveats = data["verdict"], data["word"], data["caveats"]
    except (DPAuditError, ArithmeticError, AttributeError, KeyError, TypeError, ValueError) as error:
        yield f"the report is malformed: {error!s:.{_LONGEST}}"
        return
    exceeded = any(result.exceeds_claim for result in scores)
    verdicts = tuple(audit.verdict for audit in audits)
    followed = verdict_of(certificate, verdicts, exceeded=exceeded, caveats=bool(caveats))[0]
    for said in (word, shown):
        if said not in (followed, followed.replace("CERTIFIED", "PROVED")):
            yield f"the report says {said!s:.40}, and {followed} follows from what it holds"
    if stated != [(line.number, line.mark) for line in marks]:
        yield "the marks of conditions are not those of the certificate"
    yield from _misjudged(certificate, audits, scores)
    if not caveats and certificate.verdict in ("certified", "stated"):
        yield from (f"no caveat says that {left}" for left in _left_open(marks, audits, scores))


def _audit(data: Mapping[str, Any]) -> AuditResult:
    """Return the audit that `AuditResult.to_dict` wrote. Raises: Fault: another form, or a value out of its range."""
    table = {key: value for key, value in data.items() if key not in _BESIDE}
    against = data["against"]
    return read_object(AuditResult, table | {"claim": against["claim"], "certified": against["certificate"]})


def _misjudged(
    certificate: Certificate, audits: tuple[AuditResult, ...], scores: tuple[ScoresResult, ...]
) -> Iterator[str]:
    """Yield each audit of another claim, and each that calls what it shows no violation."""
    for audit in audits:
        if encode(audit.claim) != encode(certificate.claim):
            yield f"audit {audit.name!r:.80} is of another claim than the certificate"
        if audit.verdict != "violation" and (audit.exceeds_claim or audit.epsilon_lower > audit.certified):
            yield f"audit {audit.name!r:.80} shows more than is claimed or declared, and is called {audit.verdict}"
        if audit.verdict in ("consistent", "not_refuted") and audit.power.kind == "none":
            yield f"audit {audit.name!r:.80} would have caught nothing, and is called {audit.verdict}"
    for result in scores:
        if encode(result.claim) != encode(certificate.claim):
            yield "scores are of another claim than the certificate"


def _left_open(
    marks: tuple[Marked, ...], audits: tuple[AuditResult, ...], scores: tuple[ScoresResult, ...]
) -> Iterator[str]:
    """Yield what a report without caveats may not leave open."""
    yield from (f"condition C{line.number} is {line.mark}" for line in marks if line.mark in OPEN)
    yield from (f"audit {audit.name!r:.80} was inconclusive" for audit in audits if audit.verdict == "inconclusive")
    departed = [audit for audit in audits if audit.plan is not None and audit.plan.departures]
    yield from (f"audit {audit.name!r:.80} departed from its plan" for audit in departed)
    if scores or not audits:
        yield "the sampling of scores is stated" if scores else "nobody attacked the code"
