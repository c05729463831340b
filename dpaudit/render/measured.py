"""A certificate in its own measure on a terminal and as Markdown: claim, ends and conditions, in that measure."""

from rich.console import Group, RenderableType
from rich.text import Text

from dpaudit.certification.certificate import Certificate
from dpaudit.model.measures.claims import MeasuredClaim
from dpaudit.model.measures.ends import Ends
from dpaudit.render.layout import columns, headline, inset, section
from dpaudit.report.marks import by_urgency, certificate_word, marks_of
from dpaudit.wording.certificates import engines_phrase
from dpaudit.wording.claims import neighbours_phrase
from dpaudit.wording.markdown import bullets, cell, table
from dpaudit.wording.measures import between_phrase, measured_meaning, number_name
from dpaudit.wording.numerals import powers

_COLOURS = {"certified": "green", "refuted": "red"}


def measured_text(certificate: Certificate, claim: MeasuredClaim, ends: Ends) -> RenderableType:
    """Return the certificate for a terminal of any width."""
    conditions = [(line.mark, line.condition.text) for line in by_urgency(marks_of(certificate))]
    return Group(
        headline(
            certificate_word(certificate),
            _COLOURS.get(certificate.verdict, "yellow"),
            measured_meaning(certificate.verdict, claim, certificate.trust),
        ),
        Text(),
        *(inset(f"• {powers(reason)}") for reason in certificate.reasons if certificate.verdict != "certified"),
        section("Claim"),
        columns(
            [
                ("claimed", f"{claim.words}, {claim.model} model"),
                ("protects", f"{claim.unit}; neighbours differ in {neighbours_phrase(claim.neighbours)}"),
                *((number_name(ends.measure, row.at), between_phrase(row)) for row in ends.rows),
            ],
            "dim",
            "",
        ),
        *(
            [section("Findings"), *(inset(f"✗ {f.rule}  {f.message}") for f in certificate.findings)]
            * bool(certificate.findings)
        ),
        *([section("Conditions"), columns(conditions, "", "")] if conditions else []),
        Text(),
        inset(_origin(certificate), style="dim"),
    )


def measured_markdown(certificate: Certificate, claim: MeasuredClaim, ends: Ends) -> str:
    """Return the certificate as Markdown."""
    rows = [(number_name(ends.measure, row.at), between_phrase(row)) for row in ends.rows]
    parts = [
        f"## {certificate_word(certificate)}",
        cell(measured_meaning(certificate.verdict, claim, certificate.trust)),
        bullets(map(powers, certificate.reasons)),
        table(("", "bounds"), [("claimed", claim.words), *rows]),
        f"Protects {cell(claim.unit)}, in the {claim.model} model; neighbours differ in "
        f"{neighbours_phrase(claim.neighbours)}.",
        "### Conditions",
        table(("mark", "condition"), [(line.mark, line.condition.text) for line in marks_of(certificate)]),
        f"<sub>{cell(_origin(certificate))}</sub>",
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _origin(certificate: Certificate) -> str:
    """Return the engines and both digests."""
    engines = engines_phrase(certificate.engines, certificate.effort)
    return f"{engines} · source {certificate.source_digest[:12]} · certificate {certificate.to_dict()['digest'][:12]}"
