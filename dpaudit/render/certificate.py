"""A certificate as a document: the verdict first, then the evidence."""

import math

from dpaudit.certification.certificate import Certificate
from dpaudit.documents.document import Block, Document, Mark, Paragraph, Table, document, items, judged, under
from dpaudit.model.measures.ends import Ends
from dpaudit.render.bars import bars
from dpaudit.report.marks import MARKS, by_urgency, certificate_word, marks_of
from dpaudit.wording.certificates import (
    below_floats,
    bound_name,
    bracket_phrase,
    certificate_meaning,
    engines_phrase,
    one_query_phrase,
    printed_sentence,
    slack_sentence,
    width_phrase,
)
from dpaudit.wording.claims import claim_parameters, excess_of, neighbours_phrase
from dpaudit.wording.measures import bounds_rows, end_name
from dpaudit.wording.numerals import nearest, powers

_SCARCE = 1e-300


def certificate_document(certificate: Certificate, beside: tuple[str, ...] = ()) -> Document:
    """Return a certificate; `beside` says what another accounting would have said."""
    claim, tight = certificate.claim, certificate.tight
    if isinstance(tight, Ends):
        numbers, drawn = (*bounds_rows(tight), *_width(certificate, *_widest(tight))), None
    else:
        drawn = bars([("claimed", claim.epsilon), (bound_name(certificate), tight.epsilon.upper)])
        numbers = _numbers(certificate)
    rows = (
        ("claimed", f"{claim_parameters(claim)}, {claim.model} model"),
        ("protects", f"{claim.unit}; neighbours differ in {neighbours_phrase(claim.neighbours)}"),
        *numbers,
    )
    return document(
        judged(certificate_word(certificate), certificate_meaning(certificate)),
        items(() if certificate.verdict == "certified" else map(powers, certificate.reasons), "•"),
        items(_cautions(certificate), "!", "open"),
        under("Claim", Table(rows, looks=("quiet", ""))),
        drawn,
        _printed(certificate),
        slack_blocks(certificate),
        under("Findings", items((f"{f.rule}  {f.message}" for f in certificate.findings), "✗", "bad")),
        _conditions(certificate),
        Paragraph(_origin(certificate), quiet=True),
        under("For comparison, no claim", *(Paragraph(powers(sentence)) for sentence in beside)),
    )


def _cautions(certificate: Certificate) -> tuple[str, ...]:
    """Return what weakens the claim itself, whatever is proved of it."""
    unnamed = "The claim names no unit: say in `unit` what one record is of a person." * (
        certificate.claim.unit == "one record"
    )
    return tuple(sentence for sentence in (excess_of(certificate.claim), unnamed) if sentence)


def delta_phrase(certificate: Certificate) -> str:
    """Return the bracket on delta at the claimed epsilon in words; below 1e-300 by its order of magnitude."""
    bracket = certificate.tight.delta
    if bracket.upper >= _SCARCE or bracket.lower == bracket.upper == 0:
        return bracket_phrase(bracket)
    return below_floats(certificate.log10_delta_at(certificate.claim.epsilon))


def _numbers(certificate: Certificate) -> tuple[tuple[str, str], ...]:
    """Return the proved brackets of epsilon and delta."""
    claim, epsilon = certificate.claim, certificate.tight.epsilon
    return (
        ("epsilon", f"{bracket_phrase(epsilon)}, at delta = {nearest(claim.delta)}"),
        ("delta", f"{delta_phrase(certificate)}, at epsilon = {nearest(claim.epsilon)}"),
        *_width(certificate, epsilon.lower, epsilon.upper),
    )


def _width(certificate: Certificate, lower: float, upper: float, name: str = "epsilon") -> tuple[tuple[str, str], ...]:
    """Return how wide a bracket is where that shows, and why where a lower end counts one query of several."""
    wide = width_phrase(lower, upper, name)
    parts = (wide, one_query_phrase(certificate)) if wide else ()
    return (("width", "; ".join(part for part in parts if part)),) if parts else ()


def _widest(ends: Ends) -> tuple[float, float, str]:
    """Return the row of a claim in another measure whose bracket is widest, with the name of its number."""
    row = max(ends.rows, key=lambda row: (row.upper - row.lower) / row.upper if 0 < row.upper < math.inf else 0.0)
    return row.lower, row.upper, end_name(ends, row)


def _printed(certificate: Certificate) -> tuple[Block, ...]:
    """Return the conclusion of the printed argument and its problems."""
    reading = certificate.printed
    if reading is None:
        return ()
    problems = items((f"{problem.rule} at {problem.node}: {problem.message}" for problem in reading.problems), "✗")
    return under("The published proof", Paragraph(printed_sentence(reading)), problems)


def slack_blocks(certificate: Certificate) -> tuple[Block, ...]:
    """Return the slack of a claim, factor by factor in noise and in epsilon where it has several."""
    slack = certificate.slack
    if slack is None:
        return ()
    rows = tuple(
        (factor.name, f"× {nearest(factor.noise_factor)}", f"× {nearest(factor.factor)}", factor.sentence)
        for factor in (slack.factors if len(slack.factors) > 1 else ())
    )
    table = Table(rows, head=("step", "noise", "epsilon", "why"), looks=("", "value", "value", ""))
    return under("Slack", Paragraph(slack_sentence(slack)), table)


def _conditions(certificate: Certificate) -> tuple[Block, ...]:
    """Return the conditions with the marks of a report; violated ones come first."""
    lines = by_urgency(marks_of(certificate))
    words = ((line, MARKS[line.mark]) for line in lines)
    rows = tuple((Mark(f"{word.sign} {line.mark}", word.tone), line.condition.text) for line, word in words)
    return under("Conditions", Table(rows))


def _origin(certificate: Certificate) -> str:
    """Return the engines of the certificate, an effort that is not the default, and both digests."""
    engines = engines_phrase(certificate.engines, certificate.effort)
    digest = certificate.to_dict()["digest"]
    return f"{engines} · source {certificate.source_digest[:12]} · certificate {digest[:12]}"
