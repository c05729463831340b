"""The table of the catalogue: the true value, the bound and the best possible bound of each mechanism."""

from collections.abc import Sequence

from benchmarks.catalogue.table import Row
from dpaudit.documents.document import Document, Look, Paragraph, Table, document, under

_HEAD = ("mechanism", "claim", "truth", "bound", "best", "ceil", "printed", "sec", "verdict")
_LOOKS: tuple[Look, ...] = ("", "number", "number", "number", "number", "number", "number", "number", "")


def benchmark_document(rows: Sequence[Row]) -> Document:
    """Return the table, with a summary below."""
    table = Table(tuple(map(_cells, rows)), head=_HEAD, looks=_LOOKS, wrapped=True)
    return document(under("Catalogue of mechanisms", table), under("Summary", Paragraph(_summary(rows))))


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
