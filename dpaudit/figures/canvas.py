"""A drawing surface: SVG elements with short numbers and escaped text."""

from dataclasses import dataclass, field

from dpaudit.wording.escaping import xml

_LETTER = 0.54
_CLEAR = 6.0
"""The room between a label and a line that it must not cross, in pixels."""


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
    most = letters(width, size)
    return text if len(text) <= most else text[: most - 1].rstrip() + "…"


def letters(width: float, size: float = 13) -> int:
    """Return how many letters have room in `width` pixels, at least one."""
    return max(1, int(width / (_LETTER * size)))


@dataclass(slots=True)
class Canvas:
    """An SVG under construction; classes are defined by the style sheet `figure.css`.

    Labels beside marks begin at `margin` or further right, where names of rows end.
    """

    width: float
    height: float = 0.0
    parts: list[str] = field(default_factory=list)
    margin: float = 0.0

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
        if "halo" in style.split():
            self._clear(x, y, text, anchor)
        look = f' class="{style}"' if style else ""
        where = f' text-anchor="{anchor}"' if anchor != "start" else ""
        self.parts.append(f'<text{look} x="{short(x)}" y="{short(y)}"{where}>{xml(text)}</text>')

    def label(
        self, x: float, y: float, texts: tuple[str, ...], style: str, gap: float = 8, avoid: tuple[float, ...] = ()
    ) -> None:
        """Write the first of `texts` that has room beside a mark at x without crossing a vertical line at `avoid`.

        Where none has room, the last one is written on the side with more of it.
        """
        for text in texts:
            start = self._start(x, text_width(text), gap, avoid)
            if start is not None:
                self.text(start, y, text, style)
                return
        if x <= self.width / 2:
            self.text(x + gap, y, texts[-1], style)
        else:
            self.text(x - gap, y, texts[-1], style, anchor="end")

    def _start(self, x: float, width: float, gap: float, avoid: tuple[float, ...]) -> float | None:
        """Return where a label of this width may start: right of the mark, right of a line, or left of either."""
        right = [x + gap, *(line + _CLEAR for line in avoid if line > x)]
        left = [x - gap - width, *(line - _CLEAR - width for line in avoid if line < x)]
        for start in (*right, *left):
            inside = start >= self.margin and start + width <= self.width
            if inside and not any(start - _CLEAR < line < start + width + _CLEAR for line in avoid):
                return start
        return None

    def _clear(self, x: float, y: float, text: str, anchor: str) -> None:
        """Draw a patch of paper behind a line of text, so that no line runs through it."""
        width = text_width(text) + 6
        start = {"start": x - 3, "middle": x - width / 2, "end": x - width + 3}[anchor]
        self.rect(start, y - 13, width, 18, "paper")
