"""The report as one HTML page without requests; every text is escaped, and its one script is named by its digest."""

import base64
import hashlib
import json
import math
from typing import Any

from dpaudit.model.codec import encode
from dpaudit.report.cover_lines import cover_lines
from dpaudit.report.facts import Facts
from dpaudit.report.figures import Figure, style_sheet
from dpaudit.report.figures.curve import lowest_power
from dpaudit.report.marks import MARKS
from dpaudit.report.verdicts import shown_word
from dpaudit.wording.escaping import clean
from dpaudit.wording.glossary import DISCLAIMER, GLOSSARY
from dpaudit.wording.numerals import at_most, exact, nearest, unbroken
from dpaudit.wording.verdicts import tone_of

_QUALIFIED = ("CERTIFIED WITH CAVEATS", "STATED")
"""Words that hold only under what somebody must confirm."""


def context(facts: Facts, figures: dict[str, Figure]) -> dict[str, Any]:
    """Return what the templates of both formats may name."""
    report, sections = facts.report, facts.sections
    rest = sections[1:-1]
    return {
        "report": report,
        "certificate": report.certificate,
        "outcome": facts.outcome,
        "tone": "caveat" if facts.outcome.word in _QUALIFIED else tone_of(facts.outcome.word),
        "word": shown_word(facts.outcome.word, report.word),
        "void": report.void,
        "cover_lines": cover_lines(facts),
        "cover": {field.name: field for field in sections[0].fields},
        "body": [section for section in rest if section.assessed],
        "silent": [section for section in rest if not section.assessed],
        "appendix": sections[-1],
        "sections": sections,
        "drawn": {name: [f for f in figures if f.rstrip("-0123456789") in kinds] for name, kinds in _DRAWN.items()},
        "figures": figures,
        "curve": facts.curve,
        "not_assessed": facts.not_assessed,
        "mark_words": {name: held.meaning for name, held in reversed(MARKS.items())},
        "disclaimer": DISCLAIMER,
        "glossary": GLOSSARY,
        "exact": exact,
    }


_DRAWN = {
    "derivation": ("tree",),
    "curve": ("curve", "slack"),
    "audits": ("roc",),
    "scores": ("scores-roc",),
    "usefulness": ("front",),
}
"""The sections with figures, and what their names begin with."""


def html(facts: Facts, figures: dict[str, Figure]) -> str:
    """Return the whole page."""
    from jinja2 import Environment, PackageLoader, StrictUndefined
    from markupsafe import Markup

    def shown(value: Any) -> Any:
        """Return `value` without invisible characters; what is marked as safe passes."""
        return unbroken(clean(value)) if isinstance(value, str) and not isinstance(value, Markup) else value

    loader = PackageLoader("dpaudit.report")
    environment = Environment(
        loader=loader, autoescape=True, undefined=StrictUndefined, finalize=shown, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters["markup"] = Markup  # only for our own figures and style sheets, escaped where they are made
    page = style_sheet() + loader.get_source(environment, "page.css")[0]
    script = loader.get_source(environment, "page.js")[0]
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    live = {"style": page, "script": script, "script_digest": digest, **_live(facts)}
    return environment.get_template("report.html.j2").render(context(facts, figures) | live) + "\n"


def _live(facts: Facts) -> dict[str, str]:
    """Return the data that the script reads, as JSON: numbers are texts that were rounded here."""
    curve, explorer = facts.curve, facts.explorer
    foot = lowest_power(facts.report.reading.claim.delta)
    points = [
        (epsilon, math.log10(delta.upper) / foot if delta.upper > 0 else 1.0, nearest(epsilon, 6), at_most(delta.upper))
        for epsilon, delta in zip(curve.epsilons, curve.deltas, strict=True)
    ]
    return {
        "live_curve": json.dumps({"reach": curve.epsilons[-1], "points": points}) if points else "",
        "live_explorer": json.dumps(encode(explorer)) if explorer else "",
    }
