"""The printed reading, checked anew: which steps of a paper's argument follow by their own rules."""

import math

from dpaudit.verifier.curve import Worst
from dpaudit.verifier.folding import children
from dpaudit.verifier.losses import infinite_mass, supremum
from dpaudit.verifier.mechanisms import sides_of
from dpaudit.verifier.reading import Table, number, require

_ENOUGH = 1 + 1e-9
_FLOOR = 1e-13
_GAUSSIANS = {"gaussian", "symmetric_gaussian", "joint_gaussian"}
_MECHANISMS = {
    "classic_gaussian": _GAUSSIANS,
    "analytic_gaussian": _GAUSSIANS,
    "laplace": {"laplace", "discrete_laplace"},
    "randomised_response": {"randomised_response"},
    "tree": {"tree_aggregation"},
    "wishart": {"one_sided_wishart", "symmetrised_wishart"},
}
_COMPOSED = {"sequential", "repeat", "parallel"}
_NODES = dict.fromkeys(("basic", "advanced", "advanced_refined", "advanced_short", "optimal"), _COMPOSED) | {
    "parallel": {"parallel"},
    "group": {"group"},
    "post_processing": {"post_process", "billboard", "local"},
    "billboard": {"billboard"},
    "local": {"local"},
}


def budget(node: Table) -> tuple[float, float]:
    """Return the budget printed on a node, or implied by its parts."""
    if "printed" in node:
        return number(node["printed"]["epsilon"], "epsilon"), number(node["printed"].get("delta", 0.0), "delta")
    if node["node"] == "stated":
        return node["epsilon"], node.get("delta", 0.0)
    if node["node"] == "release":
        upper, _ = sides_of(node["mechanism"], node["mechanism"].get("neighbours", "replace_one"))
        survival = math.prod((1 - infinite_mass(loss)) ** n for loss, n in upper.items())
        return math.fsum(n * supremum(loss) for loss, n in upper.items()), 1 - survival
    held = [budget(child) for child in children(node)]
    if node["node"] == "parallel":
        return max(e for e, _ in held), max(d for _, d in held)
    if node["node"] == "cells":
        return max(held[0][0], 2 * held[1][0]), max(held[0][1], 2 * held[1][1])
    if node["node"] == "group":
        return node["size"] * held[0][0], _group_delta(*held[0], node["size"])
    times = node.get("times", 1)
    return times * math.fsum(e for e, _ in held), times * math.fsum(d for _, d in held)


def _group_delta(epsilon: float, delta: float, size: int) -> float:
    """Return what a delta grows to for a group: a geometric sum."""
    return min(1.0, math.fsum(delta * math.exp(min(700.0, i * epsilon)) for i in range(size)))


def breaks(node: Table) -> bool:
    """Return whether one printed step does not follow by its own rule."""
    rule, epsilon, delta = node["printed"]["rule"], *budget(node)
    if not _speaks_of(rule, node):
        return True
    parts = [budget(child) for child in children(node)]
    times = node.get("times", 1)
    events, slots = times * len(parts), node["printed"].get("slots", times * len(parts))
    e, d = max((b[0] for b in parts), default=0.0), max((b[1] for b in parts), default=0.0)
    if rule == "classic_gaussian":
        upper, _ = sides_of(node["mechanism"], node["mechanism"].get("neighbours", "replace_one"))
        need = next(iter(upper))[1] * math.sqrt(2 * math.log(1.25 / delta)) if delta else math.inf
        return bool(need > epsilon * _ENOUGH or epsilon >= 1)
    if rule == "basic":
        equal = "slots" in node["printed"]
        total = slots * e if equal else times * math.fsum(b[0] for b in parts)
        spent = slots * d if equal else times * math.fsum(b[1] for b in parts)
        return bool(total > epsilon * _ENOUGH or spent > delta * _ENOUGH or events > slots * (1 + 1e-12))
    if rule in ("advanced", "advanced_refined"):
        spare = delta - slots * d
        drift = math.expm1(e) if rule == "advanced" else math.tanh(e / 2)
        total = e * math.sqrt(2 * slots * math.log(1 / spare)) + slots * e * drift if spare > 0 else math.inf
        return bool(total > epsilon * _ENOUGH)
    if rule == "advanced_short":
        total = e * math.sqrt(8 * slots * math.log(2 / delta)) if delta else math.inf
        return bool(total > epsilon * _ENOUGH or epsilon > 1 or 2 * slots * d > delta * _ENOUGH)
    if rule in ("parallel", "post_processing", "billboard", "local"):
        return bool(e > epsilon * _ENOUGH or d > delta * _ENOUGH)
    if rule == "group":
        return bool(node["size"] * e > epsilon * _ENOUGH or _group_delta(e, d, node["size"]) > delta * _ENOUGH)
    if rule == "optimal":
        return _optimal(parts, times, delta) > epsilon * _ENOUGH
    upper, _ = sides_of(node["mechanism"], node["mechanism"].get("neighbours", "replace_one"))
    return bool(Worst([upper]).delta(epsilon * _ENOUGH)[0] > delta * _ENOUGH + _FLOOR)


def _optimal(parts: list[tuple[float, float]], times: int, delta: float) -> float:
    """Kairouz, Oh and Viswanath (2015), Theorem 3.5."""
    lost = -math.expm1(times * math.fsum(math.log1p(-d) for _, d in parts))
    spare = (delta - lost) / (1 - lost)
    total = times * math.fsum(e for e, _ in parts)
    if spare <= 0:
        return total if lost <= delta * _ENOUGH else math.inf
    drift, square = times * math.fsum(e * math.tanh(e / 2) for e, _ in parts), times * math.fsum(e**2 for e, _ in parts)
    tails = (1 / spare, math.e + math.sqrt(square) / spare)
    return min(total, drift + math.sqrt(2 * square * min(math.log(tail) for tail in tails)))


def _speaks_of(rule: str, node: Table) -> bool:
    """Return whether a rule is about this kind of node, and a rule about releases about this mechanism."""
    require(rule in _NODES or rule in _MECHANISMS, f"the printed rule {rule!r} cannot be derived again by this checker")
    if rule in _NODES:
        return node["node"] in _NODES[rule]
    return node["node"] == "release" and node["mechanism"]["name"] in _MECHANISMS[rule]
