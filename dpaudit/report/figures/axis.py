"""The figure of what is claimed, proved and attacked, on one axis."""

import math
from collections.abc import Callable, Iterator
from functools import partial
from textwrap import wrap

from dpaudit.figures.canvas import Canvas, letters, shortened
from dpaudit.figures.figure import Figure
from dpaudit.figures.scale import Scale, draw_across, reach
from dpaudit.model.readings import PrintedReading
from dpaudit.report.figures.axis_numbers import AxisNumbers, Shown, axis_numbers
from dpaudit.report.inputs import ReportInputs
from dpaudit.wording.certificates import bound_name, sources_phrase
from dpaudit.wording.claims import capital
from dpaudit.wording.numerals import at_least, at_least_beside, at_most, at_most_beside, interval, nearest

_TOP, _ROW = 58.0, 54.0
_NARROW = 500.0
_MOST = 12


def axis_figure(report: ReportInputs) -> Figure:
    """Return the figure of all bounds: a line for the claim, a band for the proof, marks for the attacks."""
    numbers = axis_numbers(report)
    return Figure(
        name="epsilons",
        title=f"{capital(numbers.said)}, {bound_name(report.certificate)} and attacked {numbers.number} on one axis",
        description=_description(report, numbers),
        draw=lambda width: _draw(report, numbers, width),
    )


def _description(report: ReportInputs, numbers: AxisNumbers) -> str:
    """Return the figure in words."""
    certificate = report.certificate
    words = [f"{capital(numbers.said)} (declared): {_number(numbers)}{numbers.written}."]
    if certificate.printed is not None:
        words.append(f"The published proof concludes {nearest(certificate.printed.epsilon)}.")
    told = "Proved of the declaration" if certificate.verdict != "stated" else "Stated, not proved"
    words.append(f"{told}: {_proved_words(report, numbers)}.")
    words += [f"Attacked by {shown.name}: {shown.phrase}." for shown in numbers.attacks]
    return " ".join(words if numbers.attacks else [*words, "Attacked: not assessed."])


def _number(numbers: AxisNumbers) -> str:
    """Return the name of the number before its value, where it is no epsilon."""
    return "" if numbers.number == "epsilon" else f"{numbers.number} of "


def _draw(report: ReportInputs, numbers: AxisNumbers, width: float) -> Canvas:
    """Return the drawing for one width; narrow ones put each row's name above it."""
    narrow = width < _NARROW
    left, right = (12.0, width - 12) if narrow else (158.0, width - 20)
    printed, attacks, claimed = report.certificate.printed, numbers.attacks, numbers.claimed
    values = [claimed, numbers.proved.lower, numbers.proved.upper, *(shown.lower for shown in attacks[:_MOST])]
    values += [printed.epsilon] if printed is not None else []
    low, high = reach(values)
    kind = " (logarithmic)" if low > 0 else ""
    scale = Scale(
        low=low,
        high=high,
        left=left,
        right=right,
        name=f"{numbers.axis}{kind}; further left protects more",
        zero=True,
        infinite=math.inf in values,
    )
    canvas, rows = Canvas(width=width, margin=0.0 if narrow else left), list(_rows(report, numbers, scale))
    bottom = _TOP + _ROW * len(rows) + 22 * (len(attacks) > _MOST)
    draw_across(canvas, scale, 50, bottom)
    if scale.infinite:
        canvas.line(scale.end, bottom, scale.right, bottom, "axis broken")
    canvas.height = bottom + 48
    _claim(canvas, scale(claimed), f"{numbers.said.split()[0]} {numbers.written}", bottom)
    for row_index, (what, detail, draw) in enumerate(rows):
        _name(canvas, what, detail, _TOP + _ROW * row_index)
        draw(canvas, _TOP + _ROW * row_index + 22)
    if len(attacks) > _MOST:
        text = f"and {len(attacks) - _MOST} further audits, listed below"
        canvas.text(left, _TOP + _ROW * len(rows) + 8, text, "note")
    return canvas


def _rows(
    report: ReportInputs, numbers: AxisNumbers, scale: Scale
) -> Iterator[tuple[str, str, Callable[[Canvas, float], None]]]:
    """Yield what each row shows, in detail, and the function that draws it at a height."""
    if report.certificate.printed is not None:
        yield "Published", "the paper's proof", partial(_printed, scale, numbers, report.certificate.printed)
    if report.certificate.verdict == "stated":
        yield "Stated", sources_phrase(report.certificate), partial(_stated, scale, report, numbers)
    else:
        yield "Proved", "by the accountant", partial(_proved, scale, report, numbers)
    for shown in numbers.attacks[:_MOST]:
        yield "Attacked", shown.name, partial(_attack, scale, shown, scale(numbers.claimed))
    if not numbers.attacks:
        yield "Attacked", "not assessed", partial(_unassessed, scale)


def _claim(canvas: Canvas, x: float, text: str, bottom: float) -> None:
    """Draw the claim as a dashed line through all rows: it is declared, not measured."""
    canvas.line(x, 30, x, bottom, "claim")
    if x >= canvas.width - 50:
        canvas.text(min(canvas.width, x + 12), 22, text, "strong", "end")
    elif x > 50:
        canvas.text(x, 22, text, "strong", "middle")
    else:
        canvas.text(max(0.0, x - 6), 22, text, "strong")


def _name(canvas: Canvas, what: str, detail: str, y: float) -> None:
    """Write the name of a row: beside it on a page, above it on a phone."""
    if canvas.width < _NARROW:
        canvas.text(6, y + 5, what, "row halo")
        canvas.text(84, y + 5, shortened(detail, canvas.width - 96, 12), "note halo")
    else:
        canvas.text(4, y + 20, what, "row")
        for line, part in enumerate(wrap(detail, letters(148, 12), max_lines=2, placeholder="…")):
            canvas.text(4, y + 36 + 14 * line, part, "note")


def _printed(scale: Scale, numbers: AxisNumbers, printed: PrintedReading, canvas: Canvas, y: float) -> None:
    """Draw the conclusion of the printed argument, and whether it holds."""
    x, claimed = scale(printed.epsilon), scale(numbers.claimed)
    text = f"{nearest(printed.epsilon)}, {'holds' if printed.valid else 'does not hold'} as written"
    canvas.diamond(x, y, 6, "hollow")
    canvas.label(x, y + 4, (text,), "value halo", 12, (claimed,))


def _unassessed(scale: Scale, canvas: Canvas, y: float) -> None:
    """Draw that there is no attack."""
    canvas.rect(scale.left, y - 10, scale.right - scale.left, 20, "unassessed", 2)
    canvas.text((scale.left + scale.right) / 2, y + 4.5, "nobody attacked the code", "note halo", "middle")


def _proved(scale: Scale, report: ReportInputs, numbers: AxisNumbers, canvas: Canvas, y: float) -> None:
    """Draw the proved bracket: a band, at least wide enough to be seen; only its lower end where the claim is void."""
    tight = numbers.proved
    low, high = scale(tight.lower), scale(tight.lower if report.void else tight.upper)
    middle, half = (low + high) / 2, max(3.0, (high - low) / 2)
    canvas.line(scale.left, y, middle - half, y, "within")
    closed = tight.upper < math.inf and not report.void
    canvas.rect(middle - half, y - 9, 2 * half, 18, "proved" if closed else "proved open", 2)
    claimed = scale(numbers.claimed)
    apart = () if middle - half <= claimed <= middle + half else (claimed,)
    canvas.label(middle + half, y + 4.5, (_proved_words(report, numbers),), "value halo", 8, apart)


def _stated(scale: Scale, report: ReportInputs, numbers: AxisNumbers, canvas: Canvas, y: float) -> None:
    """Draw what others state: a hatched bar from 0 to their bound, with nothing proved in it."""
    upper = scale(numbers.proved.upper)
    canvas.rect(scale.left, y - 9, max(6.0, upper - scale.left), 18, "unassessed", 2)
    x = scale.left + 6
    while x < upper:
        canvas.line(x - 6, y + 9, x, y - 9, "hatch")
        x += 8
    canvas.label(upper, y + 4.5, (_proved_words(report, numbers),), "value halo", 8, (scale(numbers.claimed),))


def _proved_words(report: ReportInputs, numbers: AxisNumbers) -> str:
    """Return the proved bracket; its lower end alone where no upper bound is known of the code."""
    tight, claimed = numbers.proved, numbers.claimed
    if report.certificate.verdict == "stated":
        return f"at most {at_most(tight.upper)}, on trust"
    if report.void:
        return f"at least {at_least(tight.lower)}"
    if tight.lower <= tight.upper <= claimed and nearest(tight.lower) == nearest(tight.upper):
        return at_most_beside(tight.upper, claimed)
    return interval(tight)


def _attack(scale: Scale, shown: Shown, claimed: float, canvas: Canvas, y: float) -> None:
    """Draw a lower bound as a filled mark, with a thin line on to the most that the runs could have shown."""
    x = scale(shown.lower)
    if shown.ceiling is not None:
        _ceiling(scale, x, shown.ceiling, canvas, y)
    style = "attacked faint" if shown.attack.result.verdict == "inconclusive" else "attacked"
    canvas.path([(x - 5, y - 8), (x + 7, y), (x - 5, y + 8)], style, closed=True)
    beyond = shown.ceiling is not None and scale.high < shown.ceiling
    canvas.label(x + 4, y + 4.5, _attack_words(shown, beyond=beyond), "value halo", 10, (claimed,))


def _ceiling(scale: Scale, x: float, most: float, canvas: Canvas, y: float) -> None:
    """Draw the line from a lower bound to the most that the runs could have shown."""
    ceiling, beyond = scale(most), most > scale.high
    canvas.line(x, y, scale.right if beyond else max(x, ceiling), y, "reach")
    if beyond:
        canvas.path([(scale.right - 6, y - 4), (scale.right, y), (scale.right - 6, y + 4)], "reach end")
    else:
        canvas.line(ceiling, y - 7, ceiling, y + 7, "reach end")


def _attack_words(shown: Shown, *, beyond: bool) -> tuple[str, ...]:
    """Return what an attack shows, in words for more and for less room."""
    bound, provision = f"at least {at_least_beside(shown.lower, shown.claimed)}", shown.attack.provision
    shorter = f"{bound}, {provision}" if provision else bound
    conditional = f"{bound}, under an assumption" if provision == "assumed" else shorter
    if not beyond or shown.ceiling in (None, math.inf):
        return conditional, shorter
    return f"{conditional}, ceiling {at_most(shown.ceiling or 0.0)}", conditional, shorter
