"""The history as one HTML page without requests and scripts: a chart and a table for each subject."""

import math
from datetime import date

from dpaudit.history.observations import Observation, Observed
from dpaudit.history.trends import Trend, summary_of, trends_of
from dpaudit.wording.escaping import xml
from dpaudit.wording.numerals import at_least, at_most, nearest

_STYLE = """
body { font: 16px/1.5 Georgia, serif; max-width: 56rem; margin: 2rem auto; padding: 0 1rem; color: #22252b;
  background: #fff; overflow-wrap: anywhere; }
h1 { font-size: 1.5rem; } h2 { font-size: 1.2rem; margin-top: 2.5rem; }
.wide { overflow-x: auto; } table { border-collapse: collapse; width: 100%; font-size: .9rem; }
th, td { text-align: left; padding: .3rem .6rem .3rem 0; border-bottom: 1px solid #dcd7ca; vertical-align: top; }
td.n, th.n { text-align: right; font-variant-numeric: tabular-nums; }
svg { width: 100%; height: auto; max-width: 40rem; } svg text { font-size: 15px; fill: currentColor; }
.claimed { stroke: currentColor; } .proved { stroke: #2a5d8f; } .attacked { fill: #a2401f; }
@media (prefers-color-scheme: dark) { body { color: #e8e6e1; background: #16181c; } th, td { border-color: #3a3d44; }
  .proved { stroke: #7fb2e5; } .attacked { fill: #e58a66; } }
@media print { body { margin: 0; max-width: none; } h2 { break-after: avoid; } tr { break-inside: avoid; } }
"""
_WIDTH, _HEIGHT, _LEFT, _RIGHT, _TOP, _BOTTOM = 640, 230, 70, 12, 14, 34


def history_page(observed: Observed) -> str:
    """Return the history of all subjects as one page; every text is escaped."""
    trends = trends_of(observed.observations)
    unread = "".join(f"<li>{xml(line)}</li>" for line in observed.unread)
    lost = f"<p><strong>Documents that could not be read:</strong></p><ul>{unread}</ul>" if unread else ""
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>Privacy over time</title><style>{_STYLE}</style></head><body>\n<h1>Privacy over time</h1>\n"
        f"<p>{observed.documents} documents, {len(trends)} subjects. A bound from below holds at the significance of "
        "its audit; bounds of fresh runs differ by chance.</p>\n"
        f"{lost}{''.join(_section(trend) for trend in trends)}</body></html>\n"
    )


def _section(trend: Trend) -> str:
    """Return the section of one subject."""
    turns = "".join(f"<li>{turn.later.day}: {xml(turn.sentence)}</li>" for turn in trend.turns)
    head = ("day", "document", "verdict", "claimed", "proved, at most", "attacked, at least", "findings", "open issues")
    cells = "".join(f"<th{'' if place < 3 else ' class=n'}>{name}</th>" for place, name in enumerate(head))
    rows = "".join(_row(seen) for seen in trend.observations)
    return (
        f"<h2>{xml(trend.subject)}</h2>\n<p>{xml(summary_of(trend))}</p>\n{_chart(trend)}\n"
        + (f"<ul>{turns}</ul>\n" if turns else "")
        + f'<div class="wide"><table><thead><tr>{cells}</tr></thead><tbody>{rows}</tbody></table></div>\n'
    )


def _row(seen: Observation) -> str:
    """Return one observation as a row."""
    spent = "" if seen.spent is None else f"; {at_most(100 * seen.spent, 3)} % of the budget spent"
    numbers = (
        "" if seen.claimed is None else nearest(seen.claimed),
        "" if seen.proved is None else at_most(seen.proved),
        "" if seen.attacked is None else at_least(seen.attacked),
        str(seen.findings),
        "" if seen.open_issues is None else str(seen.open_issues),
    )
    words = f"<td>{seen.day}</td><td>{xml(seen.document)}</td><td>{xml(seen.verdict + spent)}</td>"
    return f"<tr>{words}{''.join(f'<td class=n>{xml(number)}</td>' for number in numbers)}</tr>"


def _chart(trend: Trend) -> str:
    """Return claimed and proved epsilon as lines over time, bounds from below as dots; infinity is not drawn."""
    days = [seen.day for seen in trend.observations]
    numbers = [v for seen in trend.observations for v in (seen.claimed, seen.proved, seen.attacked)]
    finite = [value for value in numbers if value is not None and math.isfinite(value)]
    highest = max(finite, default=0.0) or 1.0
    lines = "".join(
        f'<polyline class="{name}" points="{" ".join(points)}" fill="none" stroke-width="2"{dashes}/>'
        for name, dashes in (("claimed", ' stroke-dasharray="6 4"'), ("proved", ""))
        if (points := _points(trend, name, days, highest))
    )
    dots = "".join(
        f'<circle class="attacked" cx="{_x(seen.day, days):.1f}" cy="{_y(seen.attacked, highest):.1f}" r="4"/>'
        for seen in trend.observations
        if seen.attacked is not None and math.isfinite(seen.attacked)
    )
    scale = "".join(
        f'<text x="{_LEFT - 6}" y="{_y(value, highest) + 4:.1f}" text-anchor="end">{nearest(value, 2)}</text>'
        f'<line x1="{_LEFT}" x2="{_WIDTH - _RIGHT}" y1="{_y(value, highest):.1f}" y2="{_y(value, highest):.1f}" '
        'stroke="currentColor" stroke-opacity=".15"/>'
        for value in (0.0, highest / 2, highest)
    )
    last = f'<text x="{_WIDTH - _RIGHT}" y="{_HEIGHT - 8}" text-anchor="end">{days[-1]}</text>'
    return (
        f'<svg viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" aria-label="epsilon over time: claimed dashed, proved as a '
        f'line, bounds from below as dots">{scale}{lines}{dots}<text x="{_LEFT}" y="{_HEIGHT - 8}">{days[0]}</text>'
        f"{last if days[-1] != days[0] else ''}</svg><p>Dashed: claimed. Line: proved. Dots: bounds from below.</p>"
    )


def _points(trend: Trend, name: str, days: list[date], highest: float) -> list[str]:
    """Return the corners of one line; a single observation is drawn as a short line."""
    values = [(_x(seen.day, days), getattr(seen, name)) for seen in trend.observations]
    drawn = [(x, _y(value, highest)) for x, value in values if value is not None and math.isfinite(value)]
    if len(drawn) == 1:
        drawn = [(drawn[0][0] - 14, drawn[0][1]), (drawn[0][0] + 14, drawn[0][1])]
    return [f"{x:.1f},{y:.1f}" for x, y in drawn]


def _x(day: date, days: list[date]) -> float:
    """Return the place of a day; one day alone stands in the middle."""
    span = (days[-1] - days[0]).days
    share = (day - days[0]).days / span if span else 0.5
    return _LEFT + 14 + (_WIDTH - _LEFT - _RIGHT - 28) * share


def _y(value: float, highest: float) -> float:
    """Return the height of an epsilon."""
    return _TOP + (_HEIGHT - _TOP - _BOTTOM) * (1 - value / highest)
