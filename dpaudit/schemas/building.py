"""Building the schema of a document from the types of what it holds."""

from dataclasses import dataclass, replace
from importlib import import_module
from typing import Any, get_args

from dpaudit.json_schema import JsonSchema, defined, definition_name, object_schema, type_schema
from dpaudit.model.declaration import Declaration
from dpaudit.model.node_kinds import NODES
from dpaudit.schemas import MODULES, TITLES
from dpaudit.schemas.certificate import AnyMechanism
from dpaudit.schemas.tables import Tables


def schema_of(name: str) -> JsonSchema:
    """Return the schema of a document, with the schemas that it refers to among its definitions."""
    tables: Tables = import_module(f"dpaudit.schemas.{MODULES[name]}").TABLES
    builder = _Builder(root=tables.documents[name], tables=tables, definitions={}, documents=[])
    schema = builder.document()
    for other in builder.documents:  # grows while documents are built that refer to others
        schema["$defs"][other] = replace(builder, root=tables.documents[other], definitions={}).document()
    return schema


@dataclass(frozen=True, slots=True, kw_only=True)
class _Builder:
    """Builds the schema of one document, and collects its definitions and the documents that it refers to."""

    root: type[Any]
    tables: Tables
    definitions: JsonSchema
    documents: list[str]

    def document(self) -> JsonSchema:
        """Return the schema of the document."""
        name = str(self.tables.name_of(self.root))
        head = {
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "$id": self.tables.identifier(name),
            "title": TITLES[name],
        }
        return head | self.described(self.root) | {"$defs": self.definitions}

    def reference(self, hint: Any) -> JsonSchema | None:
        """Return the reference to a type that has a definition, which is made when it is first met."""
        if hint in self.tables.written_as:
            return type_schema(self.tables.written_as[hint], self.reference)
        if hint == Declaration:
            return self.node()
        if hint in get_args(Declaration) or not defined(hint):
            return None
        if document := self.tables.name_of(hint):
            self.documents.extend({document} - set(self.documents))
            return {"$ref": self.tables.identifier(document)}
        return self.define(hint)

    def node(self) -> JsonSchema:
        """Return the reference to any node of a declaration, which `node` tells apart."""
        if "node" not in self.definitions:
            self.definitions["node"] = {
                "description": "A node of the declaration, told apart by `node`.",
                "type": "object",
                "properties": {"node": {"enum": list(NODES)}},
                "required": ["node"],
                "allOf": [_when(kind) for kind in NODES],
            }
            for kind, target in NODES.items():
                self.definitions[kind] = _told_apart(kind, object_schema(target, self.reference))
        return {"$ref": "#/$defs/node"}

    def described(self, kind: type[Any]) -> JsonSchema:
        """Return the schema of an object: its own keys, and the fields of the object that it is written from."""
        own = object_schema(kind, self.reference)
        if kind not in self.tables.sources:
            return own
        source, left_out = self.tables.sources[kind]
        inherited = object_schema(source, self.reference, explained_by=kind)
        properties = {name: schema for name, schema in inherited["properties"].items() if name not in left_out}
        required = [name for name in inherited["required"] if name in properties and name not in own["properties"]]
        return own | {"properties": properties | own["properties"], "required": [*required, *own["required"]]}

    def define(self, kind: type[Any]) -> JsonSchema:
        """Return the reference to an object, which joins the definitions when it is first met."""
        name = definition_name(kind)
        if name not in self.definitions:
            self.definitions[name] = {}
            self.definitions[name] = self.described(kind) | (
                {"additionalProperties": True} if kind is AnyMechanism else {}
            )
        return {"$ref": f"#/$defs/{name}"}


def _when(kind: str) -> JsonSchema:
    """Return what a node of one kind is."""
    return {"if": {"properties": {"node": {"const": kind}}}, "then": {"$ref": f"#/$defs/{kind}"}}


def _told_apart(kind: str, schema: JsonSchema) -> JsonSchema:
    """Return the schema of a node with the key that says which kind it is."""
    properties = {"node": {"const": kind}} | schema["properties"]
    return schema | {"properties": properties, "required": ["node", *schema["required"]]}
