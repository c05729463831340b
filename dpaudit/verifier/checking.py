"""Re-derives a certificate and lists the inconsistencies."""

import hashlib
import json
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from dpaudit.verifier.conditions import condition_complaints
from dpaudit.verifier.curve import Bounds, Worst
from dpaudit.verifier.measured import checking as measured
from dpaudit.verifier.mechanisms import plug_ins
from dpaudit.verifier.printed import printed_complaints
from dpaudit.verifier.proof.derivation import Row, checked_rows
from dpaudit.verifier.proof.witnesses import both_sides
from dpaudit.verifier.reading import Unreadable, read
from dpaudit.verifier.refusals import Rejection, Table, Unfollowed, require
from dpaudit.verifier.shape import check_shape, walk
from dpaudit.verifier.slackness import slack_outcome
from dpaudit.verifier.stated_ends import SMALL, Outcome, compared, small_delta, tolerance
from dpaudit.verifier.verdicts import assumed_ends, proved_alone, verdict_complaints

_BROKEN = 1.05  # relative: an epsilon so far above the claimed one that is attained should be told
_TOLD = 1 + 1e-5  # what six digits, rounded down, may hide
_CROSSED = ("what is attained exceeds what is proved from above",)
_LEFT_OPEN = ("the declared releases break the claim, and the certificate leaves it open",)
_BESIDE = ("attained", "printed_premise")  # kinds of conditions that upper ends do not rest on


@dataclass(frozen=True, slots=True, kw_only=True)
class Verification:
    """The outcome: accepted with no complaint and nothing unconfirmed; `notes` are remarks that reject nothing.

    A complaint says what is wrong. What is `unconfirmed` is neither confirmed nor contradicted by the proved brackets
    of this checker, or lies beyond its limits: the certificate may be right. `sharper` are those of its sentences that
    name an upper end below what this checker proves: by a sharper proof, or by a loss that a mechanism understates.

    `verdict` is the certificate's own, "refused" where its form or digest is wrong, and "unreadable" where the text is
    no JSON. `claim`, `declaration` (both as in the JSON) and `digest` say what was verified.

    >>> Verification(verdict="certified", complaints=()).accepted
    True
    """

    verdict: str
    complaints: tuple[str, ...]
    unconfirmed: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    sharper: tuple[str, ...] = ()
    claim: Table | None = None
    declaration: Table | None = None
    digest: str = ""

    @property
    def accepted(self) -> bool:
        """Return whether everything was confirmed."""
        return not self.complaints and not self.unconfirmed


def verify(text: str) -> Verification:
    """Return what an independent reading finds against the certificate in `text`.

    Guarantee: an accepted certificate has the published form and no other key; its digest matches; none of its four
    ends contradicts the curve that its declaration has, for which both sides are proved (docs/theory/verifier.md), and
    none is far from it; its verdict, its reasons, the conditions of its declaration, the printed reading and the slack
    follow. The last note says to which width the ends are confirmed. A complaint about a number rests on a proved
    bracket; a number that the bracket is too wide for is `unconfirmed`, and so is what lies beyond this checker's
    limits. Ends of samples and secret steps, and of sums at a quick effort, may be loose, if they are true.
    Edge cases: whatever cannot be derived again (an unknown mechanism) is a complaint, never accepted. What a run has
    looked at, and the privacy that a `stated` part claims, are taken from the certificate; notes say so.
    Raises: TypeError: no text.

    >>> from dpaudit import Claim, Release, certify
    >>> from mechanisms import Laplace
    >>> noise = Laplace(scale=1.0, l1_sensitivity=1.0, neighbours="add_remove")
    >>> text = certify(Release(label="count", mechanism=noise), Claim(epsilon=1.0, neighbours="add_remove")).to_json()
    >>> verify(text).accepted, verify(text.replace("certified", "refuted")).accepted
    (True, False)
    """
    if not isinstance(text, str):
        raise TypeError(f"Expected the text of a certificate, got {type(text).__name__}; give certificate.to_json().")
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
    found = Verification(
        verdict=data["verdict"],
        complaints=tuple(condition_complaints(data["conditions"], data["declaration"], data["claim"]["neighbours"])),
        claim=data["claim"],
        declaration=data["declaration"],
        digest=data["digest"],
    )
    try:
        rows = checked_rows(data)
    except Unfollowed as error:
        return replace(found, unconfirmed=(str(error),))
    except Rejection as error:
        return replace(found, complaints=(*found.complaints, str(error)))
    follows = _measured_complaints if "measure" in data["claim"] else verdict_complaints
    found = replace(found, complaints=(*follows(data, rows), *found.complaints))
    if found.complaints:  # what is cheap to find comes first
        return found
    try:
        (wrong, unconfirmed, _, sharper), notes = (_measured if "measure" in data["claim"] else _numbers)(data, rows)
    except Unfollowed as error:
        return replace(found, unconfirmed=(str(error),))
    except Rejection as error:
        return replace(found, complaints=(str(error),))
    except (ArithmeticError, MemoryError) as error:
        beyond = type(error).__name__
        return replace(found, unconfirmed=(f"the declaration is beyond this checker's arithmetic: {beyond}",))
    return replace(found, complaints=wrong, unconfirmed=unconfirmed, sharper=sharper, notes=notes)


def _measured_complaints(data: Table, rows: list[Row]) -> list[str]:
    """Return where a claim in another measure has a verdict or reasons that do not follow."""
    replaced = data["claim"]["model"] != "joint" or data["claim"]["neighbours"] == "replace_one"
    require(replaced, "a joint claim is about replaced records")
    return measured.complaints(data, both_sides(data, rows)[1])


def _measured(data: Table, rows: list[Row]) -> tuple[Outcome, tuple[str, ...]]:
    """Return what this checker's own bounds say of ends in another measure, and notes."""
    return measured.numbers(data, rows, both_sides(data, rows)[1]), measured.notes(data)


def _numbers(data: Table, rows: list[Row]) -> tuple[Outcome, tuple[str, ...]]:
    """Return what this checker's own curves say of the stated numbers, and notes."""
    data = data | {"claim": data["claim"] | {"epsilon": float(data["claim"]["epsilon"])}}
    claim, tree = data["claim"], data["declaration"]
    upper, lower, assumed = both_sides(data, rows)
    above = Worst(upper)
    below = above if upper == lower else Worst(lower)
    void = any(row["status"] == "violated" and row["kind"] not in _BESIDE for row in data["conditions"])
    found = Outcome(_void_complaints(data["tight"])) if void else compared("upper", data, data["tight"], above, below)
    found = found.joined(compared("lower", data, data["tight"], below, below))
    if assumed:
        epsilon, delta = assumed_ends(data)
        stated = {"epsilon": {"lower": epsilon}, "delta": {"lower": delta}}
        found = found.joined(compared("lower", data, stated, (most := Worst(assumed)), most, _TOLD - 1))
        refuting = any(end * _TOLD > claim[name] for name, end in (("epsilon", epsilon), ("delta", delta)))
        found = found.joined(Outcome(() if refuting else ("the assumption refutes nothing",)))
    answers = [curve.delta(claim["epsilon"]) for curve in (above, below)]
    crossed = answers[1][0] > answers[0][1]
    left_open = data["verdict"] != "refuted" and answers[1][1] > claim["delta"]
    left_open = left_open and below.delta(claim["epsilon"] * _BROKEN)[0] > claim["delta"]
    found = found.joined(Outcome(_CROSSED if crossed else (), _LEFT_OPEN if left_open else ())).joined(
        proved_alone(data, rows)
    )
    if not found.wrong:
        printed = printed_complaints(data.get("printed"), tree, claim)
        loose = any("upper" in end for end in found.loose)
        found = found.joined(Outcome(tuple(printed))).joined(slack_outcome(data, rows, loose=loose))
    small = max(small_delta(curve, float(claim["delta"])) for curve in (above, below))
    told = [f"True, but loose: {end}." for end in found.loose]
    return found, (*told, *_notes(data, answers, small, max(map(tolerance, (above, below)))))


def _void_complaints(tight: Table) -> tuple[str, ...]:
    """With a violated condition nothing is proved from above."""
    proved = tight["epsilon"]["upper"] != "inf" or tight["delta"]["upper"] != 1
    return ("a condition is violated, and an upper end is stated all the same",) if proved else ()


def _notes(data: Table, answers: list[Bounds], small: float, loose: float) -> tuple[str, ...]:
    """Return what was taken from the certificate, and how closely its numbers were confirmed."""
    sources = dict.fromkeys(node["source"] for node in walk(data["declaration"]) if node["node"] == "stated")
    looked = sum(row["status"] != "assumed" for row in data["conditions"])
    width = max(((high - low) / high for low, high in answers if high > small), default=0.0)
    told = [f"Taken on trust, as the declaration says: what {source} states." for source in sources]
    told += [
        f"Taken on trust: the losses that the plug-in mechanism {name} states of itself, and how its noise scales."
        for name in plug_ins(data["declaration"])
    ]
    told += [f"Taken from the certificate: what a run saw of {looked} conditions."] if looked else []
    pairs = [", ".join(row["labels"]) or "all releases" for row in data["witnesses"] if row["attained"] == "checked"]
    told += [f"Taken from the certificate: that a run saw one pair move {moved} at once." for moved in pairs]
    told += ["Taken on trust: why printed steps fail, and single factors of the slack."] * ("printed" in data)
    told += [f"A delta below {small:.1e} is not proved again; nothing contradicts it."] if small > SMALL else []
    told.append(f"Every other end lies at most a relative {loose:.0e} and this checker's width on its safe side.")
    told_how = "derived again from what is stated" if data["verdict"] == "stated" else "proved again"
    return *told, f"Delta at the claimed epsilon is {told_how} to a relative width of {width:.1e}."
