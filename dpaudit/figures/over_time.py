"""Numbers over time: one line or row of dots each, on one axis of days."""

import math
from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass
from datetime import date
from typing import Literal

from dpaudit.figures.figure import Figure
from dpaudit.figures.plot import Plot, Point, Series, stepped
from dpaudit.figures.scale import Scale

Style = Literal["claim", "curve", "attacked"]
"""What is claimed is dashed, what is proved or spent is a line, what was measured are dots."""


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
    days = sorted({day.toordinal() for line in lines for day, _ in line.points})
    room = max(1.0, 0.05 * (days[-1] - days[0]))
    ends = dict.fromkeys((days[0], days[-1]))
    marks = tuple((day, str(date.fromordinal(day))) for day in ends)
    across = Scale(low=days[0] - room, high=days[-1] + room, marks=marks)
    plot = Plot(
        across=across,
        up=Scale(low=0.0, high=highest, marks=tuple((v, written(v)) for v in (0.0, highest / 2, highest))),
        layers=tuple(_series(line, across.high) for line in lines),
        height=180.0,
    )
    said = "; ".join(f"{day}: {written(value)}" for line in lines for day, value in line.points[-12:])
    return Figure(name=name, title=title, description=said, draw=plot.draw)


def _series(line: Line, last: float) -> Series:
    """Return one line, or its dots; the points of a single day are drawn as a short line."""
    points: tuple[Point, ...] = tuple((day.toordinal(), value) for day, value in line.points if math.isfinite(value))
    if line.style == "attacked":
        return Series(points=points, mark=(0, "attacked"))
    if line.steps:
        points = ((points[0][0], 0.0), *stepped((*points, (last, points[-1][1])))) if points else ()
    elif len({x for x, _ in points}) == 1:
        (x, first), (_, end) = points[0], points[-1]
        points = ((x - 0.5, first), *points, (x + 0.5, end))
    return Series(points=points, line=line.style)
