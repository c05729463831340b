"""The wall as one page of HTML, as text and as plain data."""

from collections.abc import Sequence
from typing import Any

from rich.console import Group, RenderableType
from rich.text import Text

from benchmarks.wall.row import RowResult
from dpaudit.model.codec import encode
from dpaudit.render.layout import columns, inset, section
from dpaudit.wording.escaping import xml
from dpaudit.wording.markdown import table
from dpaudit.wording.numerals import at_least, nearest, whole

_STYLE = """
:root{color-scheme:light dark}body{font:15px/1.45 system-ui,sans-serif;max-width:72rem;margin:2rem auto;padding:0 1rem}
h1{font-size:1.6rem;margin:0 0 .3rem}h2{font-size:1.15rem;margin:2rem 0 .4rem}.wide{overflow-x:auto}
table{border-collapse:collapse;width:100%}th,td{padding:.3rem .6rem;text-align:left;vertical-align:top;
border-bottom:1px solid color-mix(in srgb,currentColor 18%,transparent)}th{font-weight:600;font-size:.85rem}
th:first-child,td:first-child{min-width:15rem}td.n,th.n{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}td:last-child{min-width:14rem}.mark{font-weight:600}
.violation,.refuted{color:#a2401f}.consistent,.not_refuted,.certified{color:#26704a}.dim{opacity:.7;font-size:.87rem}
@media(max-width:40rem){th:first-child,td:first-child{min-width:8rem}td:last-child{min-width:11rem}
th,td{padding:.3rem .35rem}}
@media(prefers-color-scheme:dark){.violation,.refuted{color:#f0926e}.consistent,.not_refuted,.certified{color:#7cc79d}}
"""
_HEAD = (
    "library",
    "mechanism and pair",
    "verdict",
    "claimed",
    "shown",
    "would have seen",
    "runs",
    "s",
    "known beforehand",
)


def wall_data(results: Sequence[RowResult], significance: float, family: int, seed: int) -> dict[str, Any]:
    """Return the wall as plain data: the rows and the level that they share."""
    return {"significance": significance, "family": family, "seed": seed, "rows": [encode(row) for row in results]}


def wall_text(results: Sequence[RowResult], significance: float, family: int) -> RenderableType:
    """Return the wall for a terminal, library by library."""
    parts: list[RenderableType] = []
    for library in dict.fromkeys(row.library for row in results):
        rows = [row for row in results if row.library == library]
        version = next((row.version for row in rows if row.version), "not run")
        parts += [section(f"{library} {version}"), columns((_line(row) for row in rows), "", "", "dim")]
    return Group(*parts, Text(), inset(summary(results, significance, family)))


def wall_markdown(results: Sequence[RowResult], significance: float, family: int) -> str:
    """Return the wall as one Markdown table."""
    rows = [tuple(_cells(row)) for row in results]
    return f"{table(_HEAD, rows)}\n\n{summary(results, significance, family)}\n"


def wall_page(results: Sequence[RowResult], significance: float, family: int, created: str) -> str:
    """Return the wall as a page that needs nothing else."""
    parts = [
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>The wall</title><style>{_STYLE}</style></head><body>\n<h1>The wall</h1>\n"
        f"<p>As of {xml(created)}. {xml(summary(results, significance, family))}</p>\n"
        "<p class='dim'>A verdict is about one pair of neighbours and one attack. "
        "<em>Consistent</em> never means correct. A bound is printed at significance 0.01 for its row alone; "
        "an accusation uses the level of the whole list.</p>\n"
    ]
    for library in dict.fromkeys(row.library for row in results):
        rows = [row for row in results if row.library == library]
        version = next((row.version for row in rows if row.version), "not run")
        head = "".join(f"<th{_number(place)}>{xml(title)}</th>" for place, title in enumerate(_HEAD[1:], 1))
        body = "".join(_html(row) for row in rows)
        parts.append(
            f"<h2>{xml(library)} {xml(version)}</h2>\n<div class='wide'><table><thead><tr>{head}</tr></thead>"
            f"<tbody>{body}</tbody></table></div>\n"
        )
    return "".join(parts) + "</body></html>\n"


def summary(results: Sequence[RowResult], significance: float, family: int) -> str:
    """Return what was measured and found, in a few sentences."""
    measured = [row for row in results if row.outcome != "not run"]
    accused = [row for row in measured if row.accused]
    surprising, missed = sum(row.surprising for row in measured), sum(row.missed for row in measured)
    detected = f"{missed} known bugs were not detected." if missed else "All known bugs were detected."
    return (
        f"{len(measured)} of {len(results)} rows were measured, {len(accused)} are flagged: {surprising} that were "
        f"held to be sound, {len(accused) - surprising} that were known. {detected} "
        f"With probability at least {nearest(1 - significance)} no true claim among {family} rows is flagged."
    )


def _line(row: RowResult) -> tuple[str | Text, ...]:
    """Return one row for a terminal."""
    colour = "red" if row.accused else "yellow" if row.outcome in ("not run", "inconclusive", "not_proved") else "green"
    _, name, verdict, claimed, shown, *_ = _cells(row)
    known = "" if row.standing == "sound" else f" [{row.standing}{': ' + row.source if row.source else ''}]"
    tail = f"{shown} of {claimed}{known}" if row.claim else f"{row.note}{known}"
    return Text(verdict, style=colour), name, tail


def _cells(row: RowResult) -> list[str]:
    """Return the cells of one row, in the order of the head."""
    claim = row.claim
    claimed = (
        "" if claim is None else nearest(claim.epsilon, 5) + (f", {nearest(claim.delta, 5)}" if claim.delta else "")
    )
    ran = claim is not None and row.runs > 0
    known = row.standing if not row.source else f"{row.standing}: {row.source}"
    again = {True: ", again on fresh runs", False: ", not again on fresh runs", None: ""}[row.again]
    return [
        f"{row.library} {row.version}".strip(),
        f"{row.name}; {row.pair}",
        row.outcome.replace("_", " ") + again,
        claimed,
        at_least(row.epsilon_lower, 3) if ran else "",
        "" if row.power is None else nearest(row.power, 3),
        whole(row.runs) if row.runs else "",
        nearest(row.seconds, 2),
        f"{known}{'. ' + row.note if row.note else ''}",
    ]


def _html(row: RowResult) -> str:
    """Return one row of the page."""
    cells = _cells(row)[1:]
    body = "".join(
        f"<td class='mark {row.outcome.replace(' ', '-')}'>{xml(text)}</td>"
        if place == 2
        else f"<td{_number(place)}>{xml(text)}</td>"
        for place, text in enumerate(cells, 1)
    )
    return f"<tr>{body}</tr>\n"


def _number(place: int) -> str:
    """Return the class of a column of numbers."""
    return " class='n'" if 3 <= place <= 7 else ""
