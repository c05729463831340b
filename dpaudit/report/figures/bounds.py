"""The figure of one curve of a declaration: the band between its proved sides."""

import math
from collections.abc import Sequence
from typing import Any

from dpaudit.accounting.curves.table import CurveTable
from dpaudit.report.figures.canvas import Canvas, Scale, draw_across, draw_up
from dpaudit.report.figures.figure import Figure
from dpaudit.runtime.tables import table_of

_HEIGHT = 360.0
_FOOT = 1e-14
_KINDS: dict[str, dict[str, Any]] = table_of("dpaudit.report.figures", "bounds.toml")


def bounds_figure(table: CurveTable) -> Figure:
    """Return the figure of a curve; infinite bounds are left out."""
    return Figure(
        name=f"curve-{table.kind}",
        title=_KINDS[table.kind]["title"],
        description=f"Between the lines lies {table.meaning}.",
        draw=lambda width: _draw(table, width),
    )


def _draw(table: CurveTable, width: float) -> Canvas:
    """Return the drawing for one width."""
    canvas = Canvas(width=width, height=_HEIGHT)
    left, right, top, bottom = 64.0, width - 16, 14.0, _HEIGHT - 50
    across = _axis(table.column(table.columns[0]), left, right, logarithmic=_KINDS[table.kind]["across"])
    values = [v for name in ("lower", "upper") for v in table.column(name)]
    down = _axis(values, bottom, top, logarithmic=_KINDS[table.kind]["down"])
    draw_across(canvas, across, top, bottom, table.columns[0].replace("_", " "))
    draw_up(canvas, down.ticks(), left, right)
    sides = [
        [
            (across(row[0]), down(value))
            for row, value in zip(table.rows, table.column(name), strict=True)
            if value < math.inf
        ]
        for name in ("upper", "lower")
    ]
    canvas.band(*sides)
    return canvas


def _axis(values: Sequence[float], start: float, end: float, *, logarithmic: bool) -> Scale:
    """Return an axis that shows the finite values."""
    finite = [value for value in values if math.isfinite(value)] or [0.0, 1.0]
    largest, positive = max(finite), [value for value in finite if value > _FOOT]
    if logarithmic and positive and min(positive) < max(positive):
        return Scale(low=min(positive), high=max(positive), left=start, right=end)
    return Scale(low=0.0, high=largest if largest > 0 else 1.0, left=start, right=end)
