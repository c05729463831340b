"""The side-conditions that a declaration needs, derived again, word for word.

What a run has looked at beside them is its own account: it is listed after them, and no declaration implies it.
"""

from typing import Any

from dpaudit.verifier.folding import walk
from dpaudit.verifier.losses import Table
from dpaudit.verifier.shape import TABLES


def condition_complaints(rows: list[Table], declaration: Table) -> list[str]:
    """Return what is wrong with the conditions: those of the declaration come first, in its order."""
    needed = dict.fromkeys(held for node in walk(declaration) for held in _needed(node))
    complaints = []
    for i, (kind, about, text) in enumerate(needed):
        row = rows[i] if i < len(rows) else {"status": "assumed"}
        said = row.get("text", "")
        if row["status"] != "assumed":  # a run adds one clause: what it looked at
            said = said.partition(TABLES["clause"])[0]
        if (row.get("kind"), row.get("about"), said) != (kind, list(about), text):
            complaints.append(f"the condition {text!r} is missing, altered or out of its place")
        if row["status"] != "assumed" and kind not in TABLES["looked_at"]:
            complaints.append(f"no run can say that this is {row['status']}: {text}")
    if any(not row["about"] and row["kind"] not in TABLES["general"] for row in rows):
        complaints.append("a condition does not say what it is about")
    if len({(row["kind"], *row["about"]) for row in rows}) != len(rows):
        complaints.append("a condition is listed twice")
    return complaints


def _needed(node: Table) -> list[tuple[str, tuple[str, ...], str]]:
    """Return kind, subject and sentence of each condition that one node needs."""
    found = []
    for kind, field in TABLES["needed"].get(node["node"], ()):
        held: Any = node.get(field, "poisson" if field == "scheme" else [])
        about = tuple(map(str, held if isinstance(held, list) else [held]))
        listed = ", ".join(about) or "their own record"
        if about or field != "steps":
            found.append((kind, about, TABLES["conditions"][kind].format(listed=listed)))
    return found
