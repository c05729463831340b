"""A drawing surface and its axes: SVG elements with short numbers and escaped text, and places for numbers on it."""

import math
from dataclasses import dataclass, field

from dpaudit.wording.escaping import xml
from dpaudit.wording.numerals import nearest

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


def wrapped(text: str, width: float, size: float = 13) -> tuple[str, ...]:
    """Return `text` on one or two lines of about `width` pixels; the second is cut where it would be wider."""
    words = text.split()
    first = next((n for n in range(len(words), 1, -1) if text_width(" ".join(words[:n]), size) <= width), 1)
    lines = (" ".join(words[:first]), " ".join(words[first:]))
    return tuple(shortened(line, width, size) for line in lines if line)


def shortened(text: str, width: float, size: float = 13) -> str:
    """Return `text`, cut with an ellipsis where it would be wider than `width` pixels."""
    letters = max(1, int(width / (_LETTER * size)))
    return text if len(text) <= letters else text[: letters - 1].rstrip() + "…"


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

    def band(self, upper: list[tuple[float, float]], lower: list[tuple[float, float]]) -> None:
        """Draw two curves and fill what lies between them."""
        self.path(upper + lower[::-1], "band", closed=True)
        self.path(upper, "curve")
        self.path(lower, "curve thin")

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


_GUTTER = 34.0
_SPREAD = 12.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Scale:
    """An axis from `left` to `right` pixels over [low, high]; logarithmic if `low` is above zero.

    Of an axis that runs upwards `left` is the pixel of its foot, and `right` that of its top. On a logarithmic axis
    zero has its own place at `left`. `infinite` keeps a place for infinity at `right`.
    """

    low: float
    high: float
    left: float
    right: float
    infinite: bool = False

    @property
    def logarithmic(self) -> bool:
        """Whether equal ratios are equally far apart."""
        return self.low > 0

    @property
    def start(self) -> float:
        """The pixel where the continuous part begins."""
        return self.left + (self._gutter if self.logarithmic else 0)

    @property
    def end(self) -> float:
        """The pixel where the continuous part ends."""
        return self.right - (self._gutter if self.infinite else 0)

    @property
    def _gutter(self) -> float:
        """The room of a place outside the continuous part; negative on an axis that runs upwards."""
        return math.copysign(_GUTTER, self.right - self.left)

    def __call__(self, value: float) -> float:
        """Return the pixel of `value`; what lies outside the axis is put at its edge."""
        if value == math.inf:
            return self.right
        if self.logarithmic:
            if value <= 0:
                return self.left
            share = math.log(value / self.low) / math.log(self.high / self.low)
        else:
            share = (value - self.low) / (self.high - self.low)
        return self.start + min(1.0, max(0.0, share)) * (self.end - self.start)

    def ticks(self) -> list[tuple[float, str]]:
        """Return (pixel, label) for the marks of the axis."""
        values = self._decades() if self.logarithmic else self._steps()
        marks = [(self(value), nearest(value)) for value in values]
        if self.logarithmic:
            marks.insert(0, (self.left, "0"))
        if self.infinite:
            marks.append((self.right, "∞"))
        return marks

    def _steps(self) -> list[float]:
        """Return about five round values on a linear axis."""
        raw = (self.high - self.low) / 5
        unit = 10.0 ** math.floor(math.log10(raw))
        step = next(unit * m for m in (1, 2, 2.5, 5, 10) if unit * m >= raw * 0.999)
        return [step * place for place in range(int(self.high / step * 1.0001) + 1)]

    def _decades(self) -> list[float]:
        """Return powers of ten on a logarithmic axis, thinned to seven, with 1-2-5 steps where there are few."""
        first, last = math.ceil(math.log10(self.low) - 1e-9), math.floor(math.log10(self.high) + 1e-9)
        stride = max(1, math.ceil((last - first) / 6))
        powers = [10.0**power for power in range(first, last + 1, stride)]
        if len(powers) > 2:
            return powers
        finer = (m * 10.0**power for power in range(first - 1, last + 1) for m in (1, 2, 5))
        return [value for value in finer if self.low * 0.999 <= value <= self.high * 1.001]


def draw_across(canvas: Canvas, scale: Scale, top: float, bottom: float, name: str, first: float = 0.0) -> None:
    """Draw a horizontal axis with its name and, from the pixel `first` on, its marks and grid lines."""
    for x, label in scale.ticks():
        if x >= first:
            canvas.line(x, top, x, bottom, "grid")
            canvas.text(x, bottom + 18, label, "tick", "middle")
    canvas.line(max(first, scale.left), bottom, scale.end, bottom, "axis")
    canvas.text(max(first, scale.left), bottom + 38, name, "note")


def draw_up(canvas: Canvas, ticks: list[tuple[float, str]], left: float, right: float) -> None:
    """Draw the marks of a vertical axis, each a height in pixels and its label, with grid lines to `right`."""
    for y, label in ticks:
        canvas.line(left, y, right, y, "grid")
        canvas.text(left - 8, y + 4, label, "tick", "end")


def scale_for(values: list[float], left: float, right: float) -> Scale:
    """Return an axis that shows `values`: linear where they are alike in size, else logarithmic."""
    finite = [value for value in values if 0 < value < math.inf]
    infinite = any(value == math.inf for value in values)
    if not finite:
        return Scale(low=0.0, high=1.0, left=left, right=right, infinite=infinite)
    smallest, largest = min(finite), max(finite)
    if largest <= _SPREAD * smallest:
        return Scale(low=0.0, high=1.3 * largest, left=left, right=right, infinite=infinite)
    return Scale(low=smallest / 1.8, high=1.8 * largest, left=left, right=right, infinite=infinite)
