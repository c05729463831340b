"""The explanation of one rule of the gate: its meaning, its remedy and its exit code."""

from dpaudit.documents.document import Document, Table, Verdict, document, under
from dpaudit.gate.catalogue import RULES


def gate_rule_document(identifier: str) -> Document:
    """Return a rule of the gate."""
    rule = RULES[identifier]
    ends = "4, if nothing graver is found" if identifier == "DPA302" else "0"
    code = {"DPA001": "2"}.get(identifier, "1" if rule.level == "error" else ends)
    rows = (("name", rule.name), ("level", rule.level), ("remedy", rule.remedy), ("exit code", code))
    return document(
        Verdict(rule.id, "bad" if rule.level == "error" else "open", rule.short),
        under("What to do", Table(rows, looks=("quiet", ""))),
    )
