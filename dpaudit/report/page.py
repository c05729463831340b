"""The report as one HTML page without requests; every text is escaped, and its one script is named by its digest."""

import base64
import hashlib
import json
import math
from typing import Any

from dpaudit.figures.figure import Figure, style_sheet
from dpaudit.report.figures.curve import lowest_power
from dpaudit.report.marks import MARKS
from dpaudit.wording.escaping import clean
from dpaudit.wording.numerals import at_most, nearest, unbroken
from dpaudit.wording.verdicts import tone_of

_QUALIFIED = ("CERTIFIED WITH CAVEATS", "STATED")
"""Words that hold only under what somebody must confirm."""

_DRAWN = {
    "derivation": ("tree",),
    "curve": ("curve", "slack"),
    "audits": ("roc",),
    "scores": ("scores-roc",),
    "usefulness": ("front",),
}
"""The sections with figures, and what their names begin with."""


def context(data: dict[str, Any], figures: dict[str, Figure]) -> dict[str, Any]:
    """Return what the templates of the page and of Markdown may name: the document of a report, and views of it."""
    first, *middle, last = data["sections"]
    return {
        "report": data,
        "tone": "caveat" if data["verdict"] in _QUALIFIED else tone_of(data["verdict"]),
        "cover": {field["name"]: field for field in first["fields"]},
        "body": [section for section in middle if _assessed(section)],
        "silent": [section for section in middle if not _assessed(section)],
        "appendix": last | {"assessed": _assessed(last)},
        "drawn": {name: [f for f in figures if f.rstrip("-0123456789") in kinds] for name, kinds in _DRAWN.items()},
        "figures": figures,
        "mark_words": {name: word.meaning for name, word in reversed(MARKS.items())},
    }


def _assessed(section: dict[str, Any]) -> bool:
    """Return whether a section holds anything that was computed, measured or declared."""
    said = any(field["status"] in ("evidence", "declared") for field in section["fields"])
    return said or any(table["rows"] for table in section["grids"])


def html(data: dict[str, Any], figures: dict[str, Figure]) -> str:
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
    live = {
        "style": page,
        "script": script,
        "script_digest": digest,
        "live_curve": _live_curve(data),
    }
    return environment.get_template("report.html.j2").render(context(data, figures) | live) + "\n"


def _live_curve(data: dict[str, Any]) -> str:
    """Return the curve that the script reads, as JSON: numbers are texts that were rounded here."""
    points = [(point["epsilon"], point["delta"]["upper"]) for point in data["curve"]["points"]]
    if not points:
        return ""
    foot = lowest_power(data.get("reading", data["certificate"])["claim"]["delta"])
    rows = [
        (epsilon, math.log10(delta) / foot if delta > 0 else 1.0, nearest(epsilon, 6), at_most(delta))
        for epsilon, delta in points
    ]
    return json.dumps({"reach": points[-1][0], "points": rows})
