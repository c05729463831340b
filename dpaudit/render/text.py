"""Certificates and audits on a terminal: the verdict first, then the evidence."""

import math
from typing import assert_never

from rich.console import Group, RenderableType
from rich.text import Text

from dpaudit.certification.certificate import Certificate
from dpaudit.model.audit_result import AuditResult, AuditVerdict
from dpaudit.model.measures.claims import MeasuredClaim
from dpaudit.model.measures.ends import Ends
from dpaudit.model.readings import Factor, Verdict
from dpaudit.render.layout import columns, headline, inset, section
from dpaudit.render.measured import measured_text
from dpaudit.render.small_delta import delta_phrase
from dpaudit.report.marks import Mark, by_urgency, certificate_word, marks_of
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
    bound_name,
    bracket_phrase,
    certificate_meaning,
    engines_phrase,
    printed_sentence,
    slack_sentence,
    width_phrase,
)
from dpaudit.wording.claims import claim_parameters, neighbours_phrase
from dpaudit.wording.numerals import at_least, at_most, nearest, powers

_BAR = 44


def certificate_text(certificate: Certificate) -> RenderableType:
    """Return a certificate for a terminal of any width."""
    if isinstance(certificate.claim, MeasuredClaim) and isinstance(certificate.tight, Ends):
        return measured_text(certificate, certificate.claim, certificate.tight)
    return Group(
        headline(certificate_word(certificate), colour(certificate.verdict), certificate_meaning(certificate)),
        *_reasons(certificate),
        section("Claim"),
        columns(_claim_rows(certificate), "dim", ""),
        *_scale(certificate),
        *_printed(certificate),
        *_slack(certificate),
        *_findings(certificate),
        *_conditions(certificate),
        Text(),
        inset(_origin(certificate), style="dim"),
    )


def comparison_text(sentences: tuple[str, ...]) -> tuple[RenderableType, ...]:
    """Return what another accounting would have said, for the end of a certificate; nothing without sentences."""
    if not sentences:
        return ()
    return (section("For comparison, no claim"), *(inset(powers(sentence)) for sentence in sentences))


def audit_text(result: AuditResult) -> RenderableType:
    """Return an audit for a terminal of any width."""
    rows = [
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
    ]
    held = [
        ("claimed" if result.tested is None else "implied", result.claimed_epsilon),
        ("proved", result.certified),
        ("attacked", result.epsilon_lower),
    ]
    return Group(
        headline(audit_label(result.verdict), colour(result.verdict), audit_meaning(result)),
        section(result.name),
        *([inset(result.description)] if result.description else []),
        columns(rows, "dim", ""),
        Text(),
        *bars(held),
    )


def _coverage(result: AuditResult) -> list[tuple[str, str]]:
    """Return what the audit covers of its program; nothing where it belongs to none."""
    if result.coverage is None:
        return []
    return [("releases", releases_sentence(result.coverage)), ("lines", lines_sentence(result.coverage))]


def _claim_rows(certificate: Certificate) -> list[tuple[str, str]]:
    """Return the claim and the proved brackets."""
    claim, tight = certificate.claim, certificate.tight
    wide = width_phrase(tight.epsilon)
    return [
        ("claimed", f"{claim_parameters(claim)}, {claim.model} model"),
        ("protects", f"{claim.unit}; neighbours differ in {neighbours_phrase(claim.neighbours)}"),
        ("epsilon", f"{bracket_phrase(tight.epsilon)}, at delta = {nearest(claim.delta)}"),
        ("delta", f"{delta_phrase(certificate)}, at epsilon = {nearest(claim.epsilon)}"),
        *([("width", wide)] if wide else []),
    ]


def _scale(certificate: Certificate) -> list[RenderableType]:
    """Return claim and proof as bars on one axis."""
    rows = [("claimed", certificate.claim.epsilon), (bound_name(certificate), certificate.tight.epsilon.upper)]
    return [Text(), *bars(rows)]


def bars(rows: list[tuple[str, float]]) -> list[RenderableType]:
    """Return one bar for each row, on one axis; an infinite value has no bar."""
    finite = [(name, value) for name, value in rows if value < math.inf]
    longest = max((value for _, value in finite), default=0.0)
    if longest == 0:
        return []
    lines = [
        (name, _hatched(name, bar(value / longest)), at_least(value) if name == "attacked" else at_most(value))
        for name, value in finite
    ]
    return [columns(lines, "dim", "cyan", "")]


def bar(share: float, length: int = _BAR) -> str:
    """Return a bar that fills `share` of `length` cells, to an eighth of a cell; never empty above zero.

    >>> bar(0.5, 4)
    '██  '
    """
    eighths = max(1 if share > 0 else 0, round(min(1.0, share) * length * 8))
    whole, rest = divmod(eighths, 8)
    return ("█" * whole + ("", "▏", "▎", "▍", "▌", "▋", "▊", "▉")[rest]).ljust(length)


def _hatched(name: str, drawn: str) -> str:
    """Return the bar of a stated bound hatched: nothing of it was proved."""
    return drawn.replace("█", "▨") if name == "stated" else drawn


def _reasons(certificate: Certificate) -> list[RenderableType]:
    """Return the reasons of a verdict other than `certified`; a certified claim needs none."""
    if certificate.verdict == "certified":
        return []
    return [Text(), *(inset(f"• {powers(reason)}") for reason in certificate.reasons)]


def _printed(certificate: Certificate) -> list[RenderableType]:
    """Return the conclusion of the printed argument and its problems."""
    reading = certificate.printed
    if reading is None:
        return []
    problems = [inset(f"✗ {problem.rule} at {problem.node}: {problem.message}") for problem in reading.problems]
    return [section("The printed argument"), inset(printed_sentence(reading)), *problems]


def _slack(certificate: Certificate) -> list[RenderableType]:
    """Return the slack, factor by factor."""
    slack = certificate.slack
    if slack is None:
        return []
    return [
        section("Slack"),
        inset(slack_sentence(slack)),
        *([Text(), _factors(slack.factors)] if len(slack.factors) > 1 else []),
    ]


def _factors(factors: tuple[Factor, ...]) -> RenderableType:
    """Return the table of slack factors."""
    return columns(((f"× {nearest(factor.noise_factor)}", factor.sentence) for factor in factors), "cyan", "")


def _findings(certificate: Certificate) -> list[RenderableType]:
    """Return the findings: the releases of a run that the declaration does not admit."""
    if not certificate.findings:
        return []
    lines = [inset(f"✗ {finding.rule}  {finding.message}", style="red") for finding in certificate.findings]
    return [section("Findings"), *lines]


def _conditions(certificate: Certificate) -> list[RenderableType]:
    """Return the conditions with the marks of a report; violated ones come first."""
    lines = by_urgency(marks_of(certificate))
    if not lines:
        return []
    rows = ((Text(*_LOOK[line.mark]), line.condition.text) for line in lines)
    return [section("Conditions"), columns(rows, "", "")]


_LOOK: dict[Mark, tuple[str, str]] = {
    "violated": ("✗ violated", "bold red"),
    "assumed": ("○ assumed", "yellow"),
    "for a person": ("○ for a person", "yellow"),
    "asserted": ("✓ asserted", "green"),
    "looked at": ("✓ looked at", "green"),
    "proved": ("✓ proved", "green"),
}
"""Each mark with its sign, and its colour on a terminal."""


def colour(verdict: Verdict | AuditVerdict) -> str:
    """Return the colour of a verdict."""
    match verdict:
        case "certified" | "consistent" | "not_refuted":
            return "green"
        case "refuted" | "violation":
            return "red"
        case "not_proved" | "stated" | "inconclusive":
            return "yellow"
        case _:
            assert_never(verdict)


def _origin(certificate: Certificate) -> str:
    """Return the engines of the certificate, an effort that is not the default, and both digests."""
    engines = engines_phrase(certificate.engines, certificate.effort)
    digest = certificate.to_dict()["digest"]
    return f"{engines} · source {certificate.source_digest[:12]} · certificate {digest[:12]}"
