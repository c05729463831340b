"""Refutation files: a fixed attack that another person checks on fresh runs.

A file holds no data and no code: the name of the case, the claim, the event, the seed that taught the attack, and the
counts. A person who has the case prepares the same attack from the seed and counts fresh runs.
"""

import json
import math
from dataclasses import asdict, dataclass, replace
from typing import Annotated, Any

import numpy as np

from audits.bounds.gaussian import gaussian_bound
from audits.bounds.guessing import guessing_bound
from audits.decision.events import Event
from audits.decision.power import Bound
from audits.decision.preparation import prepare
from audits.experiment.settings import Learner, Settings
from audits.experiment.trials import seed_of
from dpaudit import AuditCase, AuditResult, Claim
from dpaudit.checks import NonNegativeOrInfinite, OpenProbability, Within, open_probability, settle
from dpaudit.errors import CertificateError
from dpaudit.model.audit_result import Counts, LowerBound
from dpaudit.model.codec import encode

_FORMAT = 2
_MOST_WORDS = 16
_BOUNDS: dict[str, Bound] = {"guessing": guessing_bound, "gaussian": gaussian_bound}


@dataclass(frozen=True, slots=True, kw_only=True)
class Refutation:
    """What a person needs to show a violation again.

    `against` is the refuted epsilon, of the claim or of the certificate; `significance` is that of the deciding bound,
    and `seed` the numbers that seeded the audit's generator.

    >>> from audits import audit, refute
    >>> from audits.examples import CLAIM, HALF_NOISE
    >>> result = audit(HALF_NOISE, claim=CLAIM, runs=2_000, rng=np.random.default_rng(3))
    >>> refutation = refute(HALF_NOISE, result, np.random.default_rng(3))
    >>> refutation.claim.epsilon, refutation.seed
    (1.0, (3,))
    """

    case: str
    claim: Claim
    seed: tuple[int, ...]
    runs: Annotated[int, Within(at_least=4)]
    significance: OpenProbability
    bound: str
    against: NonNegativeOrInfinite
    event: Event
    counts: Counts
    epsilon_lower: NonNegativeOrInfinite

    def __post_init__(self) -> None:
        settle(self)
        if not 1 <= len(self.seed) <= _MOST_WORDS or not all(0 <= word < 2**128 for word in self.seed):
            raise ValueError(f"Expected seed to be 1 to {_MOST_WORDS} whole numbers from 0, below 2^128.")

    def require_shown(self) -> None:
        """Raise ValueError unless the counts are possible and show `epsilon_lower`, above `against`."""
        counts = self.counts
        if any(type(value) is not int or not 0 <= value <= self.runs for value in asdict(counts).values()):
            raise ValueError("the counts are no whole numbers from 0 to the runs")
        if not counts.correct <= counts.guesses <= counts.runs:
            raise ValueError("the counts have more right guesses than guesses, or more guesses than runs")
        shown = _BOUNDS[self.bound](counts, self.claim.delta, self.significance).epsilon
        if not math.isclose(shown, self.epsilon_lower, rel_tol=1e-9) or not shown > self.against:
            raise ValueError("the counts do not show what it says")

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
            if not isinstance(data["seed"], list) or not all(type(word) is int for word in data["seed"]):
                raise ValueError("the seed is no list of whole numbers")
            data["seed"] = tuple(data["seed"])
            data["against"] = float(data["against"])
            if data["bound"] not in _BOUNDS:
                raise ValueError(f"the bound {data['bound']!r} is not one of {', '.join(_BOUNDS)}")
            data["epsilon_lower"] = float(data["epsilon_lower"])
            refutation = cls(**data)
            refutation.require_shown()
            return refutation
        except (KeyError, TypeError, ValueError, AttributeError, OverflowError, RecursionError) as error:
            raise CertificateError(f"This is no refutation that can be checked: {error}.") from None


def refute(
    case: AuditCase, result: AuditResult, rng: np.random.Generator, learner: Learner | None = None
) -> Refutation:
    """Return the refutation of a violation that `result` shows; `rng` must be in the state in which the audit began.

    Raises: ValueError: the result is no violation of a fixed-size audit, or its generator was not seeded by numbers.

    >>> from audits import audit
    >>> from audits.examples import CLAIM, HALF_NOISE
    >>> result = audit(HALF_NOISE, claim=CLAIM, runs=2_000, rng=np.random.default_rng(3))
    >>> refutation = refute(HALF_NOISE, result, np.random.default_rng(3))
    >>> refutation.epsilon_lower > 1
    True
    """
    seed = seed_of(rng)
    if result.verdict != "violation" or result.bound not in _BOUNDS or not seed:
        raise ValueError(
            f"Expected a violation shown by {' or '.join(_BOUNDS)}, from a generator seeded by numbers; got "
            f"verdict={result.verdict!r}, bound={result.bound!r} and seed={seed}; there is nothing to hand on."
        )
    share = next(bound.significance for bound in result.bounds if bound.name == result.bound)
    against = min(result.claim.epsilon, result.certified)
    prepared = prepare(case, result.runs, rng, share, Settings(learner=learner), (against, result.delta))
    return Refutation(
        case=case.name,
        claim=replace(result.claim, delta=result.delta),
        seed=seed,
        runs=result.runs,
        significance=share,
        bound=result.bound,
        against=against,
        event=prepared.choice.event,
        counts=result.counts,
        epsilon_lower=result.epsilon_lower,
    )


def recheck(
    refutation: Refutation,
    case: AuditCase,
    rng: np.random.Generator,
    *,
    taught: np.random.Generator,
    significance: float = 0.01,
    learner: Learner | None = None,
) -> LowerBound:
    """Return the audit's bound for its event on as many fresh runs from `rng`; nothing is chosen again.

    `taught` is a generator seeded with `refutation.seed`; it prepares the attack's score as the audit did. The bound is
    wrong with probability at most `significance`, which is the caller's and never that of the refutation: the event was
    fixed before the fresh runs, whoever chose it.
    A bound above `refutation.against` refutes the same epsilon.
    Raises: CertificateError: the case is another one, or its attack chooses another event: code or seed differ.

    >>> from audits import audit
    >>> from audits.examples import CLAIM, HALF_NOISE
    >>> result = audit(HALF_NOISE, claim=CLAIM, runs=2_000, rng=np.random.default_rng(3))
    >>> refutation = refute(HALF_NOISE, result, np.random.default_rng(3))
    >>> again = recheck(refutation, HALF_NOISE, np.random.default_rng(8), taught=np.random.default_rng(3))
    >>> again.epsilon > refutation.against
    True
    """
    open_probability("significance", significance)
    if case.name != refutation.case:
        raise CertificateError(f"The refutation is about case {refutation.case!r}, not {case.name!r}.")
    claimed = (refutation.against, refutation.claim.delta)
    how = Settings(learner=learner)
    prepared = prepare(case, refutation.runs, taught, refutation.significance, how, claimed)
    if prepared.choice.event != refutation.event:
        raise CertificateError("The attack prepares another event than the file holds; code, versions or seed differ.")
    if refutation.counts.runs != prepared.counted:
        raise CertificateError(
            f"The refutation counts {refutation.counts.runs} runs; its audit counts {prepared.counted}."
        )
    counts = replace(prepared, rng=rng, runs=prepared.counted).guesses(case, how)
    return _BOUNDS[refutation.bound](counts, refutation.claim.delta, significance)
