"""The figure of privacy and usefulness: regret a round against certified epsilon, with floors and ceilings."""

from dpaudit.report.figures.canvas import Canvas, Scale, draw_across, draw_up, scale_for, shortened
from dpaudit.report.figures.figure import Figure
from dpaudit.study.front import Front, FrontPoint
from dpaudit.wording.numerals import at_most, nearest, whole

_LINE = 18.0
_TOP = 16.0
_NARROW = 500.0
_SHAPES = 5
_DECADE_ROOM = 1.6
"""A logarithmic axis reaches so far beyond its outermost points, as a factor."""


def front_figure(front: Front) -> Figure:
    """Return the figure of a front that has a present setting."""
    return Figure(
        name="front",
        title=f"Privacy and usefulness on {front.problem}, {whole(front.horizon)} simulated users",
        description=_description(front),
        draw=lambda width: _draw(front, width),
    )


def _description(front: Front) -> str:
    """Return the figure in words."""
    present = front.present
    levels = ", ".join(f"{level.label} {nearest(level.regret, 3)}" for level in front.levels)
    return (
        f"This setting ({present.label}) loses {nearest(present.regret, 3)} a round at certified epsilon "
        f"{at_most(present.epsilon)}. Levels: {levels}. The table has every point."
    )


def _draw(front: Front, width: float) -> Canvas:
    """Return the drawing for one width: the axes, the levels, the points and the legend below them."""
    labels = list(dict.fromkeys(point.label for point in front.points))
    legend = [*labels, *(level.label for level in front.levels), *(name for name, _ in front.bounds)]
    columns = 1 if width < _NARROW else 2
    plot = 250.0 if width < _NARROW else 300.0
    canvas = Canvas(width=width, height=_TOP + plot + 66 + _LINE * -(-(len(legend) + 1) // columns))
    left, right, bottom = 62.0, width - 16, _TOP + plot
    epsilons = [point.epsilon for point in front.points]
    across = Scale(low=min(epsilons) / _DECADE_ROOM, high=max(epsilons) * _DECADE_ROOM, left=left - 34, right=right)
    lowest = [regret for _, places in front.bounds for _, regret in places]
    up = scale_for([*(p.regret for p in front.points), *(level.regret for level in front.levels), *lowest], 0.0, plot)
    _axes(canvas, across, up, (left, right, bottom))
    for number, level in enumerate(front.levels):
        y = bottom - up(level.regret)
        canvas.line(left, y, right, y, _level_style(level.role, number))
    for number, (_, places) in enumerate(front.bounds):
        canvas.path([(across(epsilon), bottom - up(regret)) for epsilon, regret in places], f"bound dash{number % 5}")
    for number, label in sorted(enumerate(labels), key=lambda entry: entry[1] == front.present.label):
        own = [point for point in front.points if point.label == label]
        _series(canvas, [(across(p.epsilon), bottom - up(p.regret), p) for p in own], number)
        for point in own:
            x = across(point.epsilon)
            canvas.line(x, bottom - up(max(point.lower, 0.0)), x, bottom - up(point.upper), "whisker")
    _legend(canvas, front, labels, bottom + 58, columns)
    return canvas


def _axes(canvas: Canvas, across: Scale, up: Scale, place: tuple[float, float, float]) -> None:
    """Draw both axes with their marks and names."""
    left, right, bottom = place
    draw_across(canvas, across, _TOP, bottom, "certified epsilon, in nats (logarithmic)", first=left)
    draw_up(canvas, [(bottom - height, label) for height, label in up.ticks()], left, right)
    kind = " (logarithmic)" if up.logarithmic else ""
    canvas.text(left + 6, _TOP - 2, f"regret a round{kind}; lower is better", "note halo")


def _series(canvas: Canvas, places: list[tuple[float, float, FrontPoint]], number: int) -> None:
    """Draw the points of one contender and the line through them."""
    ours = any(point.present for _, _, point in places)
    canvas.path([(x, y) for x, y, _ in places], "front ours" if ours else "front")
    for x, y, point in places:
        _mark(canvas, x, y, number, "ours" if ours else "other", hollow=point.model == "local")
        if not point.visible:
            canvas.line(x - 6, y - 6, x + 6, y + 6, "crossed")
            canvas.line(x - 6, y + 6, x + 6, y - 6, "crossed")
        if point.present:
            canvas.circle(x, y, 10, "ring")
            canvas.label(x, y - 12, ("this setting",), "strong halo", gap=10)


def _mark(canvas: Canvas, x: float, y: float, number: int, whose: str, *, hollow: bool) -> None:
    """Draw the mark of a contender: a shape of its own, hollow in the local model."""
    style = f"mark {whose}{' empty' if hollow else ''}"
    match number % _SHAPES:
        case 0:
            canvas.circle(x, y, 4.5, style)
        case 1:
            canvas.rect(x - 4, y - 4, 8, 8, style)
        case 2:
            canvas.diamond(x, y, 5.5, style)
        case 3:
            canvas.path([(x - 5, y + 4), (x, y - 5), (x + 5, y + 4)], style, closed=True)
        case _:
            canvas.path([(x - 5, y - 4), (x, y + 5), (x + 5, y - 4)], style, closed=True)


def _level_style(role: str, number: int) -> str:
    """Return the style of a floor or a ceiling; levels of one role differ in their dashes."""
    return f"level {role} dash{number % 5}"


def _legend(canvas: Canvas, front: Front, labels: list[str], top: float, columns: int) -> None:
    """Write which mark is whose, and what a cross means."""
    room = canvas.width / columns
    models = {point.label: point.model for point in front.points}
    entries = [*labels, *(level.label for level in front.levels), *(name for name, _ in front.bounds), ""]
    for place, name in enumerate(entries):
        x, y = 10 + room * (place % columns), top + _LINE * (place // columns)
        if place < len(labels):
            ours = any(point.present for point in front.points if point.label == name)
            _mark(canvas, x + 12, y - 4, place, "ours" if ours else "other", hollow=models[name] == "local")
            text = f"{name} ({models[name]})"
        elif name and place - len(labels) >= len(front.levels):
            number = place - len(labels) - len(front.levels)
            canvas.line(x, y - 4, x + 24, y - 4, f"bound dash{number % 5}")
            text = name
        elif name:
            level = front.levels[place - len(labels)]
            canvas.line(x, y - 4, x + 24, y - 4, _level_style(level.role, place - len(labels)))
            text = f"{name} ({level.role})"
        else:
            canvas.line(x + 6, y - 10, x + 18, y + 2, "crossed")
            canvas.line(x + 6, y + 2, x + 18, y - 10, "crossed")
            text = "crossed: learning is not shown"
        canvas.text(x + 32, y, shortened(text, room - 46, 12), "note")
