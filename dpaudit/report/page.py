"""The report as one HTML page without requests; every text is escaped, and its one script is named by its digest."""

import base64
import hashlib
import json
import math
from dataclasses import replace
from typing import Any

from dpaudit.model.codec import encode
from dpaudit.report.derivation import node_epsilon
from dpaudit.report.facts import Facts
from dpaudit.report.figures import Figure, style_sheet
from dpaudit.report.figures.curve import lowest_power
from dpaudit.report.marks import MARK_WORDS
from dpaudit.report.meaning import meaning_of, proved_of
from dpaudit.report.verdicts import conditions_by_urgency, shown_word
from dpaudit.wording.audits import bound_phrase, certified_phrase, detectable, position
from dpaudit.wording.certificates import noise_sentence
from dpaudit.wording.claims import MODEL_WORDS, NEIGHBOUR_WORDS
from dpaudit.wording.escaping import clean
from dpaudit.wording.glossary import DISCLAIMER, GLOSSARY
from dpaudit.wording.numerals import at_least, at_most, both_ends, exact, interval, nearest, times, unbroken, whole
from dpaudit.wording.references import reference_words
from dpaudit.wording.scores import scores_meaning

TONES = {
    "CERTIFIED": "good",
    "CERTIFIED WITH CAVEATS": "caveat",
    "STATED BY SUPPLIER": "caveat",
    "NOT CERTIFIED": "open",
    "VIOLATION FOUND": "bad",
    "INCONCLUSIVE": "open",
}

_CERTIFIED = ("Certified epsilon", "Proved epsilon", "Stated epsilon")
"""The names of the proved epsilon on the cover; one of them is there, by the word for a proved claim."""

_ON_THE_COVER = (
    "Verdict",
    "Meaning",
    "Claimed epsilon",
    *_CERTIFIED,
    "Audited epsilon",
    "One person",
    "Delta times the number of units",
    "Left open by the model",
    "Usefulness",
    "Trusted parties",
    "Author",
    "Reviewer",
    "Date",
    "Valid until",
    "Digest to sign",
)
"""What the cover tells in its own way, and its table leaves out."""


def context(facts: Facts, figures: dict[str, Figure]) -> dict[str, Any]:
    """Return what the templates of both formats may name."""
    report, certificate = facts.report, facts.report.certificate
    by_name = {field.name: field for field in facts.sections[0].fields}
    at = {section.ident: section for section in facts.sections}
    return {
        "report": report,
        "certificate": certificate,
        "outcome": facts.outcome,
        "tone": TONES[facts.outcome.word],
        "meaning": meaning_of(report),
        "proved": proved_of(report),
        "rows": facts.rows,
        "curve": facts.curve,
        "gains": facts.gains,
        "not_assessed": facts.not_assessed,
        "figures": figures,
        "conditions": conditions_by_urgency(report),
        "mark_words": MARK_WORDS,
        "word": shown_word(facts.outcome.word, report.word),
        "void": report.void,
        "sections": facts.sections,
        "told_richly": ("nodes", "slack", "conditions", "findings", "audits"),
        "by_name": by_name,
        "certified_epsilon": next(by_name[name].value for name in _CERTIFIED if name in by_name),
        "at": at,
        "ground": replace(
            at["reproduction"], fields=tuple(f for f in at["reproduction"].fields if f.value != report.command)
        ),
        "identity": replace(
            facts.sections[0], fields=tuple(f for f in facts.sections[0].fields if f.name not in _ON_THE_COVER)
        ),
        "noise_sentence": noise_sentence(certificate.slack) if certificate.slack is not None else "",
        "seeds": report.seeds,
        "digest": certificate.to_dict()["digest"],
        "disclaimer": DISCLAIMER,
        "glossary": GLOSSARY,
        "model_words": MODEL_WORDS,
        "neighbour_words": NEIGHBOUR_WORDS,
        **{
            f.__name__: f
            for f in (
                at_least,
                at_most,
                bound_phrase,
                both_ends,
                exact,
                interval,
                node_epsilon,
                nearest,
                times,
                whole,
                certified_phrase,
                detectable,
                position,
                reference_words,
                scores_meaning,
            )
        },
    }


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
    foot = lowest_power(facts.report.certificate.claim.delta)
    points = [
        (epsilon, math.log10(delta.upper) / foot if delta.upper > 0 else 1.0, nearest(epsilon, 6), at_most(delta.upper))
        for epsilon, delta in zip(curve.epsilons, curve.deltas, strict=True)
    ]
    return {
        "live_curve": json.dumps({"reach": curve.epsilons[-1], "points": points}) if points else "",
        "live_explorer": json.dumps(encode(explorer)) if explorer else "",
    }
