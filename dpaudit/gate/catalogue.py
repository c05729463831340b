"""The rules of the gate, read from the table beside this file, and their text; no identifier changes its meaning."""

from dpaudit.documents.document import Document, Table, Verdict, document, under
from dpaudit.documents.outcome import Rule
from dpaudit.runtime.tables import table_of

RULES: dict[str, Rule] = {
    identifier: Rule(id=identifier, **row) for identifier, row in table_of("dpaudit.gate", "rules.toml").items()
}
"""Every rule by its identifier, in order."""


def rule_of(identifier: str) -> Rule:
    """Return a rule; an identifier that this version does not know becomes a rule of level error."""
    unknown = Rule(
        id=identifier, name=identifier, short="The run contradicts its declaration.", remedy="Read the message."
    )
    return RULES.get(identifier, unknown)


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
