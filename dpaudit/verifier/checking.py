"""From a certificate's text to complaints: what does not follow from what."""

import hashlib
import json
import math
from dataclasses import dataclass

import numpy as np

from dpaudit.verifier.curve import Worst
from dpaudit.verifier.folding import MODELS, fold, model, rescaled, walk
from dpaudit.verifier.printed import breaks
from dpaudit.verifier.reading import Rejection, Table, number, require

_KEYS = {
    "verdict", "reasons", "claim", "tight", "conditions", "findings", "declaration",
    "engines", "versions", "source_digest", "digest",
}  # fmt: skip
_OPTIONAL = {"printed", "slack"}
_ENGINES = {"gaussian", "basic", "single", "verified", "pld", "renyi", "optimal"}
_SEQUENTIAL_RULES = {"basic", "advanced", "advanced_refined", "advanced_short", "optimal"}
_TOLERANCE = 1e-6
_LOOSE = 0.05
_NARROW = 0.02
_FLOOR = 1e-13


@dataclass(frozen=True, slots=True, kw_only=True)
class Verification:
    """The outcome: accepted when there is no complaint; `notes` are remarks that reject nothing.

    >>> Verification(verdict="certified", complaints=()).accepted
    True
    """

    verdict: str
    complaints: tuple[str, ...]
    notes: tuple[str, ...] = ()

    @property
    def accepted(self) -> bool:
        """Return whether nothing was found against the certificate."""
        return not self.complaints


def verify(text: str) -> Verification:
    """Return what an independent reading finds against the certificate in `text`.

    Guarantee: an accepted certificate's digest matches, its tree folds to the stated brackets within the
    checker's accuracy, and its verdict, printed reading and slack follow from them.
    Edge cases: whatever cannot be re-derived (an unknown mechanism) is a complaint, never accepted.

    >>> from dpaudit import Claim, Release, certify
    >>> from mechanisms import Laplace
    >>> noise = Laplace(scale=1.0, l1_sensitivity=1.0, neighbours="add_remove")
    >>> text = certify(Release(label="count", mechanism=noise), Claim(epsilon=1.0, neighbours="add_remove")).to_json()
    >>> verify(text).accepted, verify(text.replace("certified", "refuted")).accepted
    (True, False)
    """
    try:
        data = json.loads(text)
        require(isinstance(data, dict), "the certificate is no JSON object")
        complaints = _complaints(data)
    except Rejection as complaint:
        return Verification(verdict="unreadable", complaints=(str(complaint),))
    except (json.JSONDecodeError, RecursionError) as error:
        return Verification(verdict="unreadable", complaints=(f"the certificate is no JSON (truncated?): {error}",))
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError, IndexError) as error:
        return Verification(verdict="unreadable", complaints=(f"malformed: {type(error).__name__} {error}",))
    return Verification(verdict=str(data["verdict"]), complaints=tuple(complaints))


def _complaints(data: Table) -> list[str]:
    """Return all complaints about a parsed certificate."""
    require(set(data) >= _KEYS, f"missing fields: {', '.join(sorted(_KEYS - set(data)))}")
    require(set(data) <= _KEYS | _OPTIONAL, f"unknown fields: {', '.join(sorted(set(data) - _KEYS - _OPTIONAL))}")
    rest = {key: value for key, value in data.items() if key != "digest"}
    canonical = json.dumps(rest, sort_keys=True, separators=(",", ":")).encode()
    require(hashlib.sha256(canonical).hexdigest() == data["digest"], "the digest does not match the content")
    claim = _claim(data["claim"])
    upper, lower = fold(data["declaration"], claim["neighbours"])
    found: list[str] = []
    found += _bracket_complaints(data["tight"], claim, Worst(upper), Worst(lower))
    found += _verdict_complaints(data, claim)
    found += _condition_complaints(data)
    found += _printed_complaints(data.get("printed"), data["declaration"], claim)
    found += _slack_complaints(data.get("slack"), data, claim)
    found += _formal_complaints(data)
    return found


def _claim(claim: Table) -> Table:
    """Return the claim after checking its ranges."""
    require(
        set(claim) == {"epsilon", "delta", "neighbours", "model", "unit"}, "the claim's fields are not the five known"
    )
    require(0 <= number(claim["epsilon"], "epsilon") < math.inf, "the claimed epsilon is out of range")
    require(0 <= number(claim["delta"], "delta") < 1, "the claimed delta is out of range")
    require(claim["neighbours"] in ("replace_one", "add_remove"), "unknown neighbours")
    require(claim["model"] in MODELS, "unknown model")
    require(claim["model"] != "joint" or claim["neighbours"] == "replace_one", "a joint claim needs replace_one")
    require(isinstance(claim["unit"], str) and bool(claim["unit"].strip()), "the unit is empty")
    return claim


def _bracket_complaints(tight: Table, claim: Table, upper: Worst, lower: Worst) -> list[str]:
    """Compare the stated brackets with the witnesses: on the right side, and not implausibly wide."""
    require(set(tight) == {"epsilon", "delta"}, "the brackets are not of epsilon and delta")
    require(all(set(tight[key]) == {"lower", "upper"} for key in tight), "a bracket has no two ends")
    below = {"delta": lower.delta(claim["epsilon"]), "epsilon": lower.epsilon(claim["delta"])}
    above = {"delta": upper.delta(claim["epsilon"]), "epsilon": upper.epsilon(claim["delta"])}
    return [text for key in tight for text in _side(key, tight[key], below[key], above[key])]


def _side(name: str, stated: Table, below: tuple[float, float], above: tuple[float, float]) -> list[str]:
    """Return complaints where a witness lies outside a stated bracket, or the bracket far from the witness."""
    low, high = number(stated["lower"], name), number(stated["upper"], name)
    if not 0 <= low <= high:
        return [f"the bracket of {name} is empty or negative: [{low}, {high}]"]
    found: list[str] = []
    for side, end, (witness, error) in (("lower", low, below), ("upper", high, above)):
        near, far = max(error, _TOLERANCE), max(4 * error, _LOOSE)
        inward = end > witness * (1 + near) + _FLOOR if side == "lower" else end < witness * (1 - near) - _FLOOR
        outward = end < witness * (1 - far) - _FLOOR if side == "lower" else end > witness * (1 + far) + _FLOOR
        if inward:
            found.append(f"the {side} bound on {name}, {end:.9g}, is on the wrong side of the re-derived {witness:.9g}")
        if outward:
            found.append(f"the {side} bound on {name}, {end:.9g}, is far from the re-derived {witness:.9g}")
    return found


def _covers(model: str, claim: Table) -> bool:
    """Return whether a proof for `model` carries over to the claim's."""
    if model == "local" and claim["model"] != "local" and claim["neighbours"] != "replace_one":
        return False
    return MODELS.index(model) <= MODELS.index(claim["model"])


def _verdict_complaints(data: Table, claim: Table) -> list[str]:
    """Derive the verdict from the brackets, the model, the conditions and the findings."""
    ends = {key: {side: number(value, side) for side, value in data["tight"][key].items()} for key in data["tight"]}
    refuted = ends["delta"]["lower"] > claim["delta"] or ends["epsilon"]["lower"] > claim["epsilon"]
    met = ends["delta"]["upper"] <= claim["delta"] or ends["epsilon"]["upper"] <= claim["epsilon"]
    sound = _covers(model(data["declaration"]), claim) and not data["findings"]
    sound = sound and all(condition["status"] != "violated" for condition in data["conditions"])
    verdict = "refuted" if refuted else "certified" if met and sound else "not_proved"
    if data["verdict"] != verdict:
        return [f"the verdict {data['verdict']!r} does not follow; the evidence says {verdict!r}"]
    return []


def _condition_complaints(data: Table) -> list[str]:
    """Every side-condition the tree brings is listed, by the words that the tree itself contains."""
    texts = [condition["text"] for condition in data["conditions"]]
    statuses = {condition["status"] for condition in data["conditions"]}
    found = [f"unknown status {status!r}" for status in statuses - {"checked", "assumed", "violated"}]
    for node in walk(data["declaration"]):
        words = [
            word for key in ("key", "source", "reads", "steps", "size") for word in np.atleast_1d(node.get(key, []))
        ]
        found += [f"no condition speaks of {word!r}" for word in words if not any(str(word) in text for text in texts)]
    if any(node["node"] == "release" for node in walk(data["declaration"])):
        needed = ("sensitivity", "fresh noise", "loating-point")
        found += [f"no condition speaks of {word!r}" for word in needed if not any(word in text for text in texts)]
    return found


def _printed_complaints(printed: Table | None, tree: Table, claim: Table) -> list[str]:
    """The printed reading is there if the tree carries one, ends at its root's budget, and is valid if flawless."""
    annotated = any("printed" in node for node in walk(tree))
    if printed is None or not annotated:
        return [] if (printed is None) == (not annotated) else ["the printed reading is missing or has no basis"]
    found: list[str] = []
    root = tree.get("printed")
    if root is not None and (root["epsilon"], root.get("delta", 0.0)) != (printed["epsilon"], printed["delta"]):
        found.append("the printed reading does not end at the budget printed on the root")
    if printed["valid"] != (not printed["problems"]):
        found.append("the printed reading's validity contradicts its list of problems")
    broken = [node for node in walk(tree) if "printed" in node and breaks(node)]
    reaches = printed["epsilon"] <= claim["epsilon"] * (1 + 1e-9) and printed["delta"] <= claim["delta"] * (1 + 1e-9)
    if printed["valid"] and (broken or not reaches):
        found.append("the printed reading is called valid, but a step of it does not hold")
    if not printed["valid"] and not broken and reaches:
        found.append("the printed reading is called invalid, but no step of it fails")
    return found


def _slack_complaints(slack: Table | None, data: Table, claim: Table) -> list[str]:
    """Ratios follow from claim, brackets and noise; factors multiply to them."""
    if slack is None:
        return []
    found: list[str] = []
    tight = number(data["tight"]["epsilon"]["upper"], "upper")
    ratio, noise = number(slack["epsilon_ratio"], "epsilon_ratio"), number(slack["noise_ratio"], "noise_ratio")
    expected = claim["epsilon"] / tight if tight else math.inf
    if not math.isclose(ratio, expected, rel_tol=_TOLERANCE):
        found.append(f"the epsilon ratio {ratio:.9g} is not claim over proved, {expected:.9g}")
    for key, whole in (("factor", ratio), ("noise_factor", noise)):
        product = math.prod(number(factor[key], key) for factor in slack["factors"])
        if not math.isclose(product, whole, rel_tol=_TOLERANCE):
            found.append(f"the factors ({key}) multiply to {product:.9g}, not to {whole:.9g}")
    found += [
        f"the sentence on {factor['name']!r} does not state its factor"
        for factor in slack["factors"]
        if f"{number(factor['noise_factor'], 'factor'):.2f}" not in factor["sentence"]
    ]
    exact = data["engines"] and set(data["engines"]) <= {"gaussian", "basic"}
    deltas = [
        Worst(fold(rescaled(data["declaration"], 1 / (noise * less)), claim["neighbours"])[0]).delta(claim["epsilon"])[
            0
        ]
        for less in (1 - 1e-6, 1 + (1e-6 if exact else _NARROW))
    ]
    if not deltas[0] <= claim["delta"] * (1 + _TOLERANCE) + _FLOOR or deltas[1] < claim["delta"] * (1 - _TOLERANCE):
        found.append(f"1/{noise:.9g} of the noise is not what the claim just needs: delta is {deltas[0]:.6g}")
    return found


def _formal_complaints(data: Table) -> list[str]:
    """Fields that no number depends on still have their form."""
    found: list[str] = []
    if not data["reasons"] or not all(isinstance(reason, str) and reason for reason in data["reasons"]):
        found.append("the verdict has no reasons")
    if not data["engines"] or not set(data["engines"]) <= _ENGINES:
        found.append(f"unknown engines: {data['engines']}")
    digest = data["source_digest"]
    if not (isinstance(digest, str) and len(digest) == 64 and set(digest) <= set("0123456789abcdef")):
        found.append("the source digest is no SHA-256")
    if not {"python", "dpaudit"} <= set(data["versions"]):
        found.append("the versions do not name Python and dpaudit")
    return found
