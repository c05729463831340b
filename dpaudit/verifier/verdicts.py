"""Verdict and reasons, derived again: brackets, the model, the conditions, the findings, and what is on trust."""

import math
import re
from typing import Any, NamedTuple

from dpaudit.verifier.curve import Worst
from dpaudit.verifier.losses import lost
from dpaudit.verifier.mechanisms import with_leaves
from dpaudit.verifier.numerics.decimals import above, below, full
from dpaudit.verifier.proof.derivation import Row
from dpaudit.verifier.proof.rules import above as upper_side
from dpaudit.verifier.proof.witnesses import both_sides
from dpaudit.verifier.refusals import Rejection, Table, require
from dpaudit.verifier.schemes import needs_others
from dpaudit.verifier.shape import TABLES, children, walk

MODELS = ("local", "central", "joint")
_AT = {"renyi": ("order", "epsilon"), "profile": ("epsilon", "delta")}
"""The place and the number of each point of a claim."""
_SHARE = 1e-9  # how far the stated share may be from the one that follows from both ends


class Point(NamedTuple):
    """A point of a claim in another measure: its order or epsilon, what is claimed there, and both stated ends."""

    at: float
    claimed: float
    low: float
    high: float


def verdict_complaints(data: Table, rows: list[Row]) -> list[str]:
    """Return where verdict and reasons are not those that follow from the stated ends."""
    claim = data["claim"]
    replaced = claim["model"] != "joint" or claim["neighbours"] == "replace_one"
    require(replaced, "a joint claim is about replaced records")
    measured = "measure" in claim
    refuted, reasons, within = _of_points(data, rows) if measured else _of_both_ends(data)
    texts: dict[str, str] = TABLES["reasons"]
    if not covers(view := model(data["declaration"]), claim):
        numbers = {name: float(claim[name]) for name in ("epsilon", "delta")} if not measured else {}
        reasons.append(texts["model"].format(held=view, claim=claim | numbers))
    broken = [row for row in data["conditions"] if row["status"] == "violated" and row["kind"] != "attained"]
    reasons += [texts["violated"].format(**row) for row in broken]
    reasons += [texts["disagrees"].format(**row) for row in data["findings"]]
    verdict = "refuted" if refuted else "not_proved" if reasons else _met(data, rows)
    require(("trust" in data) == (verdict == "stated"), f"what is on trust is not as a {verdict} claim says it")
    reasons = reasons or (_on_trust(data) if verdict == "stated" else within)
    stated = [(data["verdict"], verdict), *zip(data["reasons"], reasons, strict=False)]
    wrong = [f"{said!r} does not follow, but {follows!r} does" for said, follows in stated if said != follows]
    return wrong + ([f"{len(reasons)} reasons follow"] if len(reasons) != len(data["reasons"]) else [])


def _of_both_ends(data: Table) -> tuple[bool, list[str], list[str]]:
    """Return whether epsilon or delta refutes a claim, the reasons against it, and those of a certified one."""
    texts: dict[str, str] = TABLES["reasons"]
    claim = {name: float(data["claim"][name]) for name in ("epsilon", "delta")}
    low, high = ({n: float(data["tight"][n][side]) for n in ("epsilon", "delta")} for side in ("lower", "upper"))
    require(all(0 <= low[name] <= high[name] for name in low), "a bracket is empty or negative")
    require(high["delta"] <= 1, "a delta is above 1")
    require(len({*data["engines"]}) == len(data["engines"]), "an engine is named twice")
    refuted, met = any(low[n] > claim[n] for n in low), any(high[n] <= claim[n] for n in high)
    require(not (refuted and met), "an end refutes the claim, and another end meets it")
    against = "refuted" if refuted else "infinite" if high["epsilon"] == math.inf else "unproved"
    pairs = " ".join(pair_sentence(row) for row in data["witnesses"] if row["attained"] != "assumed")
    words = _words(low, high, claim)
    reasons = [] if met else [texts[against].format(**words, pairs=pairs)]
    if any(row["attained"] == "assumed" for row in data["witnesses"]):
        require(not refuted and not met, "an assumption decides nothing where a proof does")
        listed = [(row["kind"], row["about"], row["status"]) for row in data["conditions"]]
        require(("attained", [], "assumed") in listed, "a witness is assumed, and no condition says so")
        said = assumed_ends(data)
        reasons.append(_assumed(data).format(**words, epsilon=f"{said[0]:.6g}", delta=f"{said[1]:.6g}"))
    return refuted, reasons, [texts["certified"].format(**words)]


def _of_points(data: Table, rows: list[Row]) -> tuple[bool, list[str], list[str]]:
    """Return the same of a claim in another measure, point by point."""
    texts: dict[str, str] = TABLES["measured"]
    points = points_of(data)
    require("printed" not in data and "slack" not in data, "a claim in this measure has no printed argument or slack")
    pairs, mass = " ".join(map(pair_sentence, data["witnesses"])), below(lost(both_sides(data, rows)[1]))
    broken = [point for point in points if point.low > point.claimed]
    reasons, within = [], []
    for point in points:
        words = {"name": name_at(data, point.at), "claimed": full(point.claimed), "pairs": pairs, "mass": mass}
        end = point.low if broken else point.high
        against = ["refuted", "refuted infinite"] if broken else ["unproved", "infinite"]
        text = texts[against[end == math.inf]].format(**words, low=below(point.low), high=above(point.high, math.inf))
        reasons += [text] if end > point.claimed else []
        within.append(texts["certified"].format(**words | {"high": above(point.high, point.claimed)}))
    return bool(broken), reasons, within


def points_of(data: Table) -> list[Point]:
    """Return each point of a claim in another measure; one in rho is at its xi."""
    measure = data["claim"]["measure"]
    ends, claims = data["tight"][measure], data["claim"][measure]
    if measure in _AT:
        parameter, number = _AT[measure]
        require(len(ends) == len(claims), "the ends are not those of the claim's points")
        same = all(end[parameter] == float(claim[parameter]) for end, claim in zip(ends, claims, strict=True))
        require(same, "an end is not at a point of the claim")
        rows = [(end[parameter], claim[number], end) for end, claim in zip(ends, claims, strict=True)]
    else:
        rows = [(float(data["claim"].get("xi", 0.0)), claims, ends)]
    points = [Point(at, float(claimed), float(end["lower"]), float(end["upper"])) for at, claimed, end in rows]
    require(all(0 <= point.low <= point.high for point in points), "a bracket is empty or negative")
    require(measure != "renyi" or all(point.at > 1 for point in points), "an order is not above 1")
    return points


def name_at(data: Table, at: float) -> str:
    """Return the name of a number of a claim in another measure."""
    measure = data["claim"]["measure"]
    names = {"renyi": "the Renyi divergence of order {}", "profile": "delta at epsilon {}"}
    names |= {"rho": "rho beside xi = {}"} if at else {}
    return str(names.get(measure, measure)).format(full(at))


def _met(data: Table, rows: list[Row]) -> str:
    """Return the verdict on a claim that the upper ends meet: stated where it rests on somebody else's word."""
    if "measure" in data["claim"]:
        return "stated" if sources(data) else "certified"
    surely, perhaps = rests(data, rows)
    return "stated" if surely or (perhaps and data["verdict"] == "stated") else "certified"


def assumed_ends(data: Table) -> tuple[float, float]:
    """Return the epsilon and the delta that the reasons state under the assumption of one pair, or refuse."""
    claim = {name: float(data["claim"][name]) for name in ("epsilon", "delta")}
    text = _assumed(data).format(**_words({}, {}, claim), epsilon="EPSILON", delta="DELTA")
    pattern = re.compile(re.escape(text).replace("EPSILON", r"(\S+)").replace("DELTA", r"(\S+)"))
    matches = [match for match in map(pattern.fullmatch, data["reasons"]) if match]
    require(len(matches) == 1, "no reason says what an assumed witness would attain")
    return float(matches[0][1]), float(matches[0][2])


def _assumed(data: Table) -> str:
    """Return the form of the sentence on what is assumed, with what a sample's pair needs beside it."""
    apart = any(needs_others(node, data["claim"]["neighbours"]) for node in walk(data["declaration"]))
    return str(TABLES["reasons"]["assumed apart" if apart else "assumed"])


def _words(low: Table, high: Table, claim: Table) -> Table:
    """Return numbers as the sentences write them: bounds to six digits and outwards, what is claimed in full."""
    lows = {name: below(value) for name, value in low.items()}
    highs = {name: above(value, claim[name]) for name, value in high.items()}
    return {"low": lows, "high": highs, "claim": claim | {name: full(claim[name]) for name in ("epsilon", "delta")}}


def pair_sentence(witness: Table) -> str:
    """Return the sentence on the pair that a refutation rests on."""
    moved = ", ".join(f"'{label}'" for label in witness["labels"]) or "all releases"
    return str(TABLES["reasons"][witness["attained"]]).format(label=next(iter(witness["labels"]), ""), moved=moved)


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


def covers(view: str, claim: Table) -> bool:
    """Return whether what protects one view protects the claimed one; a local guarantee replaces one record."""
    relation = view != "local" or claim["model"] == "local" or claim["neighbours"] == "replace_one"
    return relation and MODELS.index(view) <= MODELS.index(claim["model"])


def sources(data: Table) -> list[str]:
    """Return whose word the certificate rests on: stated parts, plug-in mechanisms, and conditions of that kind."""
    source_names = _told(data["declaration"])
    promised = (row for row in data["conditions"] if row["kind"] == "stated" and row["status"] != "violated")
    return list(dict.fromkeys([*source_names, *(", ".join(row["about"]) for row in promised)]))


def rests(data: Table, rows: list[Row]) -> tuple[bool, bool]:
    """Return whether the claim surely, and whether it may, rest on somebody else's word.

    It does not where the claim is met with every such part at infinity.
    """
    named, tree, claim = sources(data), data["declaration"], data["claim"]
    if not named or (float(claim["epsilon"]) == math.inf and named == _told(tree)):
        return False, False
    if named != _told(tree):
        return True, True
    try:
        low, high = Worst(upper_side(rows, _at(tree, "inf"))).delta(float(claim["epsilon"]))
    except Rejection:
        return True, True
    return low > claim["delta"], high > claim["delta"]


def _on_trust(data: Table) -> list[str]:
    """Return the reasons of a stated claim: a line for each source, and of a mixture what is proved without them."""
    trust, claim = data["trust"], data["claim"]
    require(trust["sources"] == sources(data), "the sources of what is on trust are not those of the declaration")
    lines = [str(TABLES["reasons"]["alone"]).format(source=source) for source in trust["sources"]]
    if "proved" not in trust:
        require(trust["share"] == 1, "the share on trust is not that of the ends")
        return lines
    power = 2 if claim.get("measure") == "mu" else 1
    if "measure" in claim:
        text, (at, claimed, _, upper) = TABLES["measured"]["mixed"], points_of(data)[0]
        words = {"measure": name_at(data, at)}
    else:
        text, claimed, upper = TABLES["reasons"]["mixed"], claim["epsilon"], float(data["tight"]["epsilon"]["upper"])
        words = {"delta": full(claim["delta"])}
    proved = float(trust["proved"])
    share = max(0.0, 1 - (proved / upper) ** power) if 0 < upper < math.inf else 1.0
    require(abs(trust["share"] - share) <= _SHARE, "the share on trust is not that of the ends")
    words |= {"proved": above(proved, claimed), "whole": above(upper, claimed), "share": f"{100 * trust['share']:.3g}"}
    return [*lines, str(text).format(**words)]


def without_word(tree: Table) -> Table:
    """Return the tree with nothing in the place of the parts on trust."""
    return _at(tree, 0.0)


def _told(tree: Table) -> list[str]:
    """Return the sources in a tree, each once."""
    source_names = []
    for node in walk(tree):
        source_names += [node["source"]] if node["node"] == "stated" else []
        parts = with_leaves(node.get("mechanism", {}))
        source_names += [f"the plug-in mechanism {part['name']}" for part in parts if "stated" in part]
    return list(dict.fromkeys(source_names))


def _at(node: Table, epsilon: Any) -> Table:
    """Return the tree with each part on trust stated at another epsilon, and no delta."""
    if node["node"] == "stated":
        return {key: node[key] for key in ("node", "source", "neighbours") if key in node} | {"epsilon": epsilon}
    mechanism = node.get("mechanism", {})
    if any("stated" in part for part in with_leaves(mechanism)):
        relation = {"neighbours": mechanism["neighbours"]} if "neighbours" in mechanism else {}
        return {"node": "stated", "source": node["label"], "epsilon": epsilon} | relation
    changed: Table = {key: _at(node[key], epsilon) for key in ("inside", "touched", "part") if key in node}
    return node | changed | ({"parts": [_at(part, epsilon) for part in node["parts"]]} if "parts" in node else {})
