"""A figure: the drawing at two widths, with a title and a text description."""

from collections.abc import Callable
from dataclasses import dataclass

from dpaudit.documents.document import Picture
from dpaudit.documents.page import style_sheet
from dpaudit.documents.typesetting import plain_colours
from dpaudit.figures.canvas import Canvas, short
from dpaudit.wording.escaping import xml

WIDE, NARROW = 760.0, 344.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """A named drawing; `draw(width)` returns it for a page (`WIDE`) or a phone (`NARROW`).

    A `square` one fits a phone as it is, and is drawn so everywhere.
    """

    name: str
    title: str
    description: str
    draw: Callable[[float], Canvas]
    square: bool = False

    def inline(self) -> str:
        """Return the HTML of both widths, of which the page's style sheet shows one; or of the only one."""
        if self.square:
            return self._svg(self.draw(NARROW), "square")
        return "".join(
            f'<div class="{look}">{self._svg(self.draw(width), look)}</div>'
            for look, width in (("wide", WIDE), ("narrow", NARROW))
        )

    def file(self) -> str:
        """Return the drawing for a page as an SVG file of its own, style sheet included."""
        style = style_sheet("colours.css", "figure.css")
        return self._svg(self.draw(NARROW if self.square else WIDE), "file", style) + "\n"

    def picture(self, file: str = "", caption: str = "") -> Picture:
        """Return the figure as a block of a document; `file` is where it lies beside the page."""
        drawn, printed = self.inline(), plain_colours(self.file())
        return Picture(self.title, svg=drawn, paper=printed, file=file, caption=caption)

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
