"""Re-derives a certificate and lists the inconsistencies."""

import hashlib
import json
import math
from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpaudit.verifier.attained import attained
from dpaudit.verifier.conditions import condition_complaints
from dpaudit.verifier.curve import Bounds, Worst
from dpaudit.verifier.folding import fold, plug_ins, walk
from dpaudit.verifier.losses import Multiset, Rejection, Table, require
from dpaudit.verifier.printed import printed_complaints
from dpaudit.verifier.reading import Unreadable, read
from dpaudit.verifier.shape import check_shape
from dpaudit.verifier.slackness import slack_complaints
from dpaudit.verifier.verdicts import assumed_ends, verdict_complaints

# Relative: how far a stated end may lie on its safe side, and how wide this checker's own bracket may be. A delta below
# the last one need not be sharp, only true.
_LOOSE, _WIDE, _SMALL = 0.05, 0.02, 1e-32
_TOLD = 1 + 1e-5  # what six digits, rounded down, may hide
_BESIDE = ("attained", "printed_premise")  # kinds of conditions that upper ends do not rest on


@dataclass(frozen=True, slots=True, kw_only=True)
class Verification:
    """The outcome: accepted when there is no complaint; `notes` are remarks that reject nothing.

    `verdict` is the certificate's own, "refused" where its form or digest is wrong, and "unreadable" where the text is
    no JSON. `claim`, `declaration` (both as in the JSON) and `digest` say what was verified.

    >>> Verification(verdict="certified", complaints=()).accepted
    True
    """

    verdict: str
    complaints: tuple[str, ...]
    notes: tuple[str, ...] = ()
    claim: Table | None = None
    declaration: Table | None = None
    digest: str = ""

    @property
    def accepted(self) -> bool:
        """Return whether nothing was found against the certificate."""
        return not self.complaints


def verify(text: str) -> Verification:
    """Return what an independent reading finds against the certificate in `text`.

    Guarantee: an accepted certificate has the published form and no other key; its digest matches; none of its four
    ends contradicts the curve that its declaration has, for which both sides are proved (docs/theory/verifier.md), and
    none is far from it; its verdict, its reasons, the conditions of its declaration, the printed reading and the slack
    follow. The last note says to which width the ends are confirmed.
    Edge cases: whatever cannot be derived again (an unknown mechanism) is a complaint, never accepted. What a run has
    looked at, and the privacy that a `stated` part claims, are taken from the certificate; notes say so.

    >>> from dpaudit import Claim, Release, certify
    >>> from mechanisms import Laplace
    >>> noise = Laplace(scale=1.0, l1_sensitivity=1.0, neighbours="add_remove")
    >>> text = certify(Release(label="count", mechanism=noise), Claim(epsilon=1.0, neighbours="add_remove")).to_json()
    >>> verify(text).accepted, verify(text.replace("certified", "refuted")).accepted
    (True, False)
    """
    try:
        with np.errstate(all="ignore", invalid="raise", divide="raise"):
            return _verification(read(text))
    except Unreadable as error:
        return Verification(verdict="unreadable", complaints=(str(error),))
    except Rejection as error:
        return Verification(verdict="refused", complaints=(str(error),))
    except (RecursionError, TypeError, AttributeError, ValueError, ArithmeticError, LookupError) as error:
        return Verification(verdict="refused", complaints=(f"malformed: {type(error).__name__} {error}",))


def _verification(data: Any) -> Verification:
    """Return the outcome for parsed JSON."""
    check_shape(data)
    canonical = json.dumps({k: v for k, v in data.items() if k != "digest"}, sort_keys=True, separators=(",", ":"))
    require(hashlib.sha256(canonical.encode()).hexdigest() == data["digest"], "the digest does not match the content")
    claim, tree = data["claim"], data["declaration"]
    complaints = [*verdict_complaints(data), *condition_complaints(data["conditions"], tree)]
    notes: tuple[str, ...] = ()
    if not complaints:  # what is cheap to find comes first
        upper, (lower, assumed) = fold(tree, claim["neighbours"]), sides_attained(data)
        above = Worst(upper)
        below = above if upper == lower else Worst(lower)
        void = any(row["status"] == "violated" and row["kind"] not in _BESIDE for row in data["conditions"])
        ends = _void_complaints(data["tight"]) if void else _end_complaints("upper", data, data["tight"], above)
        ends += _end_complaints("lower", data, data["tight"], below)
        if assumed:
            epsilon, delta = assumed_ends(data)
            stated = {"epsilon": {"lower": epsilon}, "delta": {"lower": delta}}
            ends += _end_complaints("lower", data, stated, Worst(assumed))
            refuting = any(end * _TOLD > claim[name] for name, end in (("epsilon", epsilon), ("delta", delta)))
            ends += [] if refuting else ["the assumption refutes nothing"]
        if below.delta(claim["epsilon"])[0] > above.delta(claim["epsilon"])[1]:
            ends += ["what is attained exceeds what is proved from above"]
        complaints = ends or [*printed_complaints(data.get("printed"), tree, claim), *slack_complaints(data)]
        notes = _notes(data, [curve.delta(claim["epsilon"]) for curve in (above, below)])
    return Verification(
        verdict=data["verdict"],
        complaints=tuple(complaints),
        notes=notes,
        claim=claim,
        declaration=tree,
        digest=data["digest"],
    )


def sides_attained(data: Table) -> tuple[list[Multiset], list[Multiset]]:
    """Return what the witnesses attain: those that count, and those that are only assumed."""
    tree, relation, conditions = data["declaration"], data["claim"]["neighbours"], data["conditions"]
    found = [(row["attained"], attained(tree, relation, row, conditions)) for row in data["witnesses"]]
    counted = [losses for ground, several in found for losses in several if ground != "assumed"]
    return counted or [Counter()], [losses for ground, several in found for losses in several if ground == "assumed"]


def _void_complaints(tight: Table) -> list[str]:
    """With a violated condition nothing is proved from above."""
    proved = tight["epsilon"]["upper"] != "inf" or tight["delta"]["upper"] != 1
    return ["a condition is violated, and an upper end is stated all the same"] if proved else []


def _end_complaints(side: str, data: Table, ends: Table, curve: Worst) -> list[str]:
    """Ask the curve at the stated ends: none contradicts what is proved, and none is far from it."""
    delta, epsilon = (float(ends[name][side]) for name in ("delta", "epsilon"))
    claim = data["claim"]
    low, high = curve.delta(claim["epsilon"])
    narrow = high - low <= _WIDE * high or high <= _SMALL
    stated = f"the {side} bound on delta, {delta:.9g}"
    if side == "upper":
        true, near = delta >= low, delta <= high * (1 + _LOOSE) + _SMALL
    else:
        true, near = delta <= high, delta >= low * (1 - _LOOSE) - _SMALL
    demands = [
        (narrow, f"this checker brackets delta in [{low:.6g}, {high:.6g}] only, and confirms nothing"),
        (true, f"{stated}, is contradicted: delta lies in [{low:.9g}, {high:.9g}]"),
        (near, f"{stated}, is far from delta, which lies in [{low:.9g}, {high:.9g}]"),
    ]
    return [text for holds, text in [*demands, *_epsilon_demands(side, epsilon, claim["delta"], curve)] if not holds]


def _epsilon_demands(side: str, epsilon: float, delta: float, curve: Worst) -> list[tuple[object, str]]:
    """Return what must hold for a stated end of epsilon, at which delta falls to the claimed one."""
    small, large = f"the {side} bound on epsilon, {epsilon:.9g}, is too small", f"the {side} bound on epsilon"
    large = f"{large}, {epsilon:.9g}, is too large"
    if epsilon == math.inf:
        return [(curve.never(delta) or (side == "upper" and 0 < delta < _SMALL), large)]
    above, below = (1, 1 - _LOOSE) if side == "upper" else (1 + _LOOSE, 1 - 1e-12)
    blunt = 0 < delta < _SMALL
    enough = curve.delta(epsilon * above + (side == "lower") * 1e-12)[0] <= delta
    needed = epsilon <= 1e-12 or curve.delta(epsilon * below)[1] > delta
    return [(enough or (blunt and side == "lower"), small), (needed or (blunt and side == "upper"), large)]


def _notes(data: Table, answers: list[Bounds]) -> tuple[str, ...]:
    """Return what was taken from the certificate, and how closely its numbers were confirmed."""
    sources = dict.fromkeys(node["source"] for node in walk(data["declaration"]) if node["node"] == "stated")
    looked = sum(row["status"] != "assumed" for row in data["conditions"])
    width = max(((high - low) / high for low, high in answers if high > _SMALL), default=0.0)
    told = [f"Taken on trust, as the declaration says: what {source} states." for source in sources]
    told += [
        f"Taken on trust: the losses that the plug-in mechanism {name} states of itself, and how its noise scales."
        for name in plug_ins(data["declaration"])
    ]
    told += [f"Taken from the certificate: what a run saw of {looked} conditions."] if looked else []
    return *told, f"Delta at the claimed epsilon is proved again to a relative width of {width:.1e}."
