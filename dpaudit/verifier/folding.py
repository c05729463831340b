"""Folding the tree anew: alternatives that bound from above and from below."""

import math
from typing import Any

from dpaudit.verifier.losses import (
    Multiset,
    distinct,
    infinite_mass,
    joined,
    moved,
    plus,
    reversed_all,
    supremum,
    times,
)
from dpaudit.verifier.mechanisms import NOISE, sides_of
from dpaudit.verifier.reading import Rejection, Table, number, require, whole

Sides = tuple[list[Multiset], list[Multiset]]
MODELS = ("local", "central", "joint")


def fold(node: Table, relation: str) -> Sides:
    """Return alternatives (multisets of losses) that bound from above and from below."""
    kind = node["node"]
    if kind == "release":
        upper, lower = sides_of(node["mechanism"], relation)
        return [upper], [lower]
    if kind == "stated":
        require(node["source"].strip(), "a stated part names no source")
        require(node.get("neighbours", relation) == relation, "a stated part is for other neighbours")
        epsilon, delta = number(node["epsilon"], "epsilon"), number(node.get("delta", 0.0), "delta")
        require(epsilon >= 0 and 0 <= delta < 1, "a stated part is out of range")
        return [{("approximate", epsilon, delta): 1}], [{}]
    if kind == "cells":
        return _cells(node, relation)
    if kind in ("sequential", "parallel"):
        return _parts(node, relation)
    upper_part, lower_part = fold(node["part"], relation)
    if kind == "repeat":
        count = whole(node, "times")
        return [times(joined(upper_part), count)], [times(a, count) for a in lower_part]
    if kind == "group":
        return _group(upper_part, lower_part, whole(node, "size"))
    if kind == "subsample":
        return _sample(node, upper_part, relation)
    require(kind in ("post_process", "billboard", "local"), f"unknown node {kind!r}")
    return upper_part, lower_part


def _parts(node: Table, relation: str) -> Sides:
    """Parallel parts are alternatives; parts in sequence add up, an alternative being picked adaptively."""
    require(len(node["parts"]) > 0, "a node has no parts")
    folded = [fold(part, relation) for part in node["parts"]]
    if node["node"] == "parallel":
        require(node["key"].strip(), "a parallel node has no key")
        return distinct([a for upper, _ in folded for a in upper]), distinct([a for _, lower in folded for a in lower])
    whole_upper: Multiset = {}
    lowers: list[Multiset] = [{}]
    for upper, lower in folded:
        whole_upper = plus(whole_upper, joined(upper))
        lowers = distinct([plus(a, b) for a in lowers for b in lower])
    return [whole_upper], lowers


def _cells(node: Table, relation: str) -> Sides:
    """A replaced record empties one cell and fills another, or stays; a removed one empties one."""
    upper_alone, lower_alone = fold(node["touched"], "add_remove")
    if relation == "add_remove":
        return upper_alone, lower_alone
    upper, lower = fold(node["inside"], relation)
    twice = plus(joined(upper_alone), reversed_all(joined(upper_alone)))
    return [*upper, twice], [*lower, *(plus(a, reversed_all(a)) for a in lower_alone)]


def _group(upper: list[Multiset], lower: list[Multiset], size: int) -> Sides:
    """Shifts grow with the group; a black box grows by the group property."""
    shifted = ("gaussian", "laplace")
    attained = [{moved(loss, size) if loss[0] in shifted else loss: n for loss, n in a.items()} for a in lower]
    if size == 1 or len(distinct(upper)) == 1 or all(loss[0] == "gaussian" for a in upper for loss in a):
        return [{moved(loss, size): n for loss, n in a.items()} for a in upper], attained
    require(not any(infinite_mass(loss) for a in upper for loss in a), "a group spreads over parts that can fail")
    largest = max(math.fsum(supremum(loss) * n for loss, n in a.items()) for a in upper)
    return [{moved(("approximate", largest, 0.0), size): 1}], attained


def _sample(node: Table, upper: list[Multiset], relation: str) -> Sides:
    """Poisson samples of Gaussian releases are exact; another part is amplified as a black box."""
    rate, scheme = number(node["rate"], "rate"), node.get("scheme", "poisson")
    needed = {"poisson": "add_remove", "without_replacement": "replace_one"}
    require(needed.get(scheme) == relation and 0 < rate <= 1, "a sample's scheme, rate and neighbours do not fit")
    if scheme == "poisson" and all(loss[0] == "gaussian" for a in upper for loss in a):
        mus = [math.sqrt(math.fsum(loss[1] ** 2 * n for loss, n in a.items())) for a in upper]
        exact: list[Multiset] = [{("sampled", mu, rate, "remove") if rate < 1 else ("gaussian", mu): 1} for mu in mus]
        return exact, exact
    boxes: list[Multiset] = []
    for a in upper:
        epsilon = max(math.fsum(supremum(loss) * n for loss, n in o.items()) for o in (a, reversed_all(a)))
        require(epsilon < math.inf, "a sampled part without a largest loss cannot be derived again")
        kept = min(math.prod((1 - infinite_mass(loss)) ** n for loss, n in o.items()) for o in (a, reversed_all(a)))
        grown = epsilon + math.log(rate + (1 - rate) * math.exp(-epsilon))
        boxes.append({("approximate", grown, rate * (1 - kept)): 1})
    return boxes, [{}]


def children(node: Table) -> list[Table]:
    """Return the parts of a node."""
    return [*node.get("parts", []), *(node[key] for key in ("inside", "touched", "part") if key in node)]


def walk(node: Table) -> list[Table]:
    """Return all nodes, parents first."""
    return [node, *(below for child in children(node) for below in walk(child))]


def model(node: Table) -> str:
    """Return the view that a tree protects: the weakest of its parts'."""
    if node["node"] == "billboard":
        return "joint"
    if node["node"] == "local":
        return "local" if model(node["part"]) == "central" else model(node["part"])
    return max((model(child) for child in children(node)), key=MODELS.index, default="central")


def rescaled(node: Any, factor: float) -> Any:
    """Return the tree with the noise of every mechanism scaled."""
    if isinstance(node, list):
        return [rescaled(item, factor) for item in node]
    if not isinstance(node, dict):
        return node
    changed = {key: held if key == "printed" else rescaled(held, factor) for key, held in node.items()}
    if "name" in node and "leaf" not in node:
        if node["name"] not in NOISE:
            raise Rejection(f"the noise of {node['name']!r} cannot be scaled by this checker")
        fields, power = NOISE[node["name"]]
        changed |= {field: node[field] * factor**power for field in fields}
    return changed
