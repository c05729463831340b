"""A document as a PDF that typst sets; every text is inserted as data and never as markup."""

import json
from dataclasses import fields, is_dataclass
from importlib.resources import files
from typing import Any

from dpaudit.documents.document import Document, Heading, unfolded
from dpaudit.documents.typesetting import typeset
from dpaudit.wording.escaping import clean
from dpaudit.wording.numerals import unbroken


def paper(document: Document, day: str) -> bytes:
    """Return the PDF of a document of a day in ISO form; what is folded stands in an annex at its end.

    Guarantee: equal documents give equal bytes with the same typst. Bars are left out.
    """
    shown, annex = unfolded(document)
    blocks = [*shown.blocks, *([Heading("Annex"), *annex] if annex else ())]
    data = {"title": document.title, "note": document.note, "day": day, "blocks": blocks, "annex": len(shown.blocks)}
    template = (files("dpaudit.documents") / "paper.typ").read_bytes()
    return typeset(template, "pdf", {"document": json.dumps(_plain(data))}, "the document", "ua-1")


def _plain(value: Any) -> Any:
    """Return a value as plain data without invisible characters; a block has the name of its kind."""
    if isinstance(value, str):
        return unbroken(clean(value))
    if isinstance(value, dict):
        return {key: _plain(member) for key, member in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(member) for member in value]
    if is_dataclass(value):
        members = {entry.name: _plain(getattr(value, entry.name)) for entry in fields(value)}
        return {"kind": type(value).__name__} | members
    return value
