"""A curve of a declaration as text, CSV and plain data."""

import csv
import io
from typing import Any

from dpaudit.accounting.curves.table import CurveTable
from dpaudit.documents.document import Document, Paragraph, Table, document, items, under
from dpaudit.model.certificate import CertificateRecord
from dpaudit.model.codec import encode
from dpaudit.wording.numerals import at_least, at_most, nearest

SCHEMA = "urn:dpaudit:schema:curve:1"
"""The schema of what `curve_data` returns."""


def curve_document(table: CurveTable) -> Document:
    """Return the curve: its meaning, the numbers that sum it up, its rows, bounds rounded outwards."""
    rows = tuple(tuple(map(_written, table.columns, row)) for row in table.rows)
    ranges = (
        f"{_name(interval.name)}: from {at_least(interval.lower, 6)} to {at_most(interval.upper, 6)}"
        for interval in table.ranges
    )
    return document(
        Paragraph(f"{table.meaning[0].upper()}{table.meaning[1:]}."),
        items((*ranges, *table.notes)),
        under("Curve", Table(rows, head=tuple(name.replace("_", " ") for name in table.columns), wrapped=True)),
    )


def _name(name: str) -> str:
    """Return the name of a range in words."""
    words = {"delta_from_to": "delta along the rows", "mu_from_to": "mu along the rows", "mu_star": "mu*"}
    return words.get(name, name)


def _written(column: str, value: float) -> str:
    """Return a number as its column rounds it."""
    if column.endswith("lower"):
        return at_least(value, 6)
    return at_most(value, 6) if column.endswith("upper") else nearest(value, 6)


def curve_csv(table: CurveTable) -> str:
    """Return the rows as CSV with a head, each number in full; infinity is "inf"."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(table.columns)
    writer.writerows([repr(value) for value in row] for row in table.rows)
    return text.getvalue()


def curve_data(table: CurveTable, record: CertificateRecord) -> dict[str, Any]:
    """Return the curve as plain data with the claim and the digest of the certificate; infinity is "inf"."""
    data = record.to_dict()
    return {
        "schema": SCHEMA,
        "kind": table.kind,
        "meaning": table.meaning,
        "claim": encode(record.claim),
        "certificate": data["digest"],
        "columns": list(table.columns),
        "rows": encode(table.rows),
        "ranges": encode(table.ranges),
        "notes": list(table.notes),
    }
