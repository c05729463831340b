"""The losses that a certificate's witness attains, computed anew: the releases that one pair moves, on its plan."""

import json
import math
from collections import Counter
from functools import reduce
from itertools import pairwise

from dpaudit.verifier import losses, schemes
from dpaudit.verifier.folding import walk
from dpaudit.verifier.losses import Multiset
from dpaudit.verifier.mechanisms import rescaled, sides_of, with_leaves
from dpaudit.verifier.refusals import Table, require
from dpaudit.verifier.shape import TABLES
from dpaudit.verifier.shuffles import shuffled_below

_NOWHERE: Multiset = Counter()


def attained(tree: Table, relation: str, witness: Table, conditions: list[Table]) -> list[Multiset]:
    """Return the losses of the pair that `witness` describes; reject what its ground does not allow.

    By definition a pair moves one query. Where several bear the witness's label, some pair moves each of them. Keys of
    different texts may be linked: the pair has both values if one release needs both, if a run named them (each release
    stands in one part of each node), or if that is assumed.
    """
    labels, ground = witness["labels"], witness["attained"]
    entries = {entry["path"]: entry["part"] for entry in witness["plan"]}
    require(len(entries) == len(witness["plan"]), "a witness enters one node twice")
    checked = {tuple(c["about"]) for c in conditions if c["kind"] == "attained" and c["status"] == "checked"}
    require(ground != "checked" or tuple(labels) in checked, "no checked condition names the witness's releases")
    one = ground == "by_definition"
    require(len(labels) == 1 or not one, "a witness moves several queries")
    held = [node for node in walk(tree) if node["node"] == "release" and node["label"] in labels]
    queries = dict.fromkeys(_query(node["mechanism"]) for node in held) if one else [""]
    named = ground == "assumed" or (ground == "checked" and _named_once(tree, labels))
    walks = [_Walk(labels, entries, one=one, query=query) for query in queries]
    found = [(walk, walk.losses(tree, "root", relation, 1)) for walk in walks]
    require(not labels or any(walk.met for walk, _ in found), "a witness moves no release")
    reached = all(entries.keys() == walk.entered for walk in walks)
    require(reached, "a witness enters a part that its pair does not reach")
    require(named or all(map(_on_one_way, walks)), "a witness needs keys that may not be those of one record")
    return [moved for walk, moved in found if walk.met or not labels]


def _named_once(tree: Table, labels: list[str]) -> bool:
    """Return whether the releases of a witness stand in one part of each parallel node."""
    arrays = [node["parts"] for node in walk(tree) if node["node"] == "parallel"]
    return all(sum(_holds(part, labels) for part in parts) <= 1 for parts in arrays)


def _holds(tree: Table, labels: list[str]) -> bool:
    """Return whether a tree holds a release of a witness."""
    return any(node["node"] == "release" and (not labels or node["label"] in labels) for node in walk(tree))


def _on_one_way(walk: "_Walk") -> bool:
    """Return whether the releases that are moved need keys of which the largest set holds all others."""
    sets = sorted(walk.needed, key=len)
    return all(a <= b for a, b in pairwise(sets))


class _Walk:
    """A walk over the tree along one plan; it gathers the nodes that are entered, and whether a release is moved."""

    def __init__(self, labels: list[str], entries: dict[str, int], *, one: bool, query: str) -> None:
        self.labels, self.entries, self.one, self.query = labels, entries, one, query
        self.entered: set[str] = set()
        self.keys: dict[str, tuple[int, int]] = {}
        self.way: list[str] = []  # the keys, and the arrays of cells, of the nodes above
        self.sampled = False
        self.needed: set[frozenset[str]] = set()
        self.met = False

    def losses(self, node: Table, path: str, relation: str, records: int) -> Multiset:
        """Return what the pair moves below `node`, `records` of one person moving together."""
        kind, first = node["node"], f"{path}.0"
        if kind == "release":
            return self._release(node, relation, records)
        if kind == "stated":
            return _NOWHERE
        if kind == "sequential":
            parts = (self.losses(part, f"{path}.{i}", relation, records) for i, part in enumerate(node["parts"]))
            return reduce(lambda a, b: a + b, parts, _NOWHERE)
        if kind == "parallel" and node.get("visibility") == "secret":
            return _NOWHERE
        if kind in ("parallel", "cells"):
            return self._entered(node, path, relation, records)
        if kind == "repeat":
            return losses.times(self.losses(node["part"], first, relation, records), node["times"])
        if kind == "group":
            return self.losses(node["part"], first, relation, 1 if self.one else records * node["size"])
        if kind == "local":
            return losses.times(self._below(node["part"], first, relation, sampled=False), records)
        if kind == "shuffle":
            return shuffled_below(node, self.losses(node["part"], first, relation, 1))
        if kind == "best_of":
            self.losses(node["part"], first, relation, records)
            return _NOWHERE
        if kind in ("subsample", "allocate"):
            return self._drawn(node, first, relation, records)
        return self.losses(node["part"], first, relation, records)

    def _below(self, part: Table, path: str, relation: str, *, sampled: bool) -> Multiset:
        """Return what one record moves below a sample, which may hold it alone, or in a message."""
        outside, self.sampled = self.sampled, sampled
        found = self.losses(part, path, relation, 1)
        self.sampled = outside
        return found

    def _drawn(self, node: Table, first: str, relation: str, records: int) -> Multiset:
        """A record on a sample or at secret steps; several that are removed enter Poisson samples, or leave a set."""
        part = self._below(node["part"], first, schemes.inside(node, relation), sampled=True)
        scheme = node.get("scheme", "poisson")
        if scheme != "poisson" and "local" in {held["node"] for held in walk(node["part"])}:
            return _NOWHERE
        found = schemes.below(node, part, relation, beside=not self.one, labels=self.labels)
        if records == 1 or relation == "replace_one" or not found:
            return found
        if scheme == "without_replacement" and relation == "add_remove" and {loss[0] for loss in part} == {"gaussian"}:
            return schemes.from_a_set(node, part, records)
        return _together(found, records) if node.get("scheme") == "poisson" else found

    def _release(self, node: Table, relation: str, records: int) -> Multiset:
        """A release whose label is moved attains its mechanism's loss; a single shift adds up over records."""
        if self.labels and node["label"] not in self.labels:
            return _NOWHERE
        if self.query not in ("", _query(node["mechanism"])):
            return _NOWHERE
        if self.one and self.sampled and not _moves_alone(node["mechanism"]):
            return _NOWHERE
        self.met = True
        self.needed.add(frozenset(self.way))
        found = losses.harmful(sides_of(node["mechanism"], relation)[1])
        open_order = _open_order(node["mechanism"]) or any(loss[0] == "once" for loss in found)
        if not self.one:  # nobody said which of several pairs it is, nor which law of it the record has
            found = Counter({losses.one_pair(loss): n for loss, n in found.items()})
            found = losses.smaller(found) if open_order else found
        return _together(found, records) if {loss[0] for loss in found} <= {*losses.SHIFTS} else found

    def _entered(self, node: Table, path: str, relation: str, records: int) -> Multiset:
        """The part that the plan enters; what several cells attain, the pair meets in both orders."""
        if path not in self.entries:
            return _NOWHERE
        self.entered.add(path)
        part = self.entries[path]
        if node["node"] == "parallel":
            require(part < len(node["parts"]), "a witness enters a part that is not there")
            value = (len(node["parts"]), part)
            require(self.keys.setdefault(node["key"], value) == value, "a witness gives one key two values")
            self.way.append(node["key"])
            found = self.losses(node["parts"][part], f"{path}.{part}", relation, records)
            self.way.pop()
            return found
        require(part == 1 or (part == 0 and relation == "replace_one"), "a witness enters no cell")
        require(part == 0 or relation != "replace_one" or not self.one, "by definition no second cell is reached")
        self.way.append(f"the cells at {path}")
        name, read = ("inside", relation) if part == 0 else ("touched", "add_remove")
        found = self.losses(node[name], f"{path}.{part}", read, 1)
        self.way.pop()
        return found + losses.reversed_all(found) if part == 1 and relation != "add_remove" else found


def _together(found: Multiset, records: int) -> Multiset:
    """Return what all records of a person attain together where that is known, else what one does."""
    return Counter([schemes.of_a_person(one, records) or one for one in found]) if found.total() == 1 else found


def _moves_alone(mechanism: Table) -> bool:
    """Return whether a record counts as moving a release beside no other: noise that is added to an answer."""
    parts = with_leaves(mechanism)
    return parts[-1]["name"] in TABLES["additive"] and not any("stated" in part for part in parts)


def _open_order(mechanism: Table) -> bool:
    """Return whether nobody said which law of a table the record has."""
    parts = with_leaves(mechanism)
    rows = [row for part in parts for row in part.get("stated", {}).get("lower", [])]
    return any(part["name"] == "finite" for part in parts) or any(
        r["loss"] == "discrete" and not r.get("one_order") for r in rows
    )


def _query(mechanism: Table) -> str:
    """Return what noise is added to: the fields that scaling the noise leaves alone."""
    fields = rescaled(mechanism, math.inf).items()
    kept = {key: _query(held) if key == "leaf" else held for key, held in fields if key != "stated"}
    return json.dumps(kept, sort_keys=True)
