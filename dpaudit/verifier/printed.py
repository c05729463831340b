"""The printed reading, derived again: which steps of a paper's argument follow by their own rules."""

import math

from dpaudit.verifier.curve import Worst
from dpaudit.verifier.losses import Multiset, group_delta, most
from dpaudit.verifier.mechanisms import sides_of, with_leaves
from dpaudit.verifier.refusals import Table, require
from dpaudit.verifier.schemes import inside
from dpaudit.verifier.shape import TABLES, children

_ENOUGH = 1 + 1e-9  # rounding that a printed number may have


def printed_complaints(printed: Table | None, tree: Table, claim: Table) -> list[str]:
    """Return where the printed reading does not follow: its end, the places of its problems, and its validity."""
    read = _read(tree, claim["neighbours"], "root")
    steps = [(path, node, relation) for path, node, relation in read if "printed" in node]
    if printed is None or not steps:
        return [] if printed is None and not steps else ["the printed reading is missing or has no basis"]
    end = budget(tree, claim["neighbours"])
    broken = [(path, node["printed"]["rule"]) for path, node, relation in steps if breaks(node, relation)]
    broken += [("root", "claim")] * any(end[i] > claim[of] * _ENOUGH for i, of in enumerate(("epsilon", "delta")))
    stated = list(dict.fromkeys((row["node"], row["rule"]) for row in printed["problems"]))
    said = float(printed["epsilon"]), printed["delta"]
    close = all(math.isclose(a, b, rel_tol=1e-9) for a, b in zip(said, end, strict=True))
    return [
        *([] if close else [f"the printed reading does not end at {end}, the budget of the root"]),
        *([] if stated == broken else [f"the steps that do not hold are {broken}; stated are {stated}"]),
        *([] if printed["valid"] == (not broken) else ["the printed reading's validity contradicts its steps"]),
    ]


def _read(node: Table, relation: str, path: str) -> list[tuple[str, Table, str]]:
    """Return all nodes with their places and the relation that each is read for, parents first."""
    below = [
        row
        for i, (part, inner) in enumerate(zip(children(node), _relations(node, relation), strict=True))
        for row in _read(part, inner, f"{path}.{i}")
    ]
    return [(path, node, relation), *below]


def _relations(node: Table, relation: str) -> list[str]:
    """Return the relation that each part of a node is read for."""
    if node["node"] == "cells":
        return [relation, "add_remove"]
    return [inside(node, relation)] * len(children(node))


def budget(node: Table, relation: str) -> tuple[float, float]:
    """Return the budget printed on a node, or implied by its parts."""
    stated = node.get("printed", node if node["node"] == "stated" else None)
    if stated is not None:
        return float(stated["epsilon"]), float(stated.get("delta", 0.0))
    if node["node"] == "release":
        return most(_release(node))
    budgets = _inside(node, relation)
    if node["node"] in ("subsample", "allocate"):
        records = _changed_records(node, relation)
        epsilon, delta = records * budgets[0][0], group_delta(*budgets[0], records)
        times = node.get("per_epoch", 1) * node.get("epochs", 1)
        return times * epsilon, min(1.0, times * delta)
    if node["node"] in ("parallel", "cells"):
        return max(e for e, _ in budgets), min(1.0, max(d for _, d in budgets))
    if node["node"] == "group":
        return node["size"] * budgets[0][0], group_delta(*budgets[0], node["size"])
    times = node.get("times", 1)
    return times * math.fsum(e for e, _ in budgets), min(1.0, times * math.fsum(d for _, d in budgets))


def _changed_records(node: Table, relation: str) -> int:
    """Return how many records of its part one move of a sample or an allocation changes at most."""
    scheme = node.get("scheme", "poisson")
    if scheme == "with_replacement":
        return int(node["batch_size"])
    return 2 if scheme == "truncated_poisson" or (scheme, relation) == ("poisson", "replace_one") else 1


def _inside(node: Table, relation: str) -> list[tuple[float, float]]:
    """Return the budgets of a node's parts; of cells, a replaced record touches the second twice."""
    budgets = [budget(child, inner) for child, inner in zip(children(node), _relations(node, relation), strict=True)]
    return [budgets[0], (2 * budgets[1][0], 2 * budgets[1][1])] if node["node"] == "cells" else budgets


def breaks(node: Table, relation: str) -> bool:
    """Return whether one printed step does not follow by its own rule."""
    if budget(node, relation)[0] > float(node["printed"].get("largest_epsilon", math.inf)):
        return True
    rule = node["printed"]["rule"]
    require(rule in TABLES["rules"], f"the printed rule {rule!r} cannot be derived again by this checker")
    subject = node["mechanism"]["name"] if node["node"] == "release" else node["node"]
    return (
        subject not in TABLES["rules"][rule] or _concluded(rule, node, relation) > budget(node, relation)[0] * _ENOUGH
    )


def _concluded(rule: str, node: Table, relation: str) -> float:
    """Return the epsilon that a rule gives at the printed delta, infinite where one of its premises fails."""
    (epsilon, delta), parts, times = budget(node, relation), _inside(node, relation), node.get("times", 1)
    slots, allowed = node["printed"].get("slots", times * len(parts)), delta * _ENOUGH
    e, d = (max((part[of] for part in parts), default=0.0) for of in (0, 1))
    if rule in TABLES["composition"] and times * len(parts) > slots * (1 + 1e-12):
        return math.inf
    match rule:
        case "basic":
            equal = "slots" in node["printed"]
            sums = [slots * e, slots * d] if equal else [times * math.fsum(costs) for costs in zip(*parts, strict=True)]
            return sums[0] if sums[1] <= allowed else math.inf
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
        case "classic_gaussian" | "classic_gaussian_2":
            mu, odds = next(iter(_release(node)))[1], 2 if rule.endswith("2") else 1.25
            return mu * math.sqrt(2 * math.log(odds / delta)) if delta > 0 and epsilon < 1 else math.inf
        case _:  # the rules about one release ask for its exact curve
            exact = Worst([_release(node)])
            claim_holds = not exact.never(delta) and exact.delta(epsilon * _ENOUGH)[0] <= delta
            return epsilon if claim_holds else math.inf


def _release(node: Table) -> Multiset:
    """Return what bounds a release from above, under the relation that its mechanism states."""
    fields = node["mechanism"]
    return sides_of(fields, with_leaves(fields)[-1].get("neighbours", "replace_one"))[0]


def _optimal(parts: list[tuple[float, float]], times: int, delta: float) -> float:
    """Kairouz, Oh and Viswanath (2015), Theorem 3.5; nothing where a part loses all."""
    if any(d >= 1 for _, d in parts):
        return math.inf
    lost = -math.expm1(times * math.fsum(math.log1p(-d) for _, d in parts))
    spare = (delta - lost) / (1 - lost)
    total = times * math.fsum(e for e, _ in parts)
    if spare <= 0:
        return total if lost <= delta * _ENOUGH else math.inf
    drift, square = times * math.fsum(e * math.tanh(e / 2) for e, _ in parts), times * math.fsum(e**2 for e, _ in parts)
    return min(total, drift + math.sqrt(2 * square * math.log(min(1 / spare, math.e + math.sqrt(square) / spare))))
