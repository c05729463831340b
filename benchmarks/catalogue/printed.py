"""The table of the catalogue: the true value, the bound and the best possible bound of each mechanism."""

from collections.abc import Sequence

from rich.console import Group, RenderableType
from rich.table import Table

from benchmarks.catalogue.table import Row
from dpaudit.render.layout import inset, section
from dpaudit.wording.markdown import table

_HEAD = ("mechanism", "claim", "truth", "bound", "best", "ceil", "printed", "sec", "verdict")


def benchmark_text(rows: Sequence[Row]) -> RenderableType:
    """Return the table for a terminal, with a summary below."""
    grid = Table(box=None, padding=(0, 1, 0, 0), pad_edge=False)
    for number, head in enumerate(_HEAD):
        grid.add_column(head, no_wrap=True, justify="left" if number in (0, len(_HEAD) - 1) else "right")
    for row in rows:
        grid.add_row(*_cells(row))
    return Group(section("Catalogue of mechanisms"), inset(grid), section("Summary"), inset(_summary(rows)))


def benchmark_markdown(rows: Sequence[Row]) -> str:
    """Return the table as Markdown."""
    return f"{table(_HEAD, map(_cells, rows))}\n\n{_summary(rows)}\n"


def _cells(row: Row) -> tuple[str, ...]:
    """Return one line of the table."""
    numbers = (row.claim, row.truth, row.bound, row.best, row.ceiling, row.published)
    return (row.name, *map(_number, numbers), f"{row.seconds:.2f}", _verdict(row))


def _number(value: float | None) -> str:
    """Return a number, or a dash where there is none."""
    return "-" if value is None else f"{value:.3f}"


def _verdict(row: Row) -> str:
    """Return whether the verdict of the audit was right."""
    if row.false_alarm:
        return "ALARM"
    if row.missed:
        return "missed"
    return "caught" if row.verdict == "violation" else "-"


def _summary(rows: Sequence[Row]) -> str:
    """Return the table in a sentence or two."""
    broken = [row for row in rows if not row.correct]
    caught = sum(row.verdict == "violation" for row in broken)
    alarms = sum(row.false_alarm for row in rows)
    return (
        f"{len(rows)} mechanisms in {sum(row.seconds for row in rows):.1f} s of auditing; "
        f"{caught} of {len(broken)} broken ones caught, {alarms} false alarms among all. Bounds hold one at a time, "
        "verdicts for the whole table. best: what the best event would show; printed: the best published bound, "
        "at 2e8 samples. A dash: nothing to catch, or not known."
    )
