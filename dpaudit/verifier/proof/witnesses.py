"""The pairs that a certificate's witnesses describe, and whether what they attain may count."""

from collections import Counter
from itertools import pairwise

from dpaudit.verifier.losses import Multiset
from dpaudit.verifier.proof.derivation import Row
from dpaudit.verifier.proof.rules import Attained, Pair, concluded, query_of, require_conclusions
from dpaudit.verifier.refusals import Table, require
from dpaudit.verifier.shape import walk


def both_sides(data: Table, rows: list[Row]) -> tuple[list[Multiset], list[Multiset], list[Multiset]]:
    """Return the alternatives from above, and what the witnesses attain: that counts, and that is only assumed."""
    require_conclusions(rows, data["declaration"])
    pairs = pairs_of(data)
    conclusion = concluded(rows, data["declaration"], [pair for _, pair in pairs])
    return conclusion.above, *sides_attained(data, pairs, conclusion.below)


def pairs_of(data: Table) -> list[tuple[Table, Pair]]:
    """Return the pairs of each witness with the witness; reject what its ground does not allow.

    By definition a pair moves one query. Where several bear the witness's label, some pair moves each of them.
    """
    pairs: list[tuple[Table, Pair]] = []
    checked = {tuple(c["about"]) for c in data["conditions"] if c["kind"] == "attained" and c["status"] == "checked"}
    for witness in data["witnesses"]:
        labels, ground = tuple(witness["labels"]), witness["attained"]
        entries = {entry["path"]: entry["part"] for entry in witness["plan"]}
        require(len(entries) == len(witness["plan"]), "a witness enters one node twice")
        require(all(witness != other for other, _ in pairs), "a witness stands twice")
        require(ground != "checked" or labels in checked, "no checked condition names the witness's releases")
        by_definition = ground == "by_definition"
        require(len(labels) == 1 or not by_definition, "a witness moves several queries")
        nodes = [n for n in walk(data["declaration"]) if n["node"] == "release" and n["label"] in labels]
        queries = dict.fromkeys(query_of(node["mechanism"]) for node in nodes) if by_definition else [""]
        pairs += [(witness, Pair(labels, entries, by_definition, query)) for query in queries]
        require(queries, "a witness moves no release")
    return pairs


def sides_attained(
    data: Table, pairs: list[tuple[Table, Pair]], below: list[Attained]
) -> tuple[list[Multiset], list[Multiset]]:
    """Return what the witnesses attain: those that count, and those that are only assumed.

    Keys of different texts may be linked: the pair has both values if one release needs both, if a run named them (each
    release stands in one part of each node), or if that is assumed.
    """
    counted: list[Multiset] = []
    assumed: list[Multiset] = []
    for witness in data["witnesses"]:
        labels, ground = witness["labels"], witness["attained"]
        witnessed = [attained for (row, _), attained in zip(pairs, below, strict=True) if row is witness]
        named = ground == "assumed" or (ground == "checked" and _named_once(data["declaration"], labels))
        require(not labels or any(attained.ways for attained in witnessed), "a witness moves no release")
        entries = {entry["path"] for entry in witness["plan"]}
        reached = all(attained.entered == entries for attained in witnessed)
        require(reached, "a witness enters a part that its pair does not reach")
        one_way = all(map(_on_one_way, witnessed))
        require(named or one_way, "a witness needs keys that may not be those of one record")
        side = assumed if ground == "assumed" else counted
        side += [attained.losses for attained in witnessed if attained.ways or not labels]
    return counted or [Counter()], assumed


def _named_once(tree: Table, labels: list[str]) -> bool:
    """Return whether the releases of a witness stand in one part of each parallel node."""
    arrays = [node["parts"] for node in walk(tree) if node["node"] == "parallel"]
    return all(sum(_holds(part, labels) for part in parts) <= 1 for parts in arrays)


def _holds(tree: Table, labels: list[str]) -> bool:
    """Return whether a tree holds a release of a witness."""
    return any(node["node"] == "release" and (not labels or node["label"] in labels) for node in walk(tree))


def _on_one_way(attained: Attained) -> bool:
    """Return whether the releases that are moved need keys of which the largest set holds all others."""
    sets = sorted(attained.ways, key=len)
    return all(a <= b for a, b in pairwise(sets))
