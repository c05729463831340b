"""Numbers over time: one line or row of dots each, on one axis of days."""

import math
from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass
from datetime import date
from typing import Literal

from dpaudit.report.figures.canvas import Canvas, draw_up
from dpaudit.report.figures.figure import Figure

Style = Literal["claim", "curve", "attacked"]
"""What is claimed is dashed, what is proved or spent is a line, what was measured are dots."""

_LEFT, _RIGHT, _TOP, _BOTTOM, _HEIGHT = 64.0, 16.0, 16.0, 34.0, 230.0


@dataclass(frozen=True, slots=True)
class Line:
    """Numbers by day, in the order of time; `steps` holds each until the next. What is not finite is not drawn."""

    style: Style
    points: tuple[tuple[date, float], ...]
    _: KW_ONLY
    steps: bool = False


def over_time_figure(
    name: str, title: str, lines: tuple[Line, ...], highest: float, written: Callable[[float], str]
) -> Figure:
    """Return the figure of some lines with an axis from 0 to `highest`; there is at least one point."""
    days = sorted({day for line in lines for day, _ in line.points})

    def draw(width: float) -> Canvas:
        canvas = Canvas(width=width, height=_HEIGHT)
        ticks = [(_y(value, highest), written(value)) for value in (0.0, highest / 2, highest)]
        draw_up(canvas, ticks, _LEFT, width - _RIGHT)
        anchors = {days[0]: "start", days[-1]: "end"} if len(days) > 1 else {days[0]: "middle"}
        for day, anchor in anchors.items():
            canvas.text(_x(day, days, width), _HEIGHT - 8, str(day), "tick", anchor=anchor)
        for line in lines:
            _draw(canvas, line, days, highest)
        return canvas

    said = "; ".join(f"{day}: {written(value)}" for line in lines for day, value in line.points[-12:])
    return Figure(name=name, title=title, description=said, draw=draw)


def _draw(canvas: Canvas, line: Line, days: list[date], highest: float) -> None:
    """Draw one line, or its dots; the points of a single day are drawn as a short line."""
    places = [(_x(day, days, canvas.width), _y(value, highest)) for day, value in line.points if math.isfinite(value)]
    if line.style == "attacked":
        for x, y in places:
            canvas.circle(x, y, 4, "attacked")
        return
    if line.steps:
        floor = _y(0.0, highest)
        heights = [floor, *(y for _, y in places)]
        places = [corner for (x, y), before in zip(places, heights, strict=False) for corner in ((x, before), (x, y))]
        places.append((canvas.width - _RIGHT, heights[-1]))
    elif len({x for x, _ in places}) == 1:
        (first_x, first_y), (last_x, last_y) = places[0], places[-1]
        places = [(first_x - 14, first_y), *places, (last_x + 14, last_y)]
    canvas.path(places, line.style)


def _x(day: date, days: list[date], width: float) -> float:
    """Return the place of a day; one day alone stands in the middle."""
    span = (days[-1] - days[0]).days
    share = (day - days[0]).days / span if span else 0.5
    return _LEFT + 14 + (width - _LEFT - _RIGHT - 28) * share


def _y(value: float, highest: float) -> float:
    """Return the height of a value; what exceeds the axis stands on its top."""
    return _TOP + (_HEIGHT - _TOP - _BOTTOM) * (1 - min(1.0, value / highest))
