"""The report as a neutral document: what stands where, the same on a page, in Markdown and on paper."""

from collections.abc import Iterator, Mapping
from typing import Any

from dpaudit.documents import document as blocks
from dpaudit.documents.document import Item, Items, document, folded, items
from dpaudit.figures.figure import Figure
from dpaudit.report.marks import MARKS
from dpaudit.runtime.tables import table_of
from dpaudit.wording.numerals import powers
from dpaudit.wording.verdicts import tone_of

Data = Mapping[str, Any]
"""A part of report.json."""

_WORDS: dict[str, str] = table_of("dpaudit.report", "captions.toml")
"""What each figure shows, and the remarks that depend on nothing."""

_SIGNS = {"evidence": "●", "declared": "○", "not_assessed": "◌", "not_applicable": "·"}
"""What a value rests on; measured, declared and not assessed differ in form."""

_DRAWN = {"tree": "derivation", "curve": "curve", "front": "usefulness"}
"""The section of each figure of full width."""

_SMALL = {"audits": "roc-", "scores": "scores-roc-"}
"""The sections of small figures, and what their names begin with."""


def report_document(data: Data, figures: Mapping[str, Figure]) -> blocks.Document:
    """Return the document of report.json and its figures."""
    cover, *middle, changes = data["sections"]
    cover_fields = {field["name"]: field for field in cover["fields"]}
    body = [section for section in middle if _assessed(section)]
    silent = [section for section in (*middle, changes) if not _assessed(section)]
    pictures = {name: _picture(name, figure) for name, figure in figures.items()}
    stated = "hatched bar stated by others and not proved" if data["cover"][1]["tag"] == "stated" else "bar proved"
    return document(
        blocks.Paragraph(" · ".join(filter(None, (data["system"]["name"], data["created"]))), quiet=True),
        blocks.Paragraph(data["system"]["description"]),
        blocks.Verdict(data["word"], tone_of(data["verdict"]), data["sentence"]),
        items(data["reasons"]),
        _cover(data, cover_fields["Digest to sign"]["value"]),
        figures["epsilons"].picture("figures/epsilons.svg", _WORDS["epsilons"].format(bar=stated)),
        blocks.Paragraph(_WORDS["details"], quiet=True),
        *(_section(section, data, pictures) for section in body),
        _unassessed(silent, data),
        *(_grid(grid, grid["caption"]) for grid in changes["grids"]),
        *_signatures(cover_fields),
        folded("Glossary", [items(f"{entry['word']}: {entry['sense']}" for entry in data["glossary"])]),
        folded(_WORDS["crosswalk"], [items(f"{s['number']} {s['title']}: {s['crosswalk']}" for s in data["sections"])]),
        title=data["title"],
        note=data["disclaimer"],
    )


def _assessed(section: Data) -> bool:
    """Return whether a section holds anything that was computed, measured or declared."""
    said = any(field["status"] in ("evidence", "declared") for field in section["fields"])
    return said or any(table["rows"] for table in section["grids"])


def _cover(data: Data, digest: str) -> Items:
    """Return the lines of the cover, with the conditions below theirs, and how the report is checked."""
    lines = [Item(line["text"], tuple(_open(line)), tag=line["tag"], form=line["form"]) for line in data["cover"]]
    return Items((*lines, Item(f"{_WORDS['verify']} Digest to sign: {digest}", tag="to verify", form="declared")))


def _open(line: Data) -> Iterator[str]:
    """Yield the conditions of a line of the cover, and how many more there are."""
    for condition in line["conditions"]:
        yield f"C{condition['number']} ({condition['mark']}): {condition['text']}"
    if line["further"]:
        yield f"{line['further']} more: see the conditions of section 6."


def _section(section: Data, data: Data, pictures: Mapping[str, blocks.Picture]) -> Iterator[blocks.Block]:
    """Yield a section: its fields, what nobody assessed, tables, figures, remarks, and folded details."""
    ident, title, grids = section["ident"], section["title"], [grid for grid in section["grids"] if grid["rows"]]
    said = [field for field in section["fields"] if field["status"] != "not_assessed"]
    yield blocks.Heading(title, number=section["number"], ident=ident)
    facts = tuple((f["name"], f["value"], _basis(f["status"], f["evidence_ref"])) for f in said)
    yield blocks.Table(facts, looks=("quiet", "", "quiet"), caption=f"{title}, field by field")
    yield _tagged(" · ".join(_unsaid(section)))
    for grid in grids:
        if not grid["annex"]:
            yield from _grid(grid, grid["caption"])
    yield from (pictures[name] for name, where in _DRAWN.items() if where == ident and name in pictures)
    small = tuple(picture for name, picture in pictures.items() if name.startswith(_SMALL.get(ident, "-")))
    yield blocks.Pictures(small)
    yield blocks.Paragraph(_WORDS[ident] if small else "", quiet=True)
    if ident == "curve":
        lacking = data["curve"]["unavailable"]
        yield _tagged(f"There is no curve: {lacking}" if lacking else "")
        yield from (blocks.Paragraph(powers(note), quiet=True) for note in data["notes"])
    for grid in grids:
        if grid["annex"]:
            yield folded(grid["caption"], _grid(grid, ""))
    if ident == "reproduction" and data["config"]:
        yield folded("Configuration", [blocks.Code(data["config"])])


def _tagged(text: str) -> Items:
    """Return what nobody assessed as one line; nothing for an empty text."""
    return Items((Item(text, tag="not assessed", form="unassessed"),) if text else ())


def _unsaid(section: Data) -> Iterator[str]:
    """Yield the fields of a section that nobody assessed, and notes of its tables without rows."""
    for field in section["fields"]:
        if field["status"] == "not_assessed":
            yield field["name"] if field["value"] == "not assessed" else f"{field['name']} ({field['value']})"
    yield from (grid["note"] for grid in section["grids"] if not grid["rows"] and grid["note"])


def _grid(grid: Data, caption: str) -> Iterator[blocks.Table | blocks.Paragraph | Items]:
    """Yield a table, with what its rows rest on where that differs, and the sentences below it."""
    mixed = set(grid["statuses"]) - {"evidence"}
    rows = tuple(
        (*_cells(grid["name"], row), *((_basis(status),) if mixed else ()))
        for row, status in zip(grid["rows"], grid["statuses"], strict=True)
    )
    yield blocks.Table(rows, head=(*grid["head"], *(("Rests on",) if mixed else ())), wrapped=True, caption=caption)
    if grid["name"] == "conditions":
        marks = {row[1] for row in grid["rows"]}
        yield items(f"{name}: {word.meaning}" for name, word in reversed(MARKS.items()) if name in marks)
    yield blocks.Paragraph(grid["note"], quiet=True)


def _cells(name: str, row: list[str]) -> Iterator[blocks.Cell]:
    """Yield the cells of a row: the marks of conditions and the verdicts of audits have a tone."""
    for column, text in enumerate(row):
        mark_word = next((word for mark, word in MARKS.items() if mark == text), None)
        if name == "conditions" and column == 1 and mark_word is not None:
            yield blocks.Mark(f"{mark_word.sign} {text}", mark_word.tone)
        elif name == "audits" and column == 2:
            yield blocks.Mark(text, tone_of(text.upper()))
        else:
            yield text


def _basis(status: str, ref: str = "") -> blocks.Mark:
    """Return what a value rests on, and where that is in report.json."""
    return blocks.Mark(f"{_SIGNS[status]} {status.replace('_', ' ')}", "plain", hint=ref)


def _unassessed(silent: list[Data], data: Data) -> tuple[blocks.Block, ...]:
    """Return what nobody assessed, section by section and beyond all sections."""
    lines = [("; ".join(_unsaid(section)), f"{section['number']} {section['title']}") for section in silent]
    lines += [(gap["why"], gap["what"]) for gap in data["not_assessed"]]
    return (
        blocks.Heading("What nobody assessed", number="A", ident="appendix"),
        Items(tuple(Item(text, tag=tag, form="unassessed") for text, tag in lines)),
        blocks.Paragraph(_WORDS["missing"], quiet=True),
    )


def _signatures(cover_fields: Mapping[str, Data]) -> tuple[blocks.Block, ...]:
    """Return the places to sign."""

    def said(name: str) -> str:
        return cover_fields[name]["value"] if cover_fields[name]["status"] == "declared" else ""

    rows = tuple((role, said(role), "", said("Valid until"), "") for role in ("Author", "Reviewer"))
    return (
        blocks.Heading("To check and to sign", ident="signature"),
        blocks.Table(rows, head=("Role", "Name", "Date", "Expires", "Signature"), caption="Signatures"),
    )


def _picture(name: str, figure: Figure) -> blocks.Picture:
    """Return a figure of the report."""
    return figure.picture(f"figures/{name}.svg", _WORDS.get(name, ""))
