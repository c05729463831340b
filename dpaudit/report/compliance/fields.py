"""The parts of a section: a field with its status, a table, the section itself."""

from collections.abc import Iterable
from dataclasses import dataclass, fields
from datetime import date
from typing import Annotated, Any, Literal

from dpaudit.checks import Spelled
from dpaudit.json_schema import Text
from dpaudit.model.deployment import PRINTED
from dpaudit.wording.numerals import whole

Status = Literal["evidence", "declared", "not_assessed", "not_applicable"]
"""Computed or measured here; said by a person; nobody looked; does not apply."""

NOT_ASSESSED = "not assessed"
"""What stands where a value would: it is never left blank."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Field:
    """One value, what it rests on, and where that is found in report.json (or in the deployment's own words)."""

    name: Text
    value: str
    status: Status
    evidence_ref: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Grid:
    """A table of text; `statuses` has one entry a row. Details stand in the annex, or are folded."""

    name: str
    caption: str
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    statuses: tuple[Status, ...]
    note: str = ""
    annex: bool = False


Part = Field | Grid


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """One section: its number and title, its fields and tables, and which outside words it answers to."""

    number: Annotated[str, Spelled("([0-9]|7a|9a|1[0-3]|A)")]
    ident: Annotated[str, Spelled("[a-z]+")]
    title: Text
    crosswalk: str
    fields: tuple[Field, ...] = ()
    grids: tuple[Grid, ...] = ()


def grid(
    name: str,
    caption: str,
    head: tuple[str, ...],
    rows: Iterable[tuple[str, ...]],
    *,
    status: Status = "evidence",
    statuses: Iterable[Status] | None = None,
    note: str = "",
    annex: bool = False,
) -> Grid:
    """Return a table whose rows all have one status, unless `statuses` has one for each."""
    cells = tuple(rows)
    each = (status,) * len(cells) if statuses is None else tuple(statuses)
    return Grid(name=name, caption=caption, head=head, rows=cells, statuses=each, note=note, annex=annex)


def declared(name: str, value: object, ref: str) -> Field:
    """Return a declared field, or a field without a value if nobody declared it."""
    text = _text(value)
    if not text:
        return unknown(name)
    return Field(name=name, value=text, status="declared", evidence_ref=f"deployment.{ref}")


def declared_fields(table: Any, ref: str, *keys: str, **counts: int | None) -> tuple[Field, ...]:
    """Return the fields of a table of the deployment that have a printed name; only those of `keys` where it has any.

    `counts` has, by key, a count that algorithm or problem know; it stands where nobody declared one.
    """
    parts: list[Field] = []
    for entry in fields(table):
        name, value, count = entry.metadata.get(PRINTED), getattr(table, entry.name), counts.get(entry.name)
        if name is None or (keys and entry.name not in keys):
            continue
        if value is None and count is not None:
            parts.append(evidence(name, whole(count), entry.name))
        else:
            parts.append(declared(name, value, f"{ref}.{entry.name}"))
    return tuple(parts)


def stated(name: str, value: str, ref: str) -> Field:
    """Return a field that the claim states; it is declared, and part of the certificate."""
    return Field(name=name, value=value, status="declared", evidence_ref=ref)


def evidence(name: str, value: str, ref: str, unless: str = NOT_ASSESSED) -> Field:
    """Return a field that was computed or measured; one that nobody assessed, with a remark, where there is no text."""
    return Field(name=name, value=value, status="evidence", evidence_ref=ref) if value else unknown(name, unless)


def unknown(name: str, remark: str = NOT_ASSESSED) -> Field:
    """Return a field that nobody assessed."""
    return Field(name=name, value=remark or NOT_ASSESSED, status="not_assessed")


def not_applicable(name: str, why: str) -> Field:
    """Return a field that does not apply, and why."""
    return Field(name=name, value=why, status="not_applicable")


def _text(value: object) -> str:
    """Return a declared value as text: lists with semicolons, dates in ISO form."""
    if isinstance(value, tuple):
        return "; ".join(str(item) for item in value)
    if isinstance(value, date):
        return value.isoformat()
    return "" if value is None else str(value)
