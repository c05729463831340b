"""Folding the tree anew: alternatives that bound from above."""

import math
from collections import Counter
from itertools import product

from dpaudit.verifier import losses, schemes
from dpaudit.verifier.best_of.above import best_above
from dpaudit.verifier.losses import Loss, Multiset, black_box, distinct, joined
from dpaudit.verifier.mechanisms import sides_of, with_leaves
from dpaudit.verifier.refusals import Table, require
from dpaudit.verifier.shape import require_rules
from dpaudit.verifier.shuffles import shuffled_above

MODELS = ("local", "central", "joint")
_SINGLE = {"release", "stated", "sequential", "repeat", "post_process", "billboard", "local", "group"}
_FALLING = ("truncated_poisson", "with_replacement")
_REPORT = {"release", "sequential", "repeat", "post_process", "local", "stated"}


def fold(node: Table, relation: str) -> list[Multiset]:
    """Return alternatives (multisets of losses) that bound from above, of a tree whose nests all have a rule."""
    require_rules(node, relation)
    return _fold(node, relation, 1)


def _fold(node: Table, relation: str, records: int) -> list[Multiset]:
    """Return the same where so many records of one person change together."""
    kind = node["node"]
    if kind == "release":
        return _several([losses.harmful(sides_of(node["mechanism"], relation)[0])], records)
    if kind == "stated":
        require(node.get("neighbours", relation) == relation, "a stated part is for other neighbours")
        epsilon, delta = float(node["epsilon"]), float(node.get("delta", 0.0))
        return _several([Counter([black_box(epsilon, delta)] if epsilon or delta else [])], records)
    if kind == "cells":
        return _several(_cells(node, relation), records)
    if kind in ("sequential", "parallel"):
        return _parts(node, relation, records)
    if kind == "shuffle":
        require({below["node"] for below in walk(node["part"])} <= _REPORT, "a shuffled report depends on the user")
        return _several([Counter([shuffled_above(node, joined(_fold(node["part"], relation, 1)), relation)])], records)
    if kind in ("subsample", "allocate"):
        part = _met(node, _fold(node["part"], schemes.inside(node, relation), 1), relation)
        return _drawn(node, part, relation, records)
    part = _fold(node["part"], relation, records * node["size"] if kind == "group" else records)
    if kind == "best_of":
        part = part if _ordered(node["part"], relation) else [joined(part)]
        return [Counter([best_above(node, part)])]
    if kind == "repeat":
        part = part if _ordered(node["part"], relation) else [joined(part)]
        return [losses.times(a, node["times"]) for a in part]
    return part


def _drawn(node: Table, part: list[Multiset], relation: str, records: int) -> list[Multiset]:
    """Return a part on a sample, or at secret steps; a person's records enter a sample together, or change in a chain.

    A chain of removals keeps no population, so that records leave a set of fixed size at once.
    """
    found = schemes.above(node, part, relation)
    if records == 1 or not node.get("rate", 1):
        return found
    scheme = node.get("scheme", "poisson")
    require(node["node"] == "subsample" and scheme not in _FALLING, "a group over such a sample has no rule")
    if relation == "add_remove" and scheme == "without_replacement":
        return [schemes.from_a_set(node, a, records) for a in part]
    if relation != "replace_one" and scheme == "poisson" and all(map(schemes.on_a_line, found)):
        return [Counter({schemes.of_a_person(loss, records): n for loss, n in a.items()}) for a in found]
    return _several(found, records)


def _met(node: Table, part: list[Multiset], relation: str) -> list[Multiset]:
    """What steps, or the record that takes another one's place, may meet: one kind of several, or one after another."""
    if node["node"] == "allocate":
        return part if _ordered(node["part"], schemes.inside(node, relation)) else [joined(part)]
    if node.get("scheme", "poisson") == "poisson" or "parallel" not in {below["node"] for below in walk(node)}:
        return part
    return [joined(part)]


def _parts(node: Table, relation: str, records: int) -> list[Multiset]:
    """Parallel parts are alternatives; parts in sequence add up, an alternative being picked adaptively."""
    if node["node"] == "parallel":
        each = [alternative for part in node["parts"] for alternative in _fold(part, relation, 1)]
        return _several(distinct(each), records)
    folded = [_fold(part, relation, records) for part in node["parts"]]
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
    alone = _fold(node["touched"], "add_remove", 1)
    if relation == "add_remove":
        return alone
    return [*_fold(node["inside"], relation, 1), joined(alone) + losses.reversed_all(joined(alone))]


def _several(upper: list[Multiset], size: int) -> list[Multiset]:
    """Records change one after another: shifts grow, a black box by the group property; each may meet every option."""
    if size == 1:
        return upper
    laplace = [loss for a in upper for loss in a if loss[0] == "laplace"]
    if len(laplace) == len(upper) == sum(a.total() for a in upper):  # one each: the largest dominates the others
        upper = [Counter([max(laplace)])]
    if len(distinct(upper)) == 1 or all(loss[0] == "gaussian" for a in upper for loss in a):
        each = [[Counter({_moved(of, size): n}) for x, n in a.items() for of in losses.options(x)] for a in upper]
        return [sum(held, start=Counter()) for held in each]
    boxes = [losses.most(order) for a in upper for order in (a, losses.reversed_all(a))]
    epsilon, delta = map(max, zip(*boxes, strict=True))
    require(epsilon < math.inf, "a group spreads over parts without a largest loss")
    return [Counter([black_box(size * epsilon, losses.group_delta(epsilon, delta, size))])]


def _moved(loss: Loss, size: int) -> Loss:
    """Return a loss that dominates `size` records changed one after another."""
    if loss[0] in losses.SHIFTS:
        return (loss[0], loss[1] * size)
    require(loss[0] in ("discrete", "range", "between"), "a group over a sample cannot be derived again")
    epsilon, delta = map(max, zip(*(losses.most(Counter([one])) for one in (loss, losses.reverse(loss))), strict=True))
    box = black_box(size * max(0.0, epsilon), losses.group_delta(max(0.0, epsilon), delta, size))
    return (*box, "sampled") if loss[0] == "between" else box


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
