"""A figure: the drawing at two widths, with a title and a text description."""

from collections.abc import Callable
from dataclasses import dataclass

from dpaudit.documents.page import style_sheet as sheets
from dpaudit.report.figures.canvas import Canvas, short
from dpaudit.wording.escaping import xml

WIDE, NARROW = 760.0, 344.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """A named drawing; `draw(width)` returns it for a page (`WIDE`) or a phone (`NARROW`)."""

    name: str
    title: str
    description: str
    draw: Callable[[float], Canvas]

    def inline(self) -> str:
        """Return the HTML of both widths; the page's style sheet shows one of them."""
        return "".join(
            f'<div class="{look}">{self._svg(self.draw(width), look)}</div>'
            for look, width in (("wide", WIDE), ("narrow", NARROW))
        )

    def square(self) -> str:
        """Return one HTML drawing for all widths, for figures that fit a phone as they are."""
        return self._svg(self.draw(NARROW), "square")

    def file(self) -> str:
        """Return the wide drawing as an SVG file of its own, style sheet included."""
        return self._svg(self.draw(WIDE), "file", style_sheet()) + "\n"

    def _svg(self, canvas: Canvas, look: str, style: str = "") -> str:
        """Return one SVG element with its title and description."""
        ident = f"{self.name}-{look}"
        width, height = short(canvas.width), short(canvas.height)
        sheet = f"<style>{style}</style>" if style else ""
        back = f'<rect class="paper" width="{width}" height="{height}"/>' if style else ""
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" class="figure" role="img" viewBox="0 0 {width} {height}" '
            f'width="{width}" height="{height}" aria-labelledby="{ident}-title {ident}-desc">'
            f'<title id="{ident}-title">{xml(self.title)}</title>'
            f'<desc id="{ident}-desc">{xml(self.description)}</desc>{sheet}{back}{"".join(canvas.parts)}</svg>'
        )


def style_sheet() -> str:
    """Return the style sheet that all figures share, in its light and its dark scheme."""
    return sheets("colours.css", "figure.css")
