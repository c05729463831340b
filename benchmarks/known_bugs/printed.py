"""The table of known bugs: the detections and false alarms of each defect, with path and rule."""

from collections.abc import Sequence

from benchmarks.known_bugs.bugs import BugRow
from dpaudit.documents.document import Document, Look, Paragraph, Table, document, under

_HEAD = ("defect", "family", "path", "rules", "caught", "alarms", "sec")
_LOOKS: tuple[Look, ...] = ("", "", "", "", "number", "number", "number")


def bugs_document(rows: Sequence[BugRow]) -> Document:
    """Return the table, with a summary below."""
    table = Table(tuple(map(_cells, rows)), head=_HEAD, looks=_LOOKS, wrapped=True)
    return document(under("Known defects", table), under("Summary", Paragraph(_summary(rows))))


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
