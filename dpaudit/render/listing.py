"""The names that a configuration may use, as a document."""

from dpaudit.documents.document import Document, Table, document, under

Found = dict[str, dict[str, str]]
"""Kind, then name, to one line of description."""


def listing_document(names_by_kind: Found) -> Document:
    """Return a list: a table for each kind, with columns of equal width."""
    width = max((len(name) for names in names_by_kind.values() for name in names), default=0)
    tables = {
        kind: Table(tuple((name.ljust(width), line) for name, line in names.items()), looks=("value", ""))
        for kind, names in names_by_kind.items()
    }
    return document(*(under(kind.capitalize(), table) for kind, table in tables.items()))
