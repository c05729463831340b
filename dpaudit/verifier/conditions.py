"""The side-conditions that a declaration needs, derived again, word for word.

What a run has looked at beside them is its own account: it is listed after them, and no declaration implies it.
"""

from typing import Any

from dpaudit.verifier.mechanisms import with_leaves
from dpaudit.verifier.refusals import Table
from dpaudit.verifier.shape import TABLES, name_of, walk


def condition_complaints(rows: list[Table], declaration: Table, relation: str) -> list[str]:
    """Return what is wrong with the conditions: those that the declaration needs come first, in its order."""
    needed = dict.fromkeys(condition for node in walk(declaration) for condition in _needed(node, relation))
    complaints, altered = [], []
    for i, (kind, about, text) in enumerate(needed):
        row = rows[i] if i < len(rows) else {"status": "assumed"}
        said, _, looked = row.get("text", "").partition(TABLES["clause"])
        unseen = looked and row["status"] == "assumed"
        if unseen or (row.get("kind"), row.get("about"), said) != (kind, list(about), text):
            altered.append(text)
        if row["status"] == "checked" and (kind not in TABLES["looked_at"] or not looked.strip()):
            complaints.append(f"no run can say that this is checked, or this one does not say what it saw: {text}")
    if altered:
        others = f", and so are {len(altered) - 1} others" if len(altered) > 1 else ""
        complaints.append(f"the condition {altered[0]!r} is missing, altered or out of its place{others}")
    pairs = [row for row in rows if (row["kind"], row["status"]) == ("attained", "checked")]
    if any(row["text"] == _sentence(row) for row in pairs):
        complaints.append("a pair is said to have been checked, and not what was looked at")
    if any(not row["about"] and row["kind"] not in TABLES["general"] for row in rows):
        complaints.append("a condition does not say what it is about")
    if len({(row["kind"], *row["about"]) for row in rows}) != len(rows):
        complaints.append("a condition is listed twice")
    return complaints


def _needed(node: Table, relation: str) -> list[tuple[str, tuple[str, ...], str]]:
    """Return kind, subject and sentence of each condition that one node needs."""
    conditions = []
    mechanisms = with_leaves(node.get("mechanism", {}))
    streams = [(part, "stream") for part in mechanisms if "horizon" in part]
    for table, name in ((node, name_of(node)), *streams):
        for kind, field in TABLES["needed"].get(name, ()):
            said = {"scheme": "poisson", "positions": "fresh", "budget": _budget(table)}
            subject: Any = table.get(field, said.get(field, []))
            about = tuple(map(str, subject if isinstance(subject, list) else [subject]))
            conditions.append((kind, about, _sentence({"kind": kind, "about": about})))
    moved = TABLES["moved"].get(name_of(node))
    if moved and moved.get("relation", relation) == relation:
        kind, about = moved["kind"], (moved.get("about") or str(node[moved["field"]]),)
        conditions.append((kind, about, _sentence({"kind": kind, "about": about})))
    for table in mechanisms:
        if "stated" in table:
            about = (f"the plug-in mechanism {table['name']}",)
            conditions.append(("stated", about, _sentence({"kind": "stated", "about": about})))
    return conditions


def _budget(table: Table) -> str:
    """Return the measure and the limit of a budget."""
    names = {"epsilon": "epsilon", "rho": "rho", "mu": "the square of mu"}
    return " ".join(f"{name} {table[measure]}" for measure, name in names.items() if measure in table)


def _sentence(row: Table) -> str:
    """Return the sentence of a condition of the table."""
    listed = ", ".join(row["about"]) or TABLES["unnamed"].get(row["kind"])
    return str(TABLES["conditions"][row["kind"]].format(listed=listed))
