"""Folding the tree anew: alternatives that bound from above."""

import math
from collections import Counter
from itertools import product

from dpaudit.verifier import losses, schemes
from dpaudit.verifier.losses import Loss, Multiset, black_box, distinct, joined
from dpaudit.verifier.mechanisms import sides_of, with_leaves
from dpaudit.verifier.refusals import Table, require
from dpaudit.verifier.shuffles import shuffled_above

MODELS = ("local", "central", "joint")
_SINGLE = {"release", "stated", "sequential", "repeat", "post_process", "billboard", "local", "group"}
_REPORT = {"release", "sequential", "repeat", "post_process", "local", "stated"}


def fold(node: Table, relation: str) -> list[Multiset]:
    """Return alternatives (multisets of losses) that bound from above."""
    kind = node["node"]
    if kind == "release":
        return [losses.harmful(sides_of(node["mechanism"], relation)[0])]
    if kind == "stated":
        require(node.get("neighbours", relation) == relation, "a stated part is for other neighbours")
        return [Counter([black_box(float(node["epsilon"]), float(node.get("delta", 0.0)))])]
    if kind == "cells":
        return _cells(node, relation)
    if kind in ("sequential", "parallel"):
        return _parts(node, relation)
    part = fold(node["part"], schemes.inside(node, relation))
    if kind == "repeat":
        part = part if _ordered(node["part"], relation) else [joined(part)]
        return [losses.times(a, node["times"]) for a in part]
    if kind == "group":
        rows = [row for part in _mechanisms(node) for row in part.get("stated", {}).get("upper", [])]
        own = node["size"] > 1 and any(row["loss"] == "sampled_gaussian" for row in rows)
        require(not own, "nothing says that a group's records enter a plug-in's own sample independently")
        return _group(part, node["size"]) if node["size"] > 1 else part
    if kind == "shuffle":
        require({below["node"] for below in walk(node["part"])} <= _REPORT, "a shuffled report depends on the user")
        return [Counter([shuffled_above(node, joined(part), relation)])]
    if kind in ("subsample", "allocate"):
        return schemes.above(node, _met(node, part, relation), relation)
    return part


def _met(node: Table, part: list[Multiset], relation: str) -> list[Multiset]:
    """What steps, or the record that takes another one's place, may meet: one kind of several, or one after another."""
    if node["node"] == "allocate":
        return part if _ordered(node["part"], schemes.inside(node, relation)) else [joined(part)]
    if node.get("scheme", "poisson") == "poisson" or "parallel" not in {below["node"] for below in walk(node)}:
        return part
    require(node["scheme"] == "truncated_poisson", "the record that takes a place may touch another part")
    return [joined(part)]


def _parts(node: Table, relation: str) -> list[Multiset]:
    """Parallel parts are alternatives; parts in sequence add up, an alternative being picked adaptively."""
    folded = [fold(part, relation) for part in node["parts"]]
    if node["node"] == "parallel":
        return distinct([alternative for part in folded for alternative in part])
    kept = [a if _ordered(n, relation) else [joined(a)] for a, n in zip(folded, node["parts"], strict=True)]
    if math.prod(map(len, kept)) > 16:
        kept = [[joined(a)] for a in kept]
    return distinct([sum(chosen, start=Counter()) for chosen in product(*kept)])


def _ordered(node: Table, relation: str) -> bool:
    """Return whether a node's alternatives are the orders of samples of one loss each, which a run does not change."""
    sampled = node["node"] in ("subsample", "allocate")
    if sampled and "replace_one" in (relation, schemes.inside(node, relation)):
        return False
    if {below["node"] for below in walk(node["part"] if sampled else node)} <= _SINGLE:
        return True
    return node["node"] in _SINGLE - {"group", "local"} and all(_ordered(part, relation) for part in children(node))


def _cells(node: Table, relation: str) -> list[Multiset]:
    """A replaced record empties one cell and fills another, or stays; a removed one empties one."""
    alone = fold(node["touched"], "add_remove")
    require(relation != "zero_out", "cells are for other neighbours")
    if relation == "add_remove":
        return alone
    return [*fold(node["inside"], relation), joined(alone) + losses.reversed_all(joined(alone))]


def _group(upper: list[Multiset], size: int) -> list[Multiset]:
    """Shifts grow with the group, a black box by the group property; of a choice records may meet every option."""
    if len(distinct(upper)) == 1 or all(loss[0] == "gaussian" for a in upper for loss in a):
        each = [[Counter({_moved(of, size): n}) for x, n in a.items() for of in losses.options(x)] for a in upper]
        return [sum(held, start=Counter()) for held in each]
    boxes = [losses.most(order) for a in upper for order in (a, losses.reversed_all(a))]
    epsilon, delta = map(max, zip(*boxes, strict=True))
    require(epsilon < math.inf, "a group spreads over parts without a largest loss")
    return [Counter([black_box(size * epsilon, losses.group_delta(epsilon, delta, size))])]


def _moved(loss: Loss, size: int) -> Loss:
    """Return a loss that dominates `size` records changed together."""
    if grown := schemes.of_a_person(loss, size):
        return grown
    require(loss[0] in ("discrete", "range", "between"), "a group over a sample cannot be derived again")
    epsilon, delta = map(max, zip(*(losses.most(Counter([one])) for one in (loss, losses.reverse(loss))), strict=True))
    return black_box(size * max(0.0, epsilon), losses.group_delta(max(0.0, epsilon), delta, size))


def children(node: Table) -> list[Table]:
    """Return the parts of a node."""
    return [*node.get("parts", []), *(node[key] for key in ("inside", "touched", "part") if key in node)]


def walk(node: Table) -> list[Table]:
    """Return all nodes, parents first."""
    return [node, *(below for part in children(node) for below in walk(part))]


def plug_ins(tree: Table) -> list[str]:
    """Return the names of the mechanisms whose losses are stated, because no checker can derive them."""
    return list(dict.fromkeys(part["name"] for part in _mechanisms(tree) if "stated" in part))


def _mechanisms(tree: Table) -> list[Table]:
    """Return the mechanisms of all releases, each with its leaves."""
    return [part for node in walk(tree) if "mechanism" in node for part in with_leaves(node["mechanism"])]


def model(node: Table) -> str:
    """Return the view that a tree protects: the weakest of its parts'."""
    if node["node"] == "shuffle":
        return "central"
    if node["node"] == "billboard":
        return "joint"
    inner = max((model(child) for child in children(node)), key=MODELS.index, default="central")
    if node["node"] in ("subsample", "allocate"):
        return "joint" if inner == "joint" else "central"
    return "local" if node["node"] == "local" and inner == "central" else inner
