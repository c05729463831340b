"""From a certificate's text to complaints: what does not follow from what."""

import hashlib
import json
import math
from dataclasses import dataclass

import numpy as np

from dpaudit.verifier.curve import Worst
from dpaudit.verifier.folding import MODELS, fold, model, walk
from dpaudit.verifier.losses import Rejection, Table, number, require
from dpaudit.verifier.mechanisms import rescaled
from dpaudit.verifier.printed import breaks

_SCHEMA = "urn:dpaudit:schema:certificate:2"
_SUBSTANCE = {"schema", "verdict", "reasons", "claim", "tight", "conditions", "findings", "declaration"}
_KEYS = _SUBSTANCE | {"engines", "versions", "source_digest", "digest"}
_ENGINES = {"gaussian", "basic", "single", "tilted", "verified", "pld", "renyi", "optimal"}
# The kinds of conditions that a node needs whatever its fields are, and those that are about a field.
_NOISE = ("sensitivity", "fresh_noise", "floating_point")
_KINDS = {"release": _NOISE, "cells": ("one_cell",), "local": ("one_message",), "billboard": ("independent_users",)}
_FIELDS = ("key", "size", "scheme", "steps", "reads", "source")
_ABOUT = ("public_key", "contribution_bound", "secret_sample", "no_data_read", "own_inputs_only", "stated")
_TOLERANCE, _LOOSE, _NARROW = 1e-6, 0.05, 0.02  # relative: equal, plausible, and what noise is known to
_FLOOR, _LARGEST = 1e-13, 1e9  # what counts as 0, and an epsilon beyond which only infinity is told apart


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
        complaints = _complaints(data := json.loads(text))
    except (Rejection, RecursionError, TypeError, AttributeError, ValueError, ArithmeticError, LookupError) as error:
        wrong = str(error) if isinstance(error, Rejection) else f"malformed: {type(error).__name__} {error}"
        return Verification(verdict="unreadable", complaints=(wrong,))
    return Verification(verdict=str(data["verdict"]), complaints=tuple(complaints))


def _unmet(*demands: tuple[object, str]) -> list[str]:
    """Return the complaints of those demands that do not hold."""
    return [complaint for holds, complaint in demands if not holds]


def _complaints(data: Table) -> list[str]:
    """Return all complaints about a parsed certificate."""
    require(data.get("schema") == _SCHEMA, f"schema {data.get('schema', 'none')!r} is not read here, but {_SCHEMA!r}")
    require(_KEYS <= set(data) <= _KEYS | {"printed", "slack"}, f"missing or unknown: {', '.join(_KEYS ^ set(data))}")
    canonical = json.dumps({k: v for k, v in data.items() if k != "digest"}, sort_keys=True, separators=(",", ":"))
    require(hashlib.sha256(canonical.encode()).hexdigest() == data["digest"], "the digest does not match the content")
    claim, tree = data["claim"], data["declaration"]
    _check_claim(claim)
    upper, lower = fold(tree, claim["neighbours"])
    above = Worst(upper)
    return [
        *_end_complaints("upper", data["tight"], claim, above),
        *_end_complaints("lower", data["tight"], claim, above if upper == lower else Worst(lower)),
        *_verdict_complaints(data, claim),
        *_condition_complaints(data["conditions"], walk(tree)),
        *_printed_complaints(data.get("printed"), tree, claim),
        *(_slack_complaints(data["slack"], data, claim) if "slack" in data else ()),
        *_formal_complaints(data),
    ]


def _check_claim(claim: Table) -> None:
    """Reject a claim out of range."""
    require(set(claim) == {"epsilon", "delta", "neighbours", "model", "unit"}, "the claim has not its five fields")
    epsilon, delta = number(claim["epsilon"], "epsilon"), number(claim["delta"], "delta")
    require(0 <= epsilon < math.inf and 0 <= delta < 1, "the claimed epsilon or delta is out of range")
    related = ("replace_one",) if claim["model"] == "joint" else ("replace_one", "add_remove")
    require(claim["neighbours"] in related, "the claimed neighbours are unknown, or do not suit a joint claim")
    require(isinstance(claim["unit"], str) and bool(claim["unit"].strip()), "the unit is empty")


def _end_complaints(side: str, tight: Table, claim: Table, curve: Worst) -> list[str]:
    """Ask the curve at the stated ends: each lies on its side of the truth, and not implausibly far from it."""
    delta, epsilon = number(tight["delta"][side], "delta"), number(tight["epsilon"][side], "epsilon")
    value, error = curve.delta(claim["epsilon"])
    below, above = (_TOLERANCE, _LOOSE) if side == "upper" else (_LOOSE, _TOLERANCE)
    least, most = value * (1 - below - 4 * error) - _FLOOR, value * (1 + above + 4 * error) + _FLOOR
    after = curve.delta(epsilon * (1 + below) + _FLOOR)
    before = curve.delta(min(epsilon * (1 - above), _LARGEST))
    enough = epsilon == math.inf or after[0] * (1 - after[1]) <= claim["delta"]
    needed = epsilon <= _FLOOR or before[0] * (1 + before[1]) > claim["delta"]
    return _unmet(
        (least <= delta <= most, f"the {side} bound on delta, {delta:.9g}, does not agree with {value:.9g}"),
        (enough, f"the {side} bound on epsilon, {epsilon:.9g}, is too small: delta is {after[0]:.9g} there"),
        (needed, f"the {side} bound on epsilon, {epsilon:.9g}, is too large: delta is {before[0]:.9g} there"),
    )


def _verdict_complaints(data: Table, claim: Table) -> list[str]:
    """Derive the verdict from the brackets, the model, the conditions and the findings."""
    tight = data["tight"]
    stated = sorted((name, side) for name, ends in tight.items() for side in ends)
    require(stated == [(n, s) for n in ("delta", "epsilon") for s in ("lower", "upper")], "four ends are not stated")
    low, high = ({name: number(tight[name][side], name) for name in tight} for side in ("lower", "upper"))
    require(all(0 <= low[name] <= high[name] for name in tight), "a bracket is empty or negative")
    held = model(data["declaration"])
    covers = MODELS.index(held) <= MODELS.index(claim["model"])
    covers = covers and (held != "local" or claim["model"] == "local" or claim["neighbours"] == "replace_one")
    sound = covers and not data["findings"] and all(part["status"] != "violated" for part in data["conditions"])
    refuted, met = any(low[name] > claim[name] for name in low), any(high[name] <= claim[name] for name in high)
    verdict = "refuted" if refuted else "certified" if met and sound else "not_proved"
    return _unmet((data["verdict"] == verdict, f"{data['verdict']!r} does not follow, but {verdict!r} does"))


def _condition_complaints(conditions: list[Table], nodes: list[Table]) -> list[str]:
    """Every side-condition the tree brings is listed, by its kind and by what it is about."""
    known = all(held["status"] in ("checked", "assumed", "violated") for held in conditions)
    fields = [(kind, key, node) for node in nodes for key, kind in zip(_FIELDS, _ABOUT, strict=True) if key in node]
    needed = [(kind, *map(str, np.ravel(node[key]))) for kind, key, node in fields if node[key] or key == "reads"]
    needed += [(kind,) for node in nodes for kind in _KINDS.get(node["node"], ())]
    lacking = dict.fromkeys(needed).keys() - {(held["kind"], *held["about"]) for held in conditions}
    unmet = _unmet((known, "a condition has an unknown status"))
    return unmet + [f"no condition {': '.join(identity)!r}" for identity in sorted(lacking)]


def _printed_complaints(printed: Table | None, tree: Table, claim: Table) -> list[str]:
    """The printed reading is there if the tree carries one, ends at its root's budget, and is valid if flawless."""
    steps = [node for node in walk(tree) if "printed" in node]
    if printed is None or not steps:
        return _unmet((printed is None and not steps, "the printed reading is missing or has no basis"))
    end = (printed["epsilon"], printed["delta"])
    root = (tree["printed"]["epsilon"], tree["printed"].get("delta", 0.0)) if "printed" in tree else end
    follows = not sum(map(breaks, steps)) and all(printed[of] <= claim[of] * (1 + 1e-9) for of in ("epsilon", "delta"))
    return _unmet(
        (root == end, "the printed reading does not end at the budget printed on the root"),
        (printed["valid"] == (not printed["problems"]), "the printed reading's validity contradicts its problems"),
        (printed["valid"] == follows, "the printed reading's validity contradicts its steps"),
    )


def _slack_complaints(slack: Table, data: Table, claim: Table) -> list[str]:
    """Ratios follow from claim, brackets and noise; factors multiply to them."""
    tight = number(data["tight"]["epsilon"]["upper"], "upper")
    ratios = number(slack["epsilon_ratio"], "epsilon_ratio"), number(slack["noise_ratio"], "noise_ratio")
    factors = [[number(row[key], key) for key in ("factor", "noise_factor")] for row in slack["factors"]]
    products = [math.prod(pair[i] for pair in factors) for i in (0, 1)]
    told = all(f"{pair[1]:.2f}" in row["sentence"] for pair, row in zip(factors, slack["factors"], strict=True))
    narrow = 1e-6 if data["engines"] and set(data["engines"]) <= {"gaussian", "basic"} else _NARROW
    trees = (rescaled(data["declaration"], 1 / (ratios[1] * less)) for less in (1 - 1e-6, 1 + narrow))
    enough, little = (Worst(fold(tree, claim["neighbours"])[0]).delta(claim["epsilon"]) for tree in trees)
    just = enough[0] * (1 - enough[1]) <= claim["delta"] * (1 + _TOLERANCE) + _FLOOR
    just = just and little[0] * (1 + little[1]) >= claim["delta"] * (1 - _TOLERANCE)
    pairs = [(ratios[0], claim["epsilon"] / tight if tight else math.inf), *zip(products, ratios, strict=True)]
    agree = all(math.isclose(stated, derived, rel_tol=_TOLERANCE) for stated, derived in pairs)
    return _unmet(
        (agree, f"ratios that should agree (claimed over proved, products of factors) do not: {pairs}"),
        (told, "a sentence on a factor does not state it"),
        (just, f"1/{ratios[1]:.9g} of the noise is not what the claim just needs: delta is {enough[0]:.6g}"),
    )


def _formal_complaints(data: Table) -> list[str]:
    """Fields that no number depends on still have their form."""
    return _unmet(
        (data["reasons"] and all(isinstance(text, str) and text for text in data["reasons"]), "there are no reasons"),
        (data["engines"] and set(data["engines"]) <= _ENGINES, f"unknown engines: {data['engines']}"),
        (len(bytes.fromhex(data["source_digest"])) == 32, "the source digest is no SHA-256"),
        ({"python", "dpaudit"} <= set(data["versions"]), "the versions do not name Python and dpaudit"),
    )
