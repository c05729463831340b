"""What a module of this folder knows of its documents: their types, and what stands in the place of another type."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, get_args, get_type_hints


@dataclass(frozen=True, slots=True, kw_only=True)
class Tables:
    """The documents of a module by name, and how types are written.

    `sources` has the object whose fields a type holds beside its own keys, with the fields that it leaves out.
    `written_as` has the types that are written in another form than their own fields.
    """

    documents: Mapping[str, type[Any]] = field(default_factory=dict)
    sources: Mapping[type[Any], tuple[type[Any], tuple[str, ...]]] = field(default_factory=dict)
    written_as: Mapping[Any, Any] = field(default_factory=dict)

    def __or__(self, other: "Tables") -> "Tables":
        """Return the tables of two modules together."""
        return Tables(
            documents={**self.documents, **other.documents},
            sources={**self.sources, **other.sources},
            written_as={**self.written_as, **other.written_as},
        )

    def name_of(self, kind: type[Any]) -> str | None:
        """Return the name of a document by its type, None for any other type."""
        return next((name for name, document in self.documents.items() if document is kind), None)

    def identifier(self, name: str) -> str:
        """Return the identifier of a document's schema: what its key `schema` holds, where it has one."""
        stated = get_args(get_type_hints(self.documents[name]).get("schema"))
        return str(stated[0]) if stated else f"urn:dpaudit:schema:{name}:1"
