"""Edits of the derivation that a certificate carries, each of which leaves no proof of the whole."""

from collections.abc import Callable, Iterator
from copy import deepcopy
from typing import Any

Data = dict[str, Any]
Rows = list[Data]


def _of_others(key: str) -> Callable[[Rows], Iterator[Rows]]:
    """An edit that gives a row what another row has under a key."""

    def edit(rows: Rows) -> Iterator[Rows]:
        for i, row in enumerate(rows):
            for value in [other[key] for other in rows if other[key] != row[key]][:2]:
                yield _changed(rows, i, {key: value})

    return edit


def _changed(rows: Rows, i: int, change: Data) -> Rows:
    """Return rows of which one was changed."""
    return [*deepcopy(rows[:i]), deepcopy(rows[i]) | deepcopy(change), *deepcopy(rows[i + 1 :])]


def _other_move(rows: Rows) -> Iterator[Rows]:
    """Each row under each other move."""
    for i, row in enumerate(rows):
        for move in {"remove", "zero", "replace", "exchange"} - {row["move"]}:
            yield _changed(rows, i, {"move": move})


def _other_records(rows: Rows) -> Iterator[Rows]:
    """Each row for one record more."""
    for i, row in enumerate(rows):
        yield _changed(rows, i, {"records": row["records"] + 1})


def _premise_dropped(rows: Rows) -> Iterator[Rows]:
    """Each premise in turn is left out."""
    for i, row in enumerate(rows):
        for j in range(len(row["premises"])):
            yield _changed(rows, i, {"premises": row["premises"][:j] + row["premises"][j + 1 :]})


def _other_premise(rows: Rows) -> Iterator[Rows]:
    """Each premise is another row: of another part, the row itself, a later one, or one that is not there."""
    for i, row in enumerate(rows):
        for j, premise in enumerate(row["premises"]):
            for other in {0, i, len(rows) - 1, len(rows), premise + 1} - {premise}:
                yield _changed(rows, i, {"premises": [*row["premises"][:j], other, *row["premises"][j + 1 :]]})


def _premises_in_another_order(rows: Rows) -> Iterator[Rows]:
    """The premises of a row, the last one first."""
    for i, row in enumerate(rows):
        if row["premises"] != row["premises"][::-1]:
            yield _changed(rows, i, {"premises": row["premises"][::-1]})


def _row_twice(rows: Rows) -> Iterator[Rows]:
    """Each row once more, before the whole and after it."""
    for row in rows:
        yield [*rows, row | {"id": len(rows)}]
        yield [*rows[:-1], row | {"id": len(rows) - 1}, rows[-1] | {"id": len(rows)}]


def _row_dropped(rows: Rows) -> Iterator[Rows]:
    """Each row is left out, and the others keep their ids or are counted again."""
    for i in range(len(rows)):
        left = [*rows[:i], *rows[i + 1 :]]
        yield left
        yield [row | {"id": place} for place, row in enumerate(left)]


def _rows_exchanged(rows: Rows) -> Iterator[Rows]:
    """Two neighbouring rows change places, with their ids and without."""
    for i in range(len(rows) - 1):
        swapped = [*rows[:i], rows[i + 1], rows[i], *rows[i + 2 :]]
        yield swapped
        yield [row | {"id": place} for place, row in enumerate(swapped)]


def _other_numbers(rows: Rows) -> Iterator[Rows]:
    """Each parameter and each number of a conclusion is doubled, or left out."""
    for i, row in enumerate(rows):
        for key in {"parameters", "conclusion"} & row.keys():
            for name, value in row[key].items():
                yield _changed(rows, i, {key: row[key] | {name: 2 * value + 1}})
                yield _changed(rows, i, {key: {other: held for other, held in row[key].items() if other != name}})
    for i, row in enumerate(rows):
        if row["premises"]:
            yield _changed(rows, i, {"conclusion": {"mu": 0.1}})


def _near_numbers(rows: Rows) -> Iterator[Rows]:
    """Each number moves by little."""
    for i, row in enumerate(rows):
        for key in {"parameters", "conclusion"} & row.keys():
            for name, value in row[key].items():
                for factor in (1 - 1e-3, 1 + 1e-6, 1 + 1e-8) if value else ():
                    yield _changed(rows, i, {key: row[key] | {name: value * factor}})


def _other_conclusion(rows: Rows) -> Iterator[Rows]:
    """Each leaf has the conclusion of another one, or its number as that of another noise."""
    told = [row["conclusion"] for row in rows if "conclusion" in row]
    for i, row in enumerate(rows):
        if "conclusion" in row:
            (name, value), *_ = row["conclusion"].items()
            kinds = [{kind: value} for kind in ("mu", "shift") if kind != name]
            for other in [*(held for held in told if held != row["conclusion"]), *kinds]:
                yield _changed(rows, i, {"conclusion": other})


def _nothing(rows: Rows) -> Iterator[Rows]:
    """No derivation at all."""
    yield []


EDITS: dict[str, Callable[[Rows], Iterator[Rows]]] = {
    "rule swapped": _of_others("rule"),
    "another part": _of_others("path"),
    "parameters between two steps": _of_others("parameters"),
    "another move": _other_move,
    "more records": _other_records,
    "premise dropped": _premise_dropped,
    "another premise": _other_premise,
    "premises in another order": _premises_in_another_order,
    "row twice": _row_twice,
    "row dropped": _row_dropped,
    "rows exchanged": _rows_exchanged,
    "other numbers": _other_numbers,
    "near numbers": _near_numbers,
    "another conclusion": _other_conclusion,
    "nothing": _nothing,
}


def edited(data: Data) -> Iterator[tuple[str, Data]]:
    """Yield the name of each edit with the certificate that has it; its digest is the old one."""
    for name, edit in EDITS.items():
        for rows in edit(data["derivation"]):
            yield name, data | {"derivation": rows}
