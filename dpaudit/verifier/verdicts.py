"""Verdict and reasons, derived again from the brackets, the model, the conditions and the findings."""

import math
import re
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal

from dpaudit.verifier.folding import MODELS, model, walk
from dpaudit.verifier.refusals import Table, require
from dpaudit.verifier.schemes import needs_others
from dpaudit.verifier.shape import TABLES


def verdict_complaints(data: Table) -> list[str]:
    """Return where verdict and reasons are not those that follow."""
    texts: dict[str, str] = TABLES["reasons"]
    claim = data["claim"] | {name: float(data["claim"][name]) for name in ("epsilon", "delta")}
    low, high = ({n: float(data["tight"][n][side]) for n in ("epsilon", "delta")} for side in ("lower", "upper"))
    require(all(0 <= low[name] <= high[name] for name in low), "a bracket is empty or negative")
    require(high["delta"] <= 1, "a delta is above 1")
    require(len({*data["engines"]}) == len(data["engines"]), "an engine is named twice")
    replaced = claim["model"] != "joint" or claim["neighbours"] == "replace_one"
    require(replaced, "a joint claim is about replaced records")
    refuted, met = any(low[n] > claim[n] for n in low), any(high[n] <= claim[n] for n in high)
    against = "refuted" if refuted else "infinite" if high["epsilon"] == math.inf else "unproved"
    pairs = " ".join(_pair(row) for row in data["witnesses"] if row["attained"] != "assumed")
    words = _words(low, high, claim)
    reasons = [] if met and not refuted else [texts[against].format(**words, pairs=pairs)]
    if any(row["attained"] == "assumed" for row in data["witnesses"]):
        require(not refuted and not met, "an assumption decides nothing where a proof does")
        rows = [(row["kind"], row["about"], row["status"]) for row in data["conditions"]]
        require(("attained", [], "assumed") in rows, "a witness is assumed, and no condition says so")
        said = assumed_ends(data)
        reasons.append(_assumed(data).format(**words, epsilon=f"{said[0]:.6g}", delta=f"{said[1]:.6g}"))
    if not _covers(held := model(data["declaration"]), claim):
        reasons.append(texts["model"].format(held=held, claim=claim))
    broken = [row for row in data["conditions"] if row["status"] == "violated" and row["kind"] != "attained"]
    reasons += [texts["violated"].format(**row) for row in broken]
    reasons += [texts["disagrees"].format(**row) for row in data["findings"]]
    verdict = "refuted" if refuted else "not_proved" if reasons else "certified"
    reasons = reasons or [texts["certified"].format(**words)]
    stated = [(data["verdict"], verdict), *zip(data["reasons"], reasons, strict=False)]
    wrong = [f"{said!r} does not follow, but {follows!r} does" for said, follows in stated if said != follows]
    return wrong + ([f"{len(reasons)} reasons follow"] if len(reasons) != len(data["reasons"]) else [])


def assumed_ends(data: Table) -> tuple[float, float]:
    """Return the epsilon and the delta that the reasons state under the assumption of one pair, or refuse."""
    claim = {name: float(data["claim"][name]) for name in ("epsilon", "delta")}
    text = _assumed(data).format(**_words({}, {}, claim), epsilon="EPSILON", delta="DELTA")
    pattern = re.compile(re.escape(text).replace("EPSILON", r"(\S+)").replace("DELTA", r"(\S+)"))
    found = [match for match in map(pattern.fullmatch, data["reasons"]) if match]
    require(len(found) == 1, "no reason says what an assumed witness would attain")
    return float(found[0][1]), float(found[0][2])


def _assumed(data: Table) -> str:
    """Return the form of the sentence on what is assumed, with what a sample's pair needs beside it."""
    apart = any(needs_others(node, data["claim"]["neighbours"]) for node in walk(data["declaration"]))
    return str(TABLES["reasons"]["assumed apart" if apart else "assumed"])


def _words(low: Table, high: Table, claim: Table) -> Table:
    """Return numbers as the sentences write them: bounds to six digits and outwards, what is claimed in full."""
    down, up = Context(prec=6, rounding=ROUND_FLOOR), Context(prec=6, rounding=ROUND_CEILING)
    below = {name: f"{float(down.create_decimal(Decimal(value))):.6g}" for name, value in low.items()}
    above = {name: f"{float(up.create_decimal(Decimal(value))):.6g}" for name, value in high.items()}
    full = {name: repr(float(claim[name])).removesuffix(".0") for name in ("epsilon", "delta")}
    for name, value in high.items():
        if value <= claim[name] < float(above[name]):
            above[name] = repr(float(value)).removesuffix(".0")
    return {"low": below, "high": above, "claim": claim | full}


def _pair(witness: Table) -> str:
    """Return the sentence on the pair that a refutation rests on."""
    moved = ", ".join(f"'{label}'" for label in witness["labels"]) or "all releases"
    return str(TABLES["reasons"][witness["attained"]]).format(label=next(iter(witness["labels"]), ""), moved=moved)


def _covers(held: str, claim: Table) -> bool:
    """Return whether what protects one view protects the claimed one; a local guarantee replaces one record."""
    relation = held != "local" or claim["model"] == "local" or claim["neighbours"] == "replace_one"
    return relation and MODELS.index(held) <= MODELS.index(claim["model"])
