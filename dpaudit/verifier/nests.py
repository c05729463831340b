"""Which nodes may lie below which ones, and how many records they pass on: nests without a rule are refused.

The table stands in `tables.json`: outer node, move, inner nodes. Nodes of `through` count as not there.
"""

from typing import Any

from dpaudit.verifier.refusals import Table, require
from dpaudit.verifier.shape import TABLES

_NESTS: Table = TABLES["nests"]


def nest_complaint(tree: Table, relation: str) -> str:
    """Return the first nest without a rule in a tree that is read for a relation; empty where there is none."""
    agenda = [(node, str(_NESTS["moves"][relation]), 1, False) for node in _reached(tree)]
    while agenda:
        node, move, records, bare = agenda.pop()
        name = _name(node)
        if name in _NESTS["leaves"]:
            continue
        said = _sizes_complaint(node, move, records)
        row = _NESTS["below"][name].get(move)
        if said or row is None:
            return said or f"{name} under {move}: no rule"
        moved = records * node.get("size", 1) if name in _NESTS["grouping"] else 1
        for part, inside in _parts(node, name, move):
            for inner in _reached(part):
                kind = _name(inner)
                listed, over_leaves = kind in row, f"{kind}/leaves" in row
                if not (listed or over_leaves) or (bare and kind not in _NESTS["leaves"]):
                    return f"{name} over {kind} under {move}: no rule"
                sampled = name in TABLES["sizes"] and kind in _NESTS["sized"]
                if sampled and (inner.get("population") or 0) != node.get("batch_size"):
                    return f"{name} over {kind} under {move}: no rule for a population that is not the outer batch"
                agenda.append((inner, inside, moved, over_leaves and not listed))
    return ""


def require_rules(tree: Table, relation: str) -> None:
    """Reject a tree with a nest that has no rule."""
    said = nest_complaint(tree, relation)
    require(not said, said)


def _name(node: Table) -> str:
    """Return the name of a node in the table: its kind, or the scheme of its sample."""
    if node["node"] == "subsample":
        return str(node.get("scheme", "poisson"))
    secret = node["node"] == "parallel" and node.get("visibility") == "secret"
    return "secret parallel" if secret else str(node["node"])


def _reached(node: Table) -> list[Table]:
    """Return the next nodes that do not count as not there, from one on."""
    if node["node"] not in _NESTS["through"]:
        return [node]
    return [held for part in node.get("parts", [node.get("part")]) for held in _reached(part)]


def _parts(node: Table, name: str, move: str) -> list[tuple[Table, str]]:
    """Return each part of a node with each move that it is read under."""
    if name == "cells":
        return [(node["touched"], "remove"), *([(node["inside"], move)] if move != "remove" else [])]
    moves: list[Any] = _NESTS["inside"].get(name, {}).get(move, [move])
    return [(part, str(inside)) for part in node.get("parts", [node.get("part")]) for inside in moves]


def _sizes_complaint(node: Table, move: str, records: int) -> str:
    """Return what is wrong where records leave a set of fixed size: its sizes are needed, and enough records stay."""
    if node.get("scheme") != "without_replacement" or move != "remove":
        return ""
    if "population" not in node or "batch_size" not in node:
        return "without_replacement under remove: no rule for a rate alone"
    stays = node["batch_size"] <= node["population"] - records
    return "" if stays else f"without_replacement under remove: no rule where {records} records leave too few"
