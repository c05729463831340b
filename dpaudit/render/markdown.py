"""Certificates and audits as Markdown, for a comment on a pull request or a step summary."""

from dpaudit.certification.certificate import Certificate
from dpaudit.model.audit_result import AuditResult
from dpaudit.model.measures.claims import MeasuredClaim
from dpaudit.model.measures.ends import Ends
from dpaudit.render.measured import measured_markdown
from dpaudit.render.small_delta import delta_phrase
from dpaudit.report.marks import certificate_word, marks_of
from dpaudit.wording.audits import (
    audit_label,
    audit_meaning,
    claimed_rows,
    lines_sentence,
    measured_rows,
    plan_phrase,
    power_sentence,
    releases_sentence,
    significance_phrase,
)
from dpaudit.wording.certificates import (
    bracket_phrase,
    certificate_meaning,
    engines_phrase,
    printed_sentence,
    slack_sentence,
    width_phrase,
)
from dpaudit.wording.claims import neighbours_phrase
from dpaudit.wording.markdown import bullets, cell, table
from dpaudit.wording.numerals import nearest, powers


def certificate_markdown(certificate: Certificate) -> str:
    """Return a certificate as Markdown."""
    if isinstance(certificate.claim, MeasuredClaim) and isinstance(certificate.tight, Ends):
        return measured_markdown(certificate, certificate.claim, certificate.tight)
    claim, tight = certificate.claim, certificate.tight
    delivered = "stated" if certificate.verdict == "stated" else "delivered"
    parts = [
        f"## {certificate_word(certificate)}",
        cell(certificate_meaning(certificate)),
        bullets(map(powers, certificate.reasons)),
        table(
            ("", "epsilon", "delta"),
            [
                ("claimed", nearest(claim.epsilon), nearest(claim.delta)),
                (f"{delivered} at the claimed delta", bracket_phrase(tight.epsilon), nearest(claim.delta)),
                (f"{delivered} at the claimed epsilon", nearest(claim.epsilon), delta_phrase(certificate)),
            ],
        ),
        _sentence(width_phrase(tight.epsilon)),
        f"Protects {cell(claim.unit)}, in the {claim.model} model; neighbours differ in "
        f"{neighbours_phrase(claim.neighbours)}.",
        *_argument(certificate),
        *_looked_at(certificate),
        f"<sub>{engines_phrase(certificate.engines, certificate.effort)} · source `{certificate.source_digest[:12]}` "
        f"· certificate `{certificate.to_dict()['digest'][:12]}`</sub>",
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _sentence(words: str) -> str:
    """Return words as a sentence, nothing where there are none."""
    return f"{words[0].upper()}{words[1:]}." if words else ""


def audit_markdown(result: AuditResult) -> str:
    """Return an audit as Markdown."""
    rows = [
        ("attack", f"{result.attack}, view `{result.view}`"),
        ("guesses", f"{result.counts.correct} right of {result.counts.guesses}, in {result.runs} runs"),
        ("bound", f"{result.bound} at significance {significance_phrase(result)}"),
        *claimed_rows(result),
        *measured_rows(result.measured),
        *([] if result.plan is None else [("plan", plan_phrase(result.plan))]),
        ("seed", "not recorded" if result.seed is None else str(result.seed)),
    ]
    parts = [
        f"## {audit_label(result.verdict)}: {cell(result.name)}",
        audit_meaning(result),
        cell(result.description),
        table(("", ""), rows),
        power_sentence(result),
        *([] if result.coverage is None else [releases_sentence(result.coverage), lines_sentence(result.coverage)]),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _argument(certificate: Certificate) -> list[str]:
    """Return the printed argument and its slack."""
    parts: list[str] = []
    if certificate.printed is not None:
        problems = (f"{problem.rule} at {problem.node}: {problem.message}" for problem in certificate.printed.problems)
        parts += ["### The printed argument", printed_sentence(certificate.printed), bullets(problems)]
    if certificate.slack is not None:
        rows = [(f"× {nearest(factor.noise_factor)}", factor.sentence) for factor in certificate.slack.factors]
        parts += ["### Slack", slack_sentence(certificate.slack), table(("noise", "why"), rows) if rows else ""]
    return parts


def _looked_at(certificate: Certificate) -> list[str]:
    """Return findings and conditions."""
    findings = "\n".join(f"- **{cell(finding.rule)}** {cell(finding.message)}" for finding in certificate.findings)
    rows = [(line.mark, line.condition.text) for line in marks_of(certificate)]
    return [
        *(["### Findings", findings] if findings else []),
        *(["### Conditions", table(("mark", "condition"), rows)] if rows else []),
    ]
