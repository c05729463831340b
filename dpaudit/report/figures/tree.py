"""The figure of the declaration: releases as leaves, composition above, the epsilon of each node at the right."""

from dpaudit.figures.canvas import Canvas, shortened, text_width
from dpaudit.figures.figure import Figure
from dpaudit.report.derivation import Row, node_bounds
from dpaudit.wording.numerals import TIMES, whole

_ROW = 34.0
_DEEPEST = 10


def tree_figure(rows: tuple[Row, ...], *, void: bool) -> Figure:
    """Return the figure of the derivation's rows."""
    leaves = sum(row.node == "Release" for row in rows)
    return Figure(
        name="tree",
        title="The declaration as a tree",
        description=f"{len(rows)} rows, {leaves} of them kinds of noisy release; the table beside it says the same.",
        draw=lambda width: _draw(rows, width, void=void),
    )


def _draw(rows: tuple[Row, ...], width: float, *, void: bool) -> Canvas:
    """Return the drawing for one width, one row a node, joined to its parent by an elbow."""
    indent = 26.0 if width > 500 else 14.0
    canvas = Canvas(width=width, height=30 + _ROW * len(rows))
    canvas.text(width - 4, 14, "own epsilon", "note", "end")
    last: dict[int, float] = {}
    for row_index, row in enumerate(rows):
        depth = min(row.depth, _DEEPEST)
        x, y = 12 + indent * depth, 38 + _ROW * row_index
        if row.depth and depth - 1 in last:
            bend = 12 + indent * (depth - 1)
            canvas.path([(bend, last[depth - 1] + 7), (bend, y), (x - 7, y)], "branch")
        last[depth] = y
        _node(canvas, row, x, y, void=void)
    return canvas


def _node(canvas: Canvas, row: Row, x: float, y: float, *, void: bool) -> None:
    """Draw one node: a disc for noise, a ring for composition, a dashed ring for what is taken on trust."""
    room = canvas.width - x - 100
    if not row.node:
        canvas.text(x + 14, y + 4.5, shortened(row.name, room + 80, 12), "note")
        return
    style = {"Release": "leaf", "Stated": "trusted"}.get(row.node, "inner")
    if row.alike > 1:
        canvas.circle(x + 3.5, y - 3.5, 6, f"{style} behind")
    canvas.circle(x, y, 6, style)
    count = f"{whole(row.alike)} {TIMES} " if row.alike > 1 else ""
    head = shortened(f"{count}{row.node.lower() if count else row.node}", room)
    canvas.text(x + 16, y + 4.5, head, "row")
    width_left = room - text_width(head) - 16
    detail = row.name or row.rule
    if width_left > 40:
        canvas.text(x + 24 + text_width(head, 13.6), y + 4.5, shortened(detail, width_left - 8, 12), "note")
    value = node_bounds(row, void=void) or "not covered"
    canvas.text(canvas.width - 4, y + 4.5, value, "value", "end")
