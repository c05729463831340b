"""The printed reading, checked anew: which steps of a paper's argument follow by their own rules."""

import math

from dpaudit.verifier.folding import children
from dpaudit.verifier.reading import Rejection, Table, number

_ENOUGH = 1 + 1e-9


def budget(node: Table) -> tuple[float, float]:
    """Return the budget printed on a node, or implied by its parts."""
    if "printed" in node:
        return number(node["printed"]["epsilon"], "epsilon"), number(node["printed"].get("delta", 0.0), "delta")
    if node["node"] == "stated":
        return node["epsilon"], node.get("delta", 0.0)
    held = [budget(child) for child in children(node)]
    if not held:
        return math.inf, 0.0
    if node["node"] == "parallel":
        return max(e for e, _ in held), max(d for _, d in held)
    times = node.get("times", 1)
    return times * math.fsum(e for e, _ in held), times * math.fsum(d for _, d in held)


def breaks(node: Table) -> bool:
    """Return whether one printed step does not follow by its own rule."""
    rule, epsilon, delta = node["printed"]["rule"], *budget(node)
    parts = [budget(child) for child in children(node)]
    times = node.get("times", 1)
    events, slots = times * len(parts), node["printed"].get("slots", times * len(parts))
    e, d = max((b[0] for b in parts), default=0.0), max((b[1] for b in parts), default=0.0)
    if rule == "classic_gaussian":
        fields = node.get("mechanism", {})
        if fields.get("name") != "gaussian":
            return True
        need = (
            fields["l2_sensitivity"] * math.sqrt(2 * math.log(1.25 / delta)) / fields["stddev"] if delta else math.inf
        )
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
        wrong = rule in ("billboard", "local") and node["node"] != rule
        return bool(wrong or e > epsilon * _ENOUGH or d > delta * _ENOUGH)
    if rule == "group":
        growth = math.expm1(node["size"] * e) / math.expm1(e) if e else node["size"]
        return bool(node["size"] * e > epsilon * _ENOUGH or d * growth > delta * _ENOUGH)
    if node["node"] == "release":
        held = _mechanism(node["mechanism"], node["mechanism"].get("neighbours", "replace_one"))
        return _Worst([held]).delta(epsilon * _ENOUGH)[0] > delta * _ENOUGH + _FLOOR
    raise Rejection(f"the printed rule {rule!r} cannot be re-derived by this checker")
