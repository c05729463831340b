"""A refutation that others can check: a small file with the attack fixed, re-counted on fresh runs.

The file holds no data and no code: the case's name, the claim, the event, the seed that taught the attack, and what
was counted. Whoever has the case prepares the same attack from the seed and counts runs of their own.
"""

import json
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from audits.bounds.guessing import guessing_bound
from audits.coin import Execution
from audits.events import Event, count_guesses
from audits.preparation import Learner, prepare
from dpaudit import AuditCase, AuditResult, CertificateError, Claim, Counts, LowerBound
from dpaudit.checks import count, open_probability
from dpaudit.codec import encode

_FORMAT = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Refutation:
    """What it takes to show a violation again."""

    case: str
    claim: Claim
    seed: int
    runs: int
    significance: float
    event: Event
    counts: Counts
    epsilon_lower: float

    def to_json(self) -> str:
        """Return the refutation as JSON text."""
        return json.dumps(encode({"format": _FORMAT} | asdict(self)), indent=2, sort_keys=True)

    @classmethod
    def from_json(cls, text: str) -> "Refutation":
        """Return the refutation that `text` spells.

        Raises: CertificateError: not JSON, another format, or a field missing, unknown or out of range.
        """
        try:
            data: dict[str, Any] = json.loads(text)
            if data.pop("format") != _FORMAT:
                raise ValueError(f"the format is not {_FORMAT}")
            data["claim"] = Claim(**data["claim"])
            data["event"] = Event(**{name: float(value) for name, value in data["event"].items()})
            data["counts"] = Counts(**data["counts"])
            count("runs", data["runs"])
            open_probability("significance", data["significance"])
            return cls(**data)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise CertificateError(f"This is no refutation that can be checked: {error}.") from None


def refute(
    case: AuditCase, result: AuditResult, rng: np.random.Generator, learner: Learner | None = None
) -> Refutation:
    """Return the file for a violation that `result` found; `rng` is in the state that the audit began with.

    Raises: ValueError: the result is no violation, or its generator was not seeded by a number.
    """
    if result.verdict != "violation" or result.seed is None:
        raise ValueError(
            f"Expected a violation from a generator seeded by a number, got verdict={result.verdict!r} and "
            f"seed={result.seed}; there is nothing to hand on."
        )
    prepared = prepare(case, result.runs, rng, result.significance, learner, Execution())
    return Refutation(
        case=case.name,
        claim=replace(result.claim, delta=result.delta),
        seed=result.seed,
        runs=result.runs,
        significance=result.significance,
        event=prepared.event,
        counts=result.counts,
        epsilon_lower=result.epsilon_lower,
    )


def recheck(
    refutation: Refutation,
    case: AuditCase,
    rng: np.random.Generator,
    *,
    taught: np.random.Generator,
    runs: int | None = None,
    learner: Learner | None = None,
) -> LowerBound:
    """Return the guessing bound of the refutation's event on `runs` fresh runs from `rng`; nothing is chosen again.

    `taught` is a generator seeded with `refutation.seed`; it prepares the attack's score as the audit did. The claim
    falls again if the bound exceeds `refutation.claim.epsilon`.
    Raises: CertificateError: the case is another one, or its attack chooses another event: code or seed differ.
    """
    if case.name != refutation.case:
        raise CertificateError(f"The refutation is about case {refutation.case!r}, not {case.name!r}.")
    prepared = prepare(case, refutation.runs, taught, refutation.significance, learner, Execution())
    if prepared.event != refutation.event:
        raise CertificateError("The attack prepares another event than the file holds; code, versions or seed differ.")
    fresh = replace(prepared, rng=rng, counted=runs or prepared.counted, runs=runs or prepared.counted)
    scores, labels = fresh.count(case, Execution())
    counts = count_guesses(refutation.event, scores, labels)
    return guessing_bound(counts, refutation.claim.delta, refutation.significance)
