"""Re-derives a certificate and lists the inconsistencies."""

import hashlib
import json
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from dpaudit.verifier.conditions import condition_complaints
from dpaudit.verifier.curve import Worst
from dpaudit.verifier.losses import Multiset
from dpaudit.verifier.measured.ends import points_compared
from dpaudit.verifier.mechanisms import plug_ins
from dpaudit.verifier.printed import printed_complaints
from dpaudit.verifier.proof.derivation import Row, checked_rows
from dpaudit.verifier.proof.rules import above as upper_side
from dpaudit.verifier.proof.witnesses import both_sides
from dpaudit.verifier.reading import Unreadable, read
from dpaudit.verifier.refusals import Rejection, Table, Unfollowed, require
from dpaudit.verifier.shape import check_shape, walk
from dpaudit.verifier.slackness import slack_outcome
from dpaudit.verifier.stated_ends import LEFT_OPEN, SMALL, Outcome, compared, small_delta, tolerance, upper_epsilon
from dpaudit.verifier.verdicts import assumed_ends, verdict_complaints, without_word

_BROKEN = 1.05  # relative: an epsilon so far above the claimed one that is attained should be told
_TOLD = 1 + 1e-5  # what six digits, rounded down, may hide
_CROSSED = ("what is attained exceeds what is proved from above",)
_BESIDE = ("attained", "printed_premise")  # kinds of conditions that upper ends do not rest on

Sides = tuple[list[Multiset], list[Multiset], list[Multiset]]
"""What bounds the releases from above, what pairs attain, and what is only assumed to be attained."""


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
    limits. Ends of samples and secret steps, of sums at a quick effort, and lower ends of several choices may be loose,
    if they are true.
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
    outcome = Verification(
        verdict=data["verdict"],
        complaints=tuple(condition_complaints(data["conditions"], data["declaration"], data["claim"]["neighbours"])),
        claim=data["claim"],
        declaration=data["declaration"],
        digest=data["digest"],
    )
    try:
        rows = checked_rows(data)
        wrong = tuple(verdict_complaints(data, rows))
    except Unfollowed as error:
        return replace(outcome, unconfirmed=(str(error),))
    except Rejection as error:
        return replace(outcome, complaints=(*outcome.complaints, str(error)))
    outcome = replace(outcome, complaints=(*wrong, *outcome.complaints))
    if outcome.complaints:  # what is cheap to find comes first
        return outcome
    try:
        (wrong, unconfirmed, _, sharper), notes = _numbers(data, rows, both_sides(data, rows))
    except Unfollowed as error:
        return replace(outcome, unconfirmed=(str(error),))
    except Rejection as error:
        return replace(outcome, complaints=(str(error),))
    except (ArithmeticError, MemoryError, ValueError) as error:  # form and rows were found right before
        beyond = type(error).__name__
        return replace(outcome, unconfirmed=(f"the declaration is beyond this checker's arithmetic: {beyond}",))
    return replace(outcome, complaints=wrong, unconfirmed=unconfirmed, sharper=sharper, notes=notes)


def _numbers(data: Table, rows: list[Row], sides: Sides) -> tuple[Outcome, tuple[str, ...]]:
    """Return what this checker's own bounds say of the stated numbers, and notes."""
    measured = data["claim"].get("measure")
    void = any(row["status"] == "violated" and row["kind"] not in _BESIDE for row in data["conditions"])
    if void and (wrong := _void_complaints(data["tight"], measured)):
        return Outcome(wrong), ()
    if measured:
        outcome = points_compared(data, rows, sides[1])
        proved = "; each lies on its proved side" if outcome == Outcome() else ""
        return outcome, (*_taken(data), f"The ends were bounded again in {measured}{proved}.")
    return _both_ends(data, rows, sides, void=void)


def _void_complaints(tight: Table, measured: str | None = None) -> tuple[str, ...]:
    """With a violated condition nothing is proved from above."""
    ends = tight[measured] if measured else [tight["epsilon"]]
    proved = any(end["upper"] != "inf" for end in (ends if isinstance(ends, list) else [ends]))
    proved |= not measured and tight["delta"]["upper"] != 1
    return ("a condition is violated, and an upper end is stated all the same",) if proved else ()


def _both_ends(data: Table, rows: list[Row], sides: Sides, *, void: bool) -> tuple[Outcome, tuple[str, ...]]:
    """Return the same of ends of epsilon and delta, by this checker's own curves."""
    data = data | {"claim": data["claim"] | {"epsilon": float(data["claim"]["epsilon"])}}
    claim, tree, (upper, lower, assumed) = data["claim"], data["declaration"], sides
    above = Worst(upper)
    below = above if upper == lower else Worst(lower)
    outcome = Outcome() if void else compared("upper", data, data["tight"], above, below)
    outcome = outcome.joined(compared("lower", data, data["tight"], below, below if void else above))
    if assumed:
        epsilon, delta = assumed_ends(data)
        stated = {"epsilon": {"lower": epsilon}, "delta": {"lower": delta}}
        outcome = outcome.joined(compared("lower", data, stated, (most := Worst(assumed)), most, _TOLD - 1))
        refuting = any(end * _TOLD > claim[name] for name, end in (("epsilon", epsilon), ("delta", delta)))
        outcome = outcome.joined(Outcome(() if refuting else ("the assumption refutes nothing",)))
    answers = [curve.delta(claim["epsilon"]) for curve in (above, below)]
    crossed = answers[1][0] > answers[0][1]
    left_open = data["verdict"] != "refuted" and answers[1][1] > claim["delta"]
    left_open = left_open and below.delta(claim["epsilon"] * _BROKEN)[0] > claim["delta"]
    outcome = outcome.joined(Outcome(_CROSSED if crossed else (), (LEFT_OPEN,) if left_open else ()))
    if (proved := data.get("trust", {}).get("proved")) is not None:  # what is said of the parts that are not on trust
        alone = upper_epsilon(float(proved), claim, Worst(upper_side(rows, without_word(tree))))
        outcome = outcome.joined(Outcome((), (*alone.unconfirmed, *alone.wrong), alone.loose))
    if not outcome.wrong:
        printed = printed_complaints(data.get("printed"), tree, claim)
        slack = slack_outcome(data, rows, above, loose=any("upper" in end for end in outcome.loose))
        outcome = outcome.joined(Outcome(tuple(printed))).joined(slack)
    small = max(small_delta(curve, float(claim["delta"])) for curve in (above, below))
    loose = max(map(tolerance, (above, below)))
    width = max(((high - low) / high for low, high in answers if high > small), default=0.0)
    how = "derived again from what is stated" if data["verdict"] == "stated" else "proved again"
    return outcome, (
        *(f"True, but loose: {end}." for end in outcome.loose),
        *_taken(data),
        *([f"A delta below {small:.1e} is not derived again; nothing contradicts it."] if small > SMALL else []),
        f"Every other bound is confirmed; it errs on the safe side, {loose:.0e} beyond the checker's own at most.",
        f"Delta at the claimed epsilon is {how} to a relative width of {width:.1e}.",
    )


def _taken(data: Table) -> list[str]:
    """Return notes on what was taken from the certificate."""
    sources = dict.fromkeys(node["source"] for node in walk(data["declaration"]) if node["node"] == "stated")
    looked = sum(row["status"] != "assumed" for row in data["conditions"])
    told = [f"Taken on trust, as the declaration says: what {source} states." for source in sources]
    told += [
        f"Taken on trust: the losses that the plug-in mechanism {name} states of itself, and how its noise scales."
        for name in plug_ins(data["declaration"])
    ]
    told += [f"Taken from the certificate: what a run saw of {looked} conditions."] if looked else []
    pairs = [", ".join(row["labels"]) or "all releases" for row in data["witnesses"] if row["attained"] == "checked"]
    told += [f"Taken from the certificate: that a run saw one pair move {moved} at once." for moved in pairs]
    return told + ["Taken on trust: why printed steps fail, and single factors of the slack."] * ("printed" in data)
