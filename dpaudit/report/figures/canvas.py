"""A drawing surface: SVG elements with short numbers, escaped text and no styling."""

from dataclasses import dataclass, field

from dpaudit.wording.escaping import xml

_LETTER = 0.54


def short(value: float) -> str:
    """Return a coordinate to a tenth of a pixel, in its shortest form.

    >>> short(12.04), short(-0.01)
    ('12', '0')
    """
    text = f"{value:.1f}".removesuffix(".0")
    return "0" if text == "-0" else text


def text_width(text: str, size: float = 13) -> float:
    """Return roughly how wide `text` is, in pixels."""
    return _LETTER * size * len(text)


def shortened(text: str, width: float, size: float = 13) -> str:
    """Return `text`, cut with an ellipsis where it would be wider than `width` pixels."""
    letters = max(1, int(width / (_LETTER * size)))
    return text if len(text) <= letters else text[: letters - 1].rstrip() + "…"


@dataclass(slots=True)
class Canvas:
    """An SVG under construction; classes are defined by the style sheet `figure.css`."""

    width: float
    height: float = 0.0
    parts: list[str] = field(default_factory=list)

    def line(self, x1: float, y1: float, x2: float, y2: float, style: str) -> None:
        """Draw a straight line."""
        ends = f'x1="{short(x1)}" y1="{short(y1)}" x2="{short(x2)}" y2="{short(y2)}"'
        self.parts.append(f'<line class="{style}" {ends}/>')

    def rect(self, x: float, y: float, width: float, height: float, style: str, radius: float = 0) -> None:
        """Draw a rectangle; a negative width becomes nothing."""
        size = f'width="{short(max(0.0, width))}" height="{short(max(0.0, height))}"'
        self.parts.append(f'<rect class="{style}" x="{short(x)}" y="{short(y)}" {size} rx="{short(radius)}"/>')

    def circle(self, x: float, y: float, radius: float, style: str) -> None:
        """Draw a disc."""
        self.parts.append(f'<circle class="{style}" cx="{short(x)}" cy="{short(y)}" r="{short(radius)}"/>')

    def path(self, points: list[tuple[float, float]], style: str, *, closed: bool = False) -> None:
        """Draw straight lines from point to point."""
        if points:
            places = "L".join(f"{short(x)} {short(y)}" for x, y in points)
            self.parts.append(f'<path class="{style}" d="M{places}{"Z" if closed else ""}"/>')

    def diamond(self, x: float, y: float, radius: float, style: str) -> None:
        """Draw a square standing on its corner."""
        self.path([(x - radius, y), (x, y - radius), (x + radius, y), (x, y + radius)], style, closed=True)

    def text(self, x: float, y: float, text: str, style: str = "", anchor: str = "start") -> None:
        """Write one line of text; it is escaped here."""
        look = f' class="{style}"' if style else ""
        where = f' text-anchor="{anchor}"' if anchor != "start" else ""
        self.parts.append(f'<text{look} x="{short(x)}" y="{short(y)}"{where}>{xml(text)}</text>')

    def label(self, x: float, y: float, text: str, style: str, gap: float = 8) -> None:
        """Write `text` beside a mark at x: to its right where there is room, else to its left."""
        if x + gap + text_width(text) <= self.width:
            self.text(x + gap, y, text, style)
        else:
            self.text(x - gap, y, text, style, anchor="end")
