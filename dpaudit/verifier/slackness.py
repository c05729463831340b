"""The slack of a claim: ratios that follow from claim, brackets and noise, and factors that multiply to them."""

import math

from dpaudit.verifier.curve import Worst
from dpaudit.verifier.folding import children, fold, plug_ins, walk
from dpaudit.verifier.losses import shows_all
from dpaudit.verifier.mechanisms import rescaled, sides_of
from dpaudit.verifier.refusals import Table
from dpaudit.verifier.shape import TABLES
from dpaudit.verifier.stated_ends import BLUNT, Outcome, small_delta

# Relative: of ratios; and what a noise is known to: in closed form, on lattices, of losses made of others, and where
# less noise can be better.
_EQUAL, _EXACT, _NARROW, _DERIVED, _STEPWISE = 1e-9, 1e-6, 1e-3, 0.01, 0.3
_ANY = 2e11  # a ratio at which the search for less noise ends, as any amount is enough
_NEAR = 0.01  # relative: how far a proved delta may exceed the claimed one where the noise just suffices


def slack_outcome(data: Table, *, loose: bool) -> Outcome:
    """Return what is wrong with the slack of a claim; it is missing where nothing can be compared.

    Where an upper end is `loose`, that of the noise is, too.
    """
    slack, claim, tight = data.get("slack"), data["claim"], float(data["tight"]["epsilon"]["upper"])
    nodes = walk(data["declaration"])
    lone = claim["epsilon"] in (0, math.inf) or tight == math.inf or any(node["node"] == "stated" for node in nodes)
    if slack is None:
        free = lone or loose or plug_ins(data["declaration"])
        told = "no slack is stated, and that no noise is enough is not derived again"
        return Outcome((), () if free else (told,))
    if lone:
        return Outcome(("a slack is stated where nothing can be compared",))
    ratios = [float(slack[name]) for name in ("epsilon_ratio", "noise_ratio")]
    rows = [[float(row[name]) for name in ("factor", "noise_factor")] for row in slack["factors"]]
    pairs = [(ratios[0], claim["epsilon"] / tight if tight else math.inf)]
    pairs += [(math.prod(row[i] for row in rows), ratios[i]) for i in (0, 1)]
    complaints = []
    if not all(math.isclose(said, derived, rel_tol=_EQUAL) for said, derived in pairs):
        complaints.append(f"ratios that should agree (claimed over proved, products of factors) do not: {pairs}")
    names = [row["name"] for row in slack["factors"]]
    if len({*names}) != len(names) or ("printed" not in data and names != ["declared noise"][: len(names)]):
        complaints.append(f"the factors {names} do not follow: without a printed reading all is declared noise")
    if any(row["sentence"] != _sentence(row, nodes) for row in slack["factors"]):
        complaints.append("a sentence on a factor does not state it")
    return Outcome(tuple(complaints)).joined(_noise(ratios[1], data, loose=loose))


def _sentence(row: Table, nodes: list[Table]) -> str:
    """Return the sentence that states a factor; slots are those of the first node that has some."""
    node = next((node for node in nodes if "slots" in node.get("printed", {})), None)
    name = row["name"] if node or row["name"] != "number of parts" else "number of parts, unknown"
    slots, parts = (node["printed"]["slots"], node.get("times", len(children(node)))) if node else (0.0, 0)
    text: str = TABLES["slack"].get(name, "an unknown factor")
    counted = "is 1 part" if parts == 1 else f"are {parts} parts"
    return text.format(factor=float(row["noise_factor"]), slots=slots, parts=counted)


def _noise(ratio: float, data: Table, *, loose: bool) -> Outcome:
    """Return whether 1/ratio of the noise is what the claim just needs: a little more meets it, a little less fails."""
    claim = data["claim"]
    if plug_ins(data["declaration"]):
        return Outcome()  # how their noise scales is not stated
    if not 1e-13 < ratio < 1e13:
        return Outcome((f"the noise ratio {ratio} is out of range",))
    enough = _with_noise(data, 1 / (ratio * (1 - 1e-6)))
    stepwise = any(_stepwise(node.get("mechanism", {}), ratio) for node in walk(data["declaration"]))
    known = _STEPWISE if stepwise else _DERIVED if enough.coarse else _EXACT if enough.gaussian else _NARROW
    met, high = enough.delta(claim["epsilon"])
    less = rescaled(data["declaration"], 1 / (ratio * (1 + known)))
    blunt = loose or ratio > _ANY or _lawless(less) or (BLUNT > claim["delta"] > 0 and not enough.closed)
    little = (0.0, 1.0) if blunt else _with_noise(data, 1 / (ratio * (1 + known))).delta(claim["epsilon"])
    least = min(1.0, 2 * little[1] - little[0])  # a rare event is rounded as the bracket says
    said = f"1/{ratio:.9g} of the noise is not"
    if met > claim["delta"] or least <= claim["delta"]:
        return Outcome((f"{said} what the claim just needs: delta is {met:.6g} or more there",))
    proved = high * (1 - _NEAR) <= max(claim["delta"], small_delta(enough, 0.0))
    told = f"{said} confirmed to be what the claim needs: delta is at most {high:.6g}"
    return Outcome((), () if proved else (told,))


def _lawless(tree: Table) -> bool:
    """Return whether some noise has no law: a table as sharp as it can be, or whole numbers that are too few."""
    held = [node["mechanism"] for node in walk(tree) if "mechanism" in node]
    tables = (fields for fields in held if fields["name"] == "finite")
    whole = [fields for fields in held if "discrete_gaussian" in fields["name"] and "stated" not in fields]
    few = any(fields["stddev"] < 0.1 or round(fields.get("cut", 99.0) * fields["stddev"]) < 1 for fields in whole)
    return few or any(shows_all(sides_of(table, table["neighbours"])[0]) for table in tables)


def _stepwise(mechanism: Table, ratio: float) -> bool:
    """Return whether more of a mechanism's noise can cost more: a cut that is rounded, or few whole numbers."""
    few = mechanism.get("name") == "discrete_gaussian" and mechanism["stddev"] / ratio < 1.5
    return few or mechanism.get("name") == "truncated_discrete_gaussian"


def _with_noise(data: Table, factor: float) -> Worst:
    """Return the curve of the declaration with so many times its noise."""
    return Worst(fold(rescaled(data["declaration"], factor), data["claim"]["neighbours"]))
