"""Pages and pictures that typst sets: figures from their SVG, and documents."""

import re
from collections.abc import Mapping
from typing import Literal

from dpaudit.documents.page import style_sheet
from dpaudit.errors import InternalError

_PAGE = b"""#set page(width: auto, height: auto, margin: 0pt)
#image(bytes(sys.inputs.figure), format: "svg")"""
_FINENESS = 144.0
"""Dots of a picture to the inch."""


def printed(svg: str, kind: Literal["png", "pdf"]) -> bytes:
    """Return a figure as a file of its own; equal figures give equal bytes with the same typst."""
    return typeset(_PAGE, kind, {"figure": plain_colours(svg)}, "a figure")


def typeset(
    template: bytes,
    kind: Literal["png", "pdf"],
    inputs: Mapping[str, str],
    what: str,
    standard: Literal["1.7", "ua-1"] = "1.7",
) -> bytes:
    """Return what typst makes of a template and its inputs.

    Guarantee: equal arguments give equal bytes, on any machine with the same typst: fonts are those that typst brings.
    Raises: InternalError: typst does not take the template, with `what` it is.
    """
    import typst

    try:
        content: bytes = typst.compile(
            template,
            format=kind,
            ppi=_FINENESS,
            ignore_system_fonts=True,
            sys_inputs=dict(inputs),
            timestamp=0,
            pdf_standards=standard,
        )
    except RuntimeError as error:
        raise InternalError(f"typst refused {what}: {' '.join(str(error).split())[:300]}") from None
    return content


def plain_colours(svg: str) -> str:
    """Return a figure with its colours written out, in light, and in the font that typst brings."""
    sheet = style_sheet("colours.css").split("@media")[0]
    colours = dict(re.findall(r"--([a-z-]+): (#[0-9a-f]+)", sheet))
    colours["paper"] = "#ffffff"

    def plain(styled: re.Match[str]) -> str:
        """Return a style sheet or a tag; words that only look like a colour stay."""
        light = re.sub(r"@media[^{]*\{\s*:root \{[^}]*\}\s*\}", "", styled[0])
        named = re.sub(r"var\(--([a-z-]+)\)", lambda colour: colours.get(colour[1], colour[0]), light)
        return re.sub(r"font-family:[^;]*;", 'font-family: "Libertinus Serif";', named)

    return re.sub(r"<style>.*?</style>|<[^>]*>", plain, svg, flags=re.DOTALL)
