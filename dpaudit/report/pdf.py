"""The report as a PDF, set by typst from report.json alone."""

import json
from collections.abc import Mapping
from importlib.resources import files
from typing import Any

from dpaudit.figures.printed import plain_colours, typeset
from dpaudit.wording.escaping import clean
from dpaudit.wording.numerals import unbroken


def pdf_report(text: str, figures: Mapping[str, str]) -> bytes:
    """Return the PDF of the report whose JSON is `text`; `figures` are its SVG files by path.

    Guarantee: equal arguments give equal bytes with the same typst; the date is the report's.
    """
    template = (files("dpaudit.report") / "templates" / "report.typ").read_bytes()
    drawn = {path.removeprefix("figures/").removesuffix(".svg"): plain_colours(svg) for path, svg in figures.items()}
    inputs = {"report": json.dumps(_visible(json.loads(text))), "figures": json.dumps(drawn)}
    return typeset(template, "pdf", inputs, "the report", "ua-1")


def _visible(data: Any) -> Any:
    """Return plain data whose texts have no invisible characters and no lone surrogates."""
    if isinstance(data, str):
        return unbroken(clean(data))
    if isinstance(data, list):
        return [_visible(item) for item in data]
    return {key: _visible(value) for key, value in data.items()} if isinstance(data, dict) else data
