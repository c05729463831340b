"""Derivations of trees by the checker's own table of rules, and what they conclude.

The accountant writes the derivation of a certificate; `test_proofs.py` compares both.
"""

import json
from typing import Any

from dpaudit.verifier.losses import Multiset
from dpaudit.verifier.proof.derivation import checked_rows, demanded
from dpaudit.verifier.proof.rules import above
from dpaudit.verifier.proof.witnesses import both_sides
from dpaudit.verifier.refusals import Rejection, Table
from dpaudit.verifier.shape import TABLES, children


def derivation(tree: Table, relation: str) -> list[Table]:
    """Return the rows that the checker demands of a tree."""
    rows: dict[tuple[str, str, int], Table] = {}

    def add(node: Table, path: str, move: str, records: int) -> int:
        """Add the row of a node with those of its premises, and return its id."""
        if (path, move, records) not in rows:
            rule, groups = demanded(node, path, move, records)
            parts = dict(enumerate(children(node)))
            premises = [
                add(parts[int(where.rpartition(".")[2])], where, read, count)
                for group in groups
                for where, read, count in group
            ]
            numbers = {name: node[name] for name in TABLES["read"] if isinstance(node.get(name), int | float)}
            row = {"id": len(rows), "rule": rule["rule"], "path": path, "move": move, "records": records}
            rows[path, move, records] = row | {"parameters": numbers, "premises": premises}
        return int(rows[path, move, records]["id"])

    add(tree, "root", TABLES["nests"]["moves"][relation], 1)
    return list(rows.values())


def with_derivation(data: Table) -> Table:
    """Return a certificate's data with the derivation of its declaration, and a claim about its relation."""
    return data | {"derivation": derivation(data["declaration"], data["claim"]["neighbours"])}


def fold(tree: Table, relation: str) -> list[Multiset]:
    """Return what is concluded from above of a tree, as text and back."""
    data = with_derivation({"declaration": json.loads(json.dumps(tree)), "claim": {"neighbours": relation}})
    return above(checked_rows(data), data["declaration"])


def attained(tree: Table, relation: str, witness: Any, conditions: list[Table]) -> list[Multiset]:
    """Return what a witness attains, whether or not it counts."""
    data = with_derivation({"declaration": tree, "claim": {"neighbours": relation}})
    data |= {"witnesses": [witness], "conditions": conditions}
    _, counted, assumed = both_sides(data, checked_rows(data))
    return assumed if witness["attained"] == "assumed" else counted


def complaint(tree: Table, relation: str) -> str:
    """Return why a tree has no derivation; empty where it has one."""
    try:
        checked_rows(with_derivation({"declaration": tree, "claim": {"neighbours": relation}}))
    except Rejection as error:
        return str(error)
    return ""


def proved_again(data: Table) -> Table:
    """Return a forged certificate with the derivation of its declaration, where that has one."""
    try:
        return with_derivation(data)
    except (Rejection, KeyError, TypeError, AttributeError, ValueError):
        return data
