"""The figure of the slack: factors from the declared noise to the needed noise."""

from dpaudit.figures.canvas import Canvas, shortened
from dpaudit.figures.figure import Figure
from dpaudit.figures.scale import Scale, draw_across
from dpaudit.model.readings import Slack
from dpaudit.report.slackness import Step, steps_of
from dpaudit.wording.certificates import noise_sentence
from dpaudit.wording.numerals import TIMES, nearest

_ROW = 34.0


def waterfall_figure(slack: Slack) -> Figure:
    """Return the figure of the slack's factors in noise; there must be some."""
    steps = steps_of(slack)
    words = " ".join(f"{step.name}: a factor of {nearest(step.factor, 3)}." for step in steps)
    return Figure(
        name="slack",
        title="Noise against what the claim needs, factor by factor",
        description=f"{noise_sentence(slack)} {words}",
        draw=lambda width: _draw(slack, steps, width),
    )


def _draw(slack: Slack, steps: tuple[Step, ...], width: float) -> Canvas:
    """Return the drawing for one width: a bar for each factor on a logarithmic axis."""
    narrow = width < 500
    row = _ROW + 14 * narrow
    left, right = (12.0, width - 52) if narrow else (250.0, width - 64)
    levels = [level for step in steps for level in (step.start, step.end)]
    scale = Scale(
        low=min(1.0, *levels) / 1.04,
        high=max(1.0, *levels) * 1.04,
        left=left,
        right=right,
        name="noise over what the claim needs (logarithmic)",
    )
    canvas = Canvas(width=width)
    bottom = 14 + row * (len(steps) + 2)
    draw_across(canvas, scale, 8, bottom)
    canvas.height = bottom + 48
    needed_x, ratio = scale(1.0), slack.noise_ratio
    _bar(canvas, "Declared noise", scale, (1.0, ratio), nearest(ratio, 3), "total", 14, narrow=narrow)
    y = 14 + row
    for step in steps:
        style = "saved" if step.factor >= 1 else "lacking"
        said = f"÷ {nearest(step.factor, 3)}" if step.factor >= 1 else f"{TIMES} {nearest(1 / step.factor, 3)}"
        _bar(canvas, step.name, scale, (step.end, step.start), said, style, y, narrow=narrow)
        canvas.line(scale(step.end), y + row - 26 + 14, scale(step.end), y + row + 6 + 14 * narrow, "link")
        y += row
    canvas.line(needed_x, 8, needed_x, bottom, "claim thin")
    _bar(canvas, "Needed for the claim", scale, (1.0, 1.0), "1", "proved", y, narrow=narrow)
    return canvas


def _bar(
    canvas: Canvas, name: str, scale: Scale, ends: tuple[float, float], said: str, style: str, y: float, *, narrow: bool
) -> None:
    """Draw one bar with its name and its value."""
    low, high = sorted((scale(ends[0]), scale(ends[1])))
    if narrow:
        canvas.text(6, y + 9, shortened(name, canvas.width - 20), "row halo")
        y += 14
    else:
        canvas.text(4, y + 18, shortened(name, 232), "row")
    canvas.rect(low, y + 5, max(3.0, high - low), 17, style, 2)
    canvas.label(max(high, low + 3), y + 18, (said,), "value halo", gap=7)
