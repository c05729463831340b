"""The printed reading, checked anew: which steps of a paper's argument follow by their own rules."""

import math

from dpaudit.verifier.curve import Worst
from dpaudit.verifier.folding import children
from dpaudit.verifier.losses import Multiset, Table, group_delta, most, number, require
from dpaudit.verifier.mechanisms import sides_of

_ENOUGH, _FLOOR = 1 + 1e-9, 1e-13  # rounding that a printed number may have: relative, and of a delta
_GAUSSIANS = {"gaussian", "symmetric_gaussian", "joint_gaussian"}
_COMPOSED = frozenset(("sequential", "repeat", "parallel"))
# What kind of node, or which mechanism, each rule speaks of.
_SUBJECTS = {
    **dict.fromkeys(("basic", "advanced", "advanced_refined", "advanced_short", "optimal"), _COMPOSED),
    **dict.fromkeys(("classic_gaussian", "analytic_gaussian"), _GAUSSIANS),
    **{name: {name} for name in ("randomised_response", "parallel", "cells", "group", "billboard", "local")},
    "laplace": {"laplace", "discrete_laplace", "ball_laplace"},
    "tree": {"tree_aggregation"},
    "wishart": {"one_sided_wishart", "symmetrised_wishart"},
    "post_processing": {"post_process", "billboard", "local"},
}


def budget(node: Table) -> tuple[float, float]:
    """Return the budget printed on a node, or implied by its parts."""
    stated = node.get("printed", node if node["node"] == "stated" else None)
    if stated is not None:
        return number(stated["epsilon"], "epsilon"), number(stated.get("delta", 0.0), "delta")
    if node["node"] == "release":
        return most(_release(node))
    held = _inside(node)
    if node["node"] in ("parallel", "cells"):
        return max(e for e, _ in held), max(d for _, d in held)
    if node["node"] == "group":
        return node["size"] * held[0][0], group_delta(*held[0], node["size"])
    times = node.get("times", 1)
    return times * math.fsum(e for e, _ in held), times * math.fsum(d for _, d in held)


def _inside(node: Table) -> list[tuple[float, float]]:
    """Return the budgets of a node's parts; of cells, a replaced record touches the second twice."""
    held = [budget(child) for child in children(node)]
    return [held[0], (2 * held[1][0], 2 * held[1][1])] if node["node"] == "cells" else held


def breaks(node: Table) -> bool:
    """Return whether one printed step does not follow by its own rule."""
    rule = node["printed"]["rule"]
    require(rule in _SUBJECTS, f"the printed rule {rule!r} cannot be derived again by this checker")
    if budget(node)[0] > number(node["printed"].get("largest_epsilon", "inf"), "largest_epsilon"):
        return True
    subject = node["mechanism"]["name"] if node["node"] == "release" else node["node"]
    return subject not in _SUBJECTS[rule] or _concluded(rule, node) > budget(node)[0] * _ENOUGH


def _concluded(rule: str, node: Table) -> float:
    """Return the epsilon that a rule gives at the printed delta, infinite where one of its premises fails."""
    (epsilon, delta), parts, times = budget(node), _inside(node), node.get("times", 1)
    slots, allowed = node["printed"].get("slots", times * len(parts)), delta * _ENOUGH
    e, d = (max((part[of] for part in parts), default=0.0) for of in (0, 1))
    match rule:
        case "basic":
            equal = "slots" in node["printed"]
            sums = [slots * e, slots * d] if equal else [times * math.fsum(held) for held in zip(*parts, strict=True)]
            return sums[0] if sums[1] <= allowed and times * len(parts) <= slots * (1 + 1e-12) else math.inf
        case "advanced" | "advanced_refined":
            spare, drift = delta - slots * d, math.expm1(e) if rule == "advanced" else math.tanh(e / 2)
            return e * math.sqrt(2 * slots * math.log(1 / spare)) + slots * e * drift if spare > 0 else math.inf
        case "advanced_short":
            fits = delta > 0 and epsilon <= 1 and 2 * slots * d <= allowed
            return e * math.sqrt(8 * slots * math.log(2 / delta)) if fits else math.inf
        case "optimal":
            return _optimal(parts, times, delta)
        case "group":
            return node["size"] * e if group_delta(e, d, node["size"]) <= allowed else math.inf
        case "parallel" | "cells" | "post_processing" | "billboard" | "local":
            return e if d <= allowed else math.inf
        case "classic_gaussian":
            mu = next(iter(_release(node)))[1]
            return mu * math.sqrt(2 * math.log(1.25 / delta)) if delta > 0 and epsilon < 1 else math.inf
        case _:  # the rules about one release ask for its exact curve
            return epsilon if Worst([_release(node)]).delta(epsilon * _ENOUGH)[0] <= allowed + _FLOOR else math.inf


def _release(node: Table) -> Multiset:
    """Return what bounds a release from above, under the relation that its mechanism states."""
    return sides_of(node["mechanism"], node["mechanism"].get("neighbours", "replace_one"))[0]


def _optimal(parts: list[tuple[float, float]], times: int, delta: float) -> float:
    """Kairouz, Oh and Viswanath (2015), Theorem 3.5."""
    lost = -math.expm1(times * math.fsum(math.log1p(-d) for _, d in parts))
    spare = (delta - lost) / (1 - lost)
    total = times * math.fsum(e for e, _ in parts)
    if spare <= 0:
        return total if lost <= delta * _ENOUGH else math.inf
    drift, square = times * math.fsum(e * math.tanh(e / 2) for e, _ in parts), times * math.fsum(e**2 for e, _ in parts)
    return min(total, drift + math.sqrt(2 * square * math.log(min(1 / spare, math.e + math.sqrt(square) / spare))))
