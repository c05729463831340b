"""The slack of a claim: ratios that follow from claim, brackets and noise, and factors that multiply to them."""

import math
from typing import Any

from dpaudit.verifier.curve import ROUGH, SHARP, Worst
from dpaudit.verifier.mechanisms import plug_ins, rescaled
from dpaudit.verifier.proof.derivation import Row
from dpaudit.verifier.proof.rules import above
from dpaudit.verifier.refusals import Rejection, Table
from dpaudit.verifier.shape import TABLES, children, walk
from dpaudit.verifier.stated_ends import BLUNT, Outcome, small_delta

# Relative: of ratios; and what a noise is known to: in closed form, on lattices, and of losses made of others.
_EQUAL, _EXACT, _NARROW, _DERIVED = 1e-9, 1e-6, 1e-3, 0.01
_THROUGH_KNOTS = ("shuffle", "best_of", "allocate")  # nodes whose noise is known no closer than losses made of others
_NONE, _MOST = 1e-12, 1e12  # of the noise: where a search for less ends, and one for more
_TAKEN = {"discrete_laplace": 2.0**53, "discrete_gaussian": 1e4, "truncated_discrete_gaussian": 1e4}  # the most noise
_VAIN = 100.0  # nats: a claim beyond promises nothing to compare with


def slack_outcome(data: Table, rows: list[Row], curve: Worst, *, loose: bool) -> Outcome:
    """Return what is wrong with the slack of a claim; it is missing where nothing can be compared.

    `curve` is that of the declaration from above. Where an upper end is `loose`, that of the noise is, too.
    """
    slack, claim, tight = data.get("slack"), data["claim"], float(data["tight"]["epsilon"]["upper"])
    nodes = walk(data["declaration"])
    lone = not 0 < claim["epsilon"] <= _VAIN or tight == math.inf or _budgeted(data["declaration"])
    lone = lone or any(node["node"] == "stated" for node in nodes)
    if slack is None:
        free = lone or loose or plug_ins(data["declaration"]) or _needless(data, rows)
        free = free or 0 < claim["delta"] < BLUNT or _hopeless(data, rows)
        told = "no slack is stated, and that no noise is enough is not derived again"
        return Outcome((), () if free else (told,))
    if lone:
        return Outcome(("a slack is stated where nothing can be compared",))
    ratios = [float(slack[name]) for name in ("epsilon_ratio", "noise_ratio")]
    factors = [[float(row[name]) for name in ("factor", "noise_factor")] for row in slack["factors"]]
    pairs = [(ratios[0], claim["epsilon"] / tight if tight else math.inf)]
    pairs += [(math.prod(factor[i] for factor in factors), ratios[i]) for i in (0, 1)]
    complaints = []
    if not all(math.isclose(said, derived, rel_tol=_EQUAL) for said, derived in pairs):
        complaints.append(f"ratios that should agree (claimed over proved, products of factors) do not: {pairs}")
    names = [row["name"] for row in slack["factors"]]
    if len({*names}) != len(names) or ("printed" not in data and names != ["declared noise"][: len(names)]):
        complaints.append(f"the factors {names} do not follow: without a printed reading all is declared noise")
    if any(row["sentence"] != _sentence(row, nodes) for row in slack["factors"]):
        complaints.append("a sentence on a factor does not state it")
    return Outcome(tuple(complaints)).joined(_noise(ratios[1], data, rows, curve, loose=loose))


def _sentence(row: Table, nodes: list[Table]) -> str:
    """Return the sentence that states a factor; slots are those of the first node that has some."""
    node = next((node for node in nodes if "slots" in node.get("printed", {})), None)
    name = row["name"] if node or row["name"] != "number of parts" else "number of parts, unknown"
    slots, parts = (node["printed"]["slots"], node.get("times", len(children(node)))) if node else (0.0, 0)
    text: str = TABLES["slack"].get(name, "an unknown factor")
    counted = "is 1 part" if parts == 1 else f"are {parts} parts"
    return text.format(factor=float(row["noise_factor"]), slots=slots, parts=counted)


def _noise(ratio: float, data: Table, rows: list[Row], curve: Worst, *, loose: bool) -> Outcome:
    """Return whether a noise ratio is confirmed; no verdict rests on it, so that a disagreement rejects nothing."""
    if plug_ins(data["declaration"]):
        return Outcome()  # how their noise scales is not stated
    if not 1e-13 < ratio < 1e13:
        return Outcome((f"the noise ratio {ratio} is out of range",))
    try:
        told = _disagreement(ratio, data, rows, curve, loose=loose)
    except (Rejection, ArithmeticError, MemoryError) as error:
        told = f"1/{ratio:.9g} of the noise is beyond this checker: {str(error) or type(error).__name__}"
    return Outcome((), (told,) if told else ())


def _disagreement(ratio: float, data: Table, rows: list[Row], curve: Worst, *, loose: bool) -> str:
    """Return why 1/ratio of the noise is not what the claim just needs: it meets the claim, and a little less fails."""
    claim = data["claim"]
    mechanisms = [node.get("mechanism", {}) for node in walk(data["declaration"])]
    stepwise = any(_stepwise(mechanism, ratio) for mechanism in mechanisms)
    # The largest loss of a discrete Gaussian is that of a whole number, which grows in steps with the noise.
    coarse = curve.coarse or any(mechanism.get("name") == "discrete_gaussian" for mechanism in mechanisms)
    coarse = coarse or any(node["node"] in _THROUGH_KNOTS for node in walk(data["declaration"]))
    margin = _DERIVED if coarse else _EXACT if curve.gaussian else _NARROW
    blunt = loose or stepwise or (BLUNT > claim["delta"] > 0 and not curve.closed)
    said = f"1/{ratio:.9g} of the noise is not"
    if not blunt and _suffices(data, rows, 1 / (ratio * (1 + margin))):
        return f"{said} what the claim just needs: less is enough"
    for looks in (ROUGH, SHARP):
        enough = Worst(above(rows, rescaled(data["declaration"], 1 / ratio)), looks)
        high = enough.delta(claim["epsilon"])[1]
        if high <= max(claim["delta"], small_delta(enough, 0.0)):
            return ""
    return f"{said} confirmed to be what the claim needs: delta is at most {high:.6g}"


def _suffices(data: Table, rows: list[Row], factor: float) -> bool:
    """Return whether a factor on the noise is surely enough, by the largest loss where the claimed delta is 0.

    Where a mechanism takes no such noise it is not. A rare event is rounded as the bracket says.
    """
    epsilon, delta = data["claim"]["epsilon"], data["claim"]["delta"]
    try:
        curve = Worst(above(rows, rescaled(data["declaration"], factor)), ROUGH)
        if not delta:
            return bool(curve.largest < epsilon * (1 - _EQUAL))
        low, high = curve.delta(epsilon)
    except Rejection:
        return False
    return bool(min(1.0, 2 * high - low) <= delta * (1 - _EQUAL))


def _needless(data: Table, rows: list[Row]) -> bool:
    """Return whether a claim is met without noise, or with next to none."""
    tree = data["declaration"]
    return any(_met(bare, data["claim"], rows) for bare in (_revealed(tree), rescaled(tree, _NONE)))


def _hopeless(data: Table, rows: list[Row]) -> bool:
    """Return whether a claim is not met with the most noise that a search looks at, or that mechanisms take."""
    tree = data["declaration"]
    mechanisms = [node["mechanism"] for node in walk(tree) if "mechanism" in node]
    room = [_MOST] + [_TAKEN[m["name"]] / m.get("stddev", m.get("scale")) for m in mechanisms if m["name"] in _TAKEN]
    room += [1e5 / (m["cut"] * m["stddev"]) for m in mechanisms if "cut" in m]
    return not _met(rescaled(tree, 0.9 * min(room)), data["claim"], rows)


def _met(tree: Table, claim: Table, rows: list[Row]) -> bool:
    """Return whether a tree is proved to meet a claim."""
    try:
        return bool(Worst(above(rows, tree), ROUGH).delta(claim["epsilon"])[1] <= claim["delta"] * (1 + _EQUAL))
    except Rejection:
        return False


def _revealed(tree: Any) -> Any:
    """Return a tree (or a part of its JSON) whose mechanisms hide nothing."""
    if isinstance(tree, list):
        return [_revealed(item) for item in tree]
    if not isinstance(tree, dict):
        return tree
    return {"name": "win_clock"} if "name" in tree else {key: _revealed(branch) for key, branch in tree.items()}


def _budgeted(node: Table) -> bool:
    """Return whether a budget pays for every release, so that noise changes nothing."""
    parts = children(node)
    return node["node"] == "filtered" or (bool(parts) and all(map(_budgeted, parts)))


def _stepwise(mechanism: Table, ratio: float) -> bool:
    """Return whether more of a mechanism's noise can cost more: a cut that is rounded, or few whole numbers."""
    few = mechanism.get("name") == "discrete_gaussian" and mechanism["stddev"] / ratio < 1.5
    return few or mechanism.get("name") == "truncated_discrete_gaussian"
