"""A plot: two axes, what is drawn between them, and a legend and a caption below."""

from dataclasses import dataclass, replace
from itertools import chain, pairwise
from textwrap import wrap

from dpaudit.figures.canvas import Canvas, letters, shortened
from dpaudit.figures.scale import Scale, draw_across, draw_up

Point = tuple[float, float]

_LEFT, _RIGHT, _TOP, _BOTTOM = 64.0, 16.0, 16.0, 50.0
_TITLE, _ENTRY, _CAPTION = 26.0, 18.0, 16.0
_NARROW, _SMALL = 500.0, 12.0
CROSS = 5
"""The shape of a mark that says no; smaller numbers are a disc, a square, a diamond and two triangles."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Series:
    """Points of one thing: the style of the line through them, and the shape and the style of the mark at each.

    A closed line is an area. `spans` are vertical intervals: a place across, and both ends. The legend has the `name`.
    """

    points: tuple[Point, ...]
    line: str = ""
    mark: tuple[int, str] | None = None
    name: str = ""
    spans: tuple[tuple[float, float, float], ...] = ()
    closed: bool = False


def band(upper: tuple[Point, ...], lower: tuple[Point, ...]) -> tuple[Series, ...]:
    """Return two curves and the area between them."""
    area = Series(points=(*upper, *lower[::-1]), line="band", closed=True)
    return area, Series(points=upper, line="curve"), Series(points=lower, line="curve thin")


def stepped(points: tuple[Point, ...]) -> tuple[Point, ...]:
    """Return points that hold each value until the next place.

    >>> stepped(((0, 1), (2, 5)))
    ((0, 1), (2, 1), (2, 5))
    """
    corners = (((x, before), (x, y)) for (_, before), (x, y) in pairwise(points))
    return (*points[:1], *chain.from_iterable(corners))


@dataclass(frozen=True, slots=True, kw_only=True)
class Words:
    """Words beside a point, with a ring around it where the point is the one that matters."""

    at: Point
    text: str
    ring: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Plot:
    """Axes, layers from the back to the front, the height between the axes, a title and a caption in sentences."""

    across: Scale
    up: Scale
    layers: tuple[Series | Words, ...]
    height: float = 300.0
    title: str = ""
    caption: tuple[str, ...] = ()

    def draw(self, width: float) -> Canvas:
        """Return the drawing for one width."""
        captions = [line for text in self.caption for line in wrap(text, letters(width - 12, _SMALL))]
        named = [layer for layer in self.layers if isinstance(layer, Series) and layer.name]
        columns = 1 if width < _NARROW else 2
        top = _TOP + _TITLE * bool(self.title)
        bottom = top + self.height
        below = bottom + _BOTTOM + 8
        foot = below + _ENTRY * -(-len(named) // columns) + 6
        canvas = Canvas(width=width, height=foot + _CAPTION * len(captions))
        across = replace(self.across, left=_LEFT, right=width - _RIGHT)
        up = replace(self.up, left=bottom, right=top)
        canvas.text(_LEFT, 18, self.title, "row")
        draw_across(canvas, across, top, bottom)
        draw_up(canvas, up, _LEFT, width - _RIGHT)
        for layer in self.layers:
            _draw(canvas, layer, across, up)
        for series_index, series in enumerate(named):
            room, row = width / columns, series_index // columns
            _entry(canvas, series, 10 + room * (series_index % columns), below + _ENTRY * row, room - 46)
        for line_index, line in enumerate(captions):
            canvas.text(10, foot + _CAPTION * line_index, line, "note")
        return canvas


def _draw(canvas: Canvas, layer: Series | Words, across: Scale, up: Scale) -> None:
    """Draw one layer."""
    if isinstance(layer, Words):
        x, y = across(layer.at[0]), up(layer.at[1])
        if layer.ring:
            canvas.circle(x, y, 10, "ring")
        canvas.label(x, y - 10, (layer.text,), "strong halo", gap=10)
        return
    places = [(across(x), up(y)) for x, y in layer.points]
    if layer.line:
        canvas.path(places, layer.line, closed=layer.closed)
    for x, low, high in layer.spans:
        canvas.line(across(x), up(low), across(x), up(high), "whisker")
    if layer.mark:
        for x, y in places:
            _mark(canvas, x, y, *layer.mark)


def _mark(canvas: Canvas, x: float, y: float, shape: int, style: str) -> None:
    """Draw a mark of one of the shapes."""
    match shape:
        case 0:
            canvas.circle(x, y, 4.5, style)
        case 1:
            canvas.rect(x - 4, y - 4, 8, 8, style)
        case 2:
            canvas.diamond(x, y, 5.5, style)
        case 3:
            canvas.path([(x - 5, y + 4), (x, y - 5), (x + 5, y + 4)], style, closed=True)
        case 4:
            canvas.path([(x - 5, y - 4), (x, y + 5), (x + 5, y - 4)], style, closed=True)
        case _:
            canvas.line(x - 6, y - 6, x + 6, y + 6, style)
            canvas.line(x - 6, y + 6, x + 6, y - 6, style)


def _entry(canvas: Canvas, series: Series, x: float, y: float, room: float) -> None:
    """Write a line of the legend: the look of a series, and its name."""
    if series.line:
        canvas.line(x, y - 4, x + 24, y - 4, series.line)
    if series.mark:
        _mark(canvas, x + 12, y - 4, *series.mark)
    canvas.text(x + 32, y, shortened(series.name, room, _SMALL), "note")
