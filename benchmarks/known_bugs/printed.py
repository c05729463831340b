"""The table of known bugs: the detections and false alarms of each defect, with path and rule."""

from collections.abc import Sequence

from rich.console import Group, RenderableType
from rich.table import Table

from benchmarks.known_bugs.bugs import BugRow
from dpaudit.render.layout import inset, section
from dpaudit.wording.markdown import table

_HEAD = ("defect", "family", "path", "rules", "caught", "alarms", "sec")


def bugs_text(rows: Sequence[BugRow]) -> RenderableType:
    """Return the table for a terminal, with a summary below."""
    grid = Table(box=None, padding=(0, 1, 0, 0), pad_edge=False)
    for number, head in enumerate(_HEAD):
        grid.add_column(head, justify="left" if number < 4 else "right")
    for row in rows:
        grid.add_row(*_cells(row))
    return Group(section("Known defects"), inset(grid), section("Summary"), inset(_summary(rows)))


def bugs_markdown(rows: Sequence[BugRow]) -> str:
    """Return the table as Markdown."""
    return f"{table(_HEAD, map(_cells, rows))}\n\n{_summary(rows)}\n"


def _cells(row: BugRow) -> tuple[str, ...]:
    """Return one line of the table."""
    if row.not_run:
        return row.name, row.family, row.path, row.not_run, "-", "-", "-"
    counts = (f"{row.caught}/{row.seeds}", f"{row.alarms}/{row.seeds}")
    return row.name, row.family, row.path, " ".join(row.rules), *counts, f"{row.seconds:.1f}"


def _summary(rows: Sequence[BugRow]) -> str:
    """Return the table in a sentence or two."""
    run = [row for row in rows if not row.not_run]
    caught = sum(not row.missed for row in run)
    alarms = sum(row.alarms for row in run)
    left = f" {len(rows) - len(run)} not run." if len(run) < len(rows) else ""
    return (
        f"{caught} of {len(run)} defects caught on every seed; {alarms} fixed versions flagged, over all seeds; "
        f"{sum(row.seconds for row in run):.1f} s.{left}"
    )
