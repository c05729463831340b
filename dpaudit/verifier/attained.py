"""The losses that a certificate's witness attains, computed anew: the releases that one pair moves, on its plan."""

import json
import math
from collections import Counter
from functools import reduce

from dpaudit.verifier import losses, schemes
from dpaudit.verifier.folding import walk
from dpaudit.verifier.losses import Multiset
from dpaudit.verifier.mechanisms import rescaled, sides_of
from dpaudit.verifier.refusals import Table, require
from dpaudit.verifier.shuffles import shuffled_below

_NOWHERE: Multiset = Counter()


def attained(tree: Table, relation: str, witness: Table, conditions: list[Table]) -> list[Multiset]:
    """Return the losses of the pair that `witness` describes; reject what its ground does not allow.

    By definition a pair moves one query. Where several bear the witness's label, some pair moves each of them.
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
    walks = [_Walk(labels, entries, one=one, query=query) for query in queries]
    found = [(walk, walk.losses(tree, "root", relation, 1)) for walk in walks]
    require(not labels or any(walk.met for walk, _ in found), "a witness moves no release")
    reached = all(entries.keys() == walk.entered for walk in walks)
    require(reached, "a witness enters a part that its pair does not reach")
    return [moved for walk, moved in found if walk.met or not labels]


class _Walk:
    """A walk over the tree along one plan; it gathers the nodes that are entered, and whether a release is moved."""

    def __init__(self, labels: list[str], entries: dict[str, int], *, one: bool, query: str) -> None:
        self.labels, self.entries, self.one, self.query = labels, entries, one, query
        self.entered: set[str] = set()
        self.keys: dict[str, tuple[int, int]] = {}
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
            entered = {*self.entered}
            each = [self.losses(part, f"{path}.{i}", relation, 1) for i, part in enumerate(node["parts"])]
            each = [losses.smaller(part) for part in each]
            alike = all(part == each[0] == losses.reversed_all(part) for part in each) and self.entered == entered
            return schemes.secret(each[0], len(each)) if alike else _NOWHERE
        if kind in ("parallel", "cells"):
            return self._entered(node, path, relation, records)
        if kind == "repeat":
            return losses.times(self.losses(node["part"], first, relation, records), node["times"])
        if kind == "group":
            return self.losses(node["part"], first, relation, 1 if self.one else records * node["size"])
        if kind == "local":
            return losses.times(self.losses(node["part"], first, relation, 1), records)
        if kind == "shuffle":
            return shuffled_below(node, self.losses(node["part"], first, relation, 1))
        if kind in ("subsample", "allocate"):
            return self._drawn(node, first, relation, records)
        return self.losses(node["part"], first, relation, records)

    def _drawn(self, node: Table, first: str, relation: str, records: int) -> Multiset:
        """A record on a sample or at secret steps; several that are removed enter Poisson samples, or leave a set."""
        part = self.losses(node["part"], first, schemes.inside(node, relation), 1)
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
        self.met = True
        attained = losses.harmful(sides_of(node["mechanism"], relation)[1])
        found = losses.smaller(attained) if not self.one and _open_order(node["mechanism"]) else attained
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
            return self.losses(node["parts"][part], f"{path}.{part}", relation, records)
        require(part == 1 or (part == 0 and relation == "replace_one"), "a witness enters no cell")
        if part == 0:
            return self.losses(node["inside"], f"{path}.0", relation, 1)
        alone = self.losses(node["touched"], f"{path}.1", "add_remove", 1)
        return alone if relation == "add_remove" else alone + losses.reversed_all(alone)


def _together(found: Multiset, records: int) -> Multiset:
    """Return what all records of a person attain together where that is known, else what one does."""
    return Counter([schemes.of_a_person(one, records) or one for one in found]) if found.total() == 1 else found


def _open_order(mechanism: Table) -> bool:
    """Return whether nobody said which law of a table the record has."""
    rows = mechanism.get("stated", {}).get("lower", [])
    return mechanism["name"] == "finite" or any(r["loss"] == "discrete" and not r.get("one_order") for r in rows)


def _query(mechanism: Table) -> str:
    """Return what noise is added to: the fields that scaling the noise leaves alone."""
    fields = rescaled(mechanism, math.inf).items()
    kept = {key: _query(held) if key == "leaf" else held for key, held in fields if key != "stated"}
    return json.dumps(kept, sort_keys=True)
