"""The report as a PDF, set by typst from report.json alone."""

import json
import re
from collections.abc import Mapping
from importlib.resources import files
from typing import Any

from dpaudit.documents.page import style_sheet
from dpaudit.errors import InternalError, UnsupportedError
from dpaudit.wording.escaping import clean
from dpaudit.wording.numerals import unbroken


def require_typst() -> Any:
    """Return the typst module.

    Raises: UnsupportedError: the extra `pdf` is not installed; the message says how to.
    """
    try:
        import typst
    except ImportError:
        raise UnsupportedError("A PDF needs typst; install it with: pip install 'dpaudit[pdf]'.") from None
    return typst


def pdf_report(text: str, figures: Mapping[str, str]) -> bytes:
    """Return the PDF of the report whose JSON is `text`; `figures` are its SVG files by path.

    Guarantee: equal arguments give equal bytes, on any machine with the same typst: fonts are those that typst
    brings, and the date is the report's.
    Raises: UnsupportedError: the extra `pdf` is not installed. InternalError: typst does not take the page.
    """
    typst = require_typst()
    template = (files("dpaudit.report") / "templates" / "report.typ").read_bytes()
    drawn = {path.removeprefix("figures/").removesuffix(".svg"): _plain(svg) for path, svg in figures.items()}
    try:
        content: bytes = typst.compile(
            template,
            format="pdf",
            ignore_system_fonts=True,
            sys_inputs={"report": json.dumps(_visible(json.loads(text))), "figures": json.dumps(drawn)},
            timestamp=0,
            pdf_standards="ua-1",
        )
    except RuntimeError as error:
        raise InternalError(f"typst refused the report: {' '.join(str(error).split())[:300]}") from None
    return content


def _visible(data: Any) -> Any:
    """Return plain data whose texts have no invisible characters and no lone surrogates."""
    if isinstance(data, str):
        return unbroken(clean(data))
    if isinstance(data, list):
        return [_visible(item) for item in data]
    return {key: _visible(value) for key, value in data.items()} if isinstance(data, dict) else data


def _plain(svg: str) -> str:
    """Return a figure with its colours written out, in light, and in the font that the document has."""
    sheet = style_sheet("colours.css").split("@media")[0]
    colours = dict(re.findall(r"--([a-z-]+): (#[0-9a-f]+)", sheet))
    light = re.sub(r"@media[^{]*\{\s*:root \{[^}]*\}\s*\}", "", svg)
    colours["paper"] = "#ffffff"
    named = re.sub(r"var\(--([a-z-]+)\)", lambda match: colours[match.group(1)], light)
    return re.sub(r"font-family:[^;]*;", 'font-family: "Libertinus Serif";', named)
