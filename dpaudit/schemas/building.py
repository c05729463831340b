"""Building the schema of a document from the types of what it holds."""

from dataclasses import dataclass
from typing import Any, get_args

from dpaudit.configuration.audit_plan import AuditPlan
from dpaudit.gate import terms
from dpaudit.json_schema import JsonSchema, defined, definition_name, object_schema, type_schema
from dpaudit.model import bracket, claim, witness
from dpaudit.model.audit_result import AuditResult
from dpaudit.model.certificate import CertificateRecord
from dpaudit.model.declaration import Declaration
from dpaudit.model.measures import ends
from dpaudit.model.mechanism import Mechanism
from dpaudit.model.node_kinds import NODES
from dpaudit.model.scores_result import ScoresResult
from dpaudit.model.synthesizer_result import DisclosureRisk, SynthesizerResult
from dpaudit.report.derivation import Row
from dpaudit.schemas import TITLES
from dpaudit.schemas.audits import AuditDocument, Disclosure, PlanDocument, Risk, ScoresDocument, SynthesizerDocument
from dpaudit.schemas.certificate import AnyMechanism, CertificateDocument, DerivationRow
from dpaudit.schemas.gate import BaselineDocument, CheckDocument, Terms
from dpaudit.schemas.reports import CurveDocument, LedgerDocument, NodeRow, ReportDocument, TrainingDocument
from dpaudit.schemas.studies import StudyDocument
from dpaudit.schemas.values import AnyClaim, Bracket, MeasuredEnds

_DOCUMENTS: dict[str, tuple[int, type[Any]]] = {
    "audit": (5, AuditDocument),
    "baseline": (2, BaselineDocument),
    "certificate": (7, CertificateDocument),
    "check": (6, CheckDocument),
    "curve": (1, CurveDocument),
    "ledger": (1, LedgerDocument),
    "plan": (1, PlanDocument),
    "report": (10, ReportDocument),
    "scores": (3, ScoresDocument),
    "study": (3, StudyDocument),
    "synthesizer": (1, SynthesizerDocument),
    "training": (1, TrainingDocument),
}
"""Each document's version and type, by its name."""
_WRITTEN_AS: dict[Any, Any] = {
    Mechanism: AnyMechanism,
    bracket.Bracket: Bracket,
    claim.Claim: AnyClaim,
    ends.Ends: MeasuredEnds,
    terms.Terms: Terms,
    witness.DerivationRow: DerivationRow,
    DisclosureRisk: Risk,
}
"""What is written in another form than its own fields."""
_SOURCES: dict[type[Any], tuple[type[Any], tuple[str, ...]]] = {
    AuditDocument: (AuditResult, ("claim", "certified", "epsilon_at")),
    CertificateDocument: (CertificateRecord, ()),
    Disclosure: (SynthesizerResult, ("audit",)),
    NodeRow: (Row, ()),
    Risk: (DisclosureRisk, ()),
    PlanDocument: (AuditPlan, ()),
    ScoresDocument: (ScoresResult, ("claim", "declared")),
}
"""The object whose fields a document holds beside its own keys, and the fields that it leaves out."""
_NAME_OF = {kind: name for name, (_, kind) in _DOCUMENTS.items()}


def schema_of(name: str) -> JsonSchema:
    """Return the schema of a document, with the schemas that it refers to among its definitions."""
    builder = _Builder(root=_DOCUMENTS[name][1], definitions={}, documents=[])
    schema = builder.document()
    for other in builder.documents:  # grows while documents are built that refer to others
        inner = _Builder(root=_DOCUMENTS[other][1], definitions={}, documents=builder.documents)
        schema["$defs"][other] = inner.document()
    return schema


@dataclass(frozen=True, slots=True, kw_only=True)
class _Builder:
    """Builds the schema of one document, and collects its definitions and the documents that it refers to."""

    root: type[Any]
    definitions: JsonSchema
    documents: list[str]

    def document(self) -> JsonSchema:
        """Return the schema of the document."""
        name, kind = _NAME_OF[self.root], self.root
        head = {"$schema": "https://json-schema.org/draft/2020-12/schema", "$id": _urn(name), "title": TITLES[name]}
        return head | self.described(kind) | {"$defs": self.definitions}

    def reference(self, hint: Any) -> JsonSchema | None:
        """Return the reference to a type that has a definition, which is made when it is first met."""
        if hint in _WRITTEN_AS:
            return type_schema(_WRITTEN_AS[hint], self.reference)
        if hint == Declaration:
            return self.node()
        if hint in get_args(Declaration) or not defined(hint):
            return None
        if hint in _NAME_OF:
            self.documents.extend({_NAME_OF[hint]} - set(self.documents))
            return {"$ref": _urn(_NAME_OF[hint])}
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
        if kind not in _SOURCES:
            return own
        source, left_out = _SOURCES[kind]
        held = object_schema(source, self.reference, explained_by=kind)
        properties = {name: schema for name, schema in held["properties"].items() if name not in left_out}
        required = [name for name in held["required"] if name in properties and name not in own["properties"]]
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


def _urn(name: str) -> str:
    """Return the identifier of a document's schema."""
    return f"urn:dpaudit:schema:{name}:{_DOCUMENTS[name][0]}"
