"""The wall as a document and as plain data."""

from collections.abc import Sequence
from typing import Any

from benchmarks.wall.row import KNOWN, RowResult
from dpaudit.documents.document import Block, Cell, Document, Look, Mark, Paragraph, Table, document, under
from dpaudit.model.codec import encode
from dpaudit.wording.numerals import at_least, nearest, whole
from dpaudit.wording.verdicts import Tone

_HEAD = (
    "mechanism and pair",
    "verdict",
    "claimed",
    "shown",
    "would have seen",
    "runs",
    "s",
    "known beforehand",
)
_LOOKS: tuple[Look, ...] = ("", "", "number", "number", "number", "number", "number", "")


def wall_data(results: Sequence[RowResult], significance: float, family: int, seed: int) -> dict[str, Any]:
    """Return the wall as plain data: the rows and the level that they share."""
    return {"significance": significance, "family": family, "seed": seed, "rows": [encode(row) for row in results]}


def wall_document(results: Sequence[RowResult], significance: float, family: int, created: str = "") -> Document:
    """Return the wall, library by library; a page says of which day it is."""
    said = summary(results, significance, family)
    return document(
        Paragraph(f"As of {created}. {said}" if created else said),
        Paragraph(
            "A verdict is about one pair of neighbours and one attack. Consistent never means correct. A bound is "
            "printed at significance 0.01 for its row alone; a row is flagged at the level of the whole list.",
            quiet=True,
        ),
        *(_library(name, results) for name in dict.fromkeys(row.library for row in results)),
        title="The wall",
    )


def _library(name: str, results: Sequence[RowResult]) -> tuple[Block, ...]:
    """Return the rows of one library."""
    rows = [row for row in results if row.library == name]
    version = next((row.version for row in rows if row.version), "not run")
    return under(f"{name} {version}", Table(tuple(map(_cells, rows)), head=_HEAD, looks=_LOOKS, wrapped=True))


def summary(results: Sequence[RowResult], significance: float, family: int) -> str:
    """Return what was measured and found, in a few sentences."""
    measured = [row for row in results if row.outcome != "not run"]
    accused = [row for row in measured if row.accused]
    surprising, missed = sum(row.surprising for row in measured), sum(row.missed for row in measured)
    known = sum(row.standing in KNOWN for row in measured)
    detected = f"Of {known} known bugs that were run, {known - missed} were detected."
    return (
        f"{len(measured)} of {len(results)} rows were measured, {len(accused)} are flagged: {surprising} that were "
        f"held to be sound, {len(accused) - surprising} that were known. {detected} "
        f"With probability at least {nearest(1 - significance)} no true claim among {family} rows is flagged."
    )


def _cells(row: RowResult) -> tuple[Cell, ...]:
    """Return the cells of one row, in the order of the head."""
    claim = row.claim
    claimed = (
        "" if claim is None else nearest(claim.epsilon, 5) + (f", {nearest(claim.delta, 5)}" if claim.delta else "")
    )
    ran = claim is not None and row.runs > 0
    known = row.standing if not row.source else f"{row.standing}: {row.source}"
    again = {True: ", again on fresh runs", False: ", not again on fresh runs", None: ""}[row.again]
    open_ones = ("not run", "inconclusive", "not_proved")
    tone: Tone = "bad" if row.accused else "open" if row.outcome in open_ones else "good"
    return (
        f"{row.name}; {row.pair}",
        Mark(row.outcome.replace("_", " ") + again, tone),
        claimed,
        at_least(row.epsilon_lower, 3) if ran else "",
        "" if row.power is None else nearest(row.power, 3),
        whole(row.runs) if row.runs else "",
        nearest(row.seconds, 2),
        f"{known}{'. ' + row.note if row.note else ''}",
    )
