"""The figure of one curve of a declaration: the band between its proved sides."""

import math
from collections.abc import Sequence
from typing import Any

from dpaudit.accounting.curves.table import CurveTable
from dpaudit.figures.figure import Figure
from dpaudit.figures.plot import Plot, band
from dpaudit.figures.scale import Scale
from dpaudit.runtime.tables import table_of

_FOOT = 1e-14
_KINDS: dict[str, dict[str, Any]] = table_of("dpaudit.report.figures", "bounds.toml")


def bounds_figure(table: CurveTable) -> Figure:
    """Return the figure of a curve; infinite bounds are left out."""
    kind, along = _KINDS[table.kind], table.column(table.columns[0])
    bounds = {name: table.column(name) for name in ("upper", "lower")}
    finite = {
        name: tuple((at, value) for at, value in zip(along, values, strict=True) if value < math.inf)
        for name, values in bounds.items()
    }
    plot = Plot(
        across=_axis(along, table.columns[0].replace("_", " "), logarithmic=kind["across"]),
        up=_axis([*bounds["lower"], *bounds["upper"]], logarithmic=kind["down"]),
        layers=band(finite["upper"], finite["lower"]),
    )
    return Figure(
        name=f"curve-{table.kind}",
        title=kind["title"],
        description=f"Between the lines lies {table.meaning}.",
        draw=plot.draw,
    )


def _axis(values: Sequence[float], name: str = "", *, logarithmic: bool) -> Scale:
    """Return an axis that shows the finite values."""
    finite = [value for value in values if math.isfinite(value)] or [0.0, 1.0]
    largest, positive = max(finite), [value for value in finite if value > _FOOT]
    if logarithmic and positive and min(positive) < max(positive):
        return Scale(low=min(positive), high=max(positive), name=name)
    return Scale(low=0.0, high=largest if largest > 0 else 1.0, name=name)
