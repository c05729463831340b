"""The fixed-size audit: run two neighbours, attack their outputs, bound epsilon from below, give a verdict.

    audit(function, neighbours=(d0, d1), claim=claim, runs=20_000, rng=rng)      a user-supplied function
    audit_case(case, claim, runs=20_000, rng=rng)                                a case that an algorithm declares

The first runs teach the attack and choose its event; the other runs are counted.
"""

import math
import time
from dataclasses import dataclass
from typing import Any, Unpack

import numpy as np

from audits.bounds.e_process import e_process_bound
from audits.bounds.error_rates import error_rate_bound
from audits.bounds.gaussian import gaussian_bound, gaussian_rate_bound
from audits.bounds.guessing import guessing_bound
from audits.decision.events import count_guesses, roc_points
from audits.decision.other_significance import CountedBound
from audits.decision.power import Bound, ceiling, gaussian_power, guessing_power
from audits.decision.preparation import Learner, prepare
from audits.decision.verdict import verdict_of
from audits.experiment.execution import Execution, ExecutionFields, execution_of
from audits.experiment.function_case import function_case
from audits.experiment.trials import seed_of
from audits.procedures.missing_noise import missing_noise
from dpaudit import AuditCase, AuditResult, Claim, Counts, LowerBound, Power
from dpaudit.checks import count, open_probability, probability_below_one
from dpaudit.model.case import Run, Score

DECLARED = "the output laws are Gaussian, as declared"
"""The assumption of the Gaussian bound about the code, where the declaration is Gaussian."""


def audit(
    function: Run,
    *,
    neighbours: tuple[Any, Any],
    claim: Claim,
    runs: int,
    rng: np.random.Generator,
    significance: float = 0.05,
    score: Score | None = None,
    learner: Learner | None = None,
    delta: float | None = None,
    certified: float = math.inf,
    name: str = "function",
    view: str = "output",
    how: Execution | None = None,
    **fields: Unpack[ExecutionFields],
) -> AuditResult:
    """Return what attacks on `function` show about its epsilon.

    `function(data, rng, n_runs)` returns the outputs of `n_runs` independent runs, runs axis first: an array, a dict of
    arrays or a list. `score` turns outputs into one number a run, larger where the second data set is more
    likely; without one, `learner` (or the built-in one) makes one from runs that are not counted.
    Guarantee, `how` and errors: as for `audit_case`.

    >>> from audits.examples import CLAIM, half_noise
    >>> audit(half_noise, neighbours=(0.0, 1.0), claim=CLAIM, runs=2_000, rng=np.random.default_rng(1)).verdict
    'violation'
    """
    return audit_case(
        function_case(function, neighbours, claim, score=score, name=name, view=view),
        claim,
        runs=runs,
        rng=rng,
        significance=significance,
        learner=learner,
        delta=delta,
        certified=certified,
        how=execution_of(how, fields),
    )


def audit_case(
    case: AuditCase,
    claim: Claim,
    *,
    runs: int,
    rng: np.random.Generator,
    significance: float = 0.05,
    learner: Learner | None = None,
    delta: float | None = None,
    certified: float = math.inf,
    how: Execution | None = None,
    **fields: Unpack[ExecutionFields],
) -> AuditResult:
    """Return what attacks on `case` show: a lower bound on epsilon at `delta`, and a verdict.

    The verdict is *violation* when the bound exceeds the claim's epsilon or `certified`, the upper bound that a
    certificate proves. The bound against the claim has no assumption. Where the case is Gaussian and the certificate
    proves the claim, a Gaussian bound stands beside it, each at half the significance: it refutes the certificate's
    *declaration*, and bounds epsilon only if the output laws are Gaussian, as its assumption says. The verdict is
    *inconclusive* when even a gross violation would have been missed more than one time in ten (gross: twice the
    claim's epsilon, or one nat above it if that is more); else *consistent*.
    Guarantee: if `case` is (epsilon, delta)-private and its runs are independent, `epsilon_lower` exceeds epsilon with
    probability at most `significance`, for a bound with an assumption only under that; and code that is what its
    certificate declares is accused with probability at most `significance`. Each other member of `bounds` holds alone,
    at its own significance. `ceiling` is the bound of an attack that is always right on the counted runs.
    `how` says how runs are executed; only its `chunk_runs` changes results. With a `store`, counted and choosing chunks
    that are stored are not run again. The fields of `Execution` as keywords of this function are deprecated.
    Raises: ValueError: fewer than 4 runs, a relation other than the claim's, or delta below the claim's.

    >>> from audits.examples import CLAIM, HALF_NOISE
    >>> audit_case(HALF_NOISE, CLAIM, runs=2_000, rng=np.random.default_rng(0)).verdict
    'violation'
    """
    started = time.perf_counter()
    count("runs", runs, at_least=4)
    open_probability("significance", significance)
    level = claim.delta if delta is None else probability_below_one("delta", delta)
    if level < claim.delta:
        raise ValueError(f"Expected delta={level} at or above the claim's {claim.delta}: below it nothing is claimed.")
    if case.relation != claim.neighbours:
        raise ValueError(
            f"Expected neighbours of the claim's relation {claim.neighbours!r}; case {case.name!r} has "
            f"{case.relation!r}. State the claim for the relation that the case runs."
        )
    execution = execution_of(how, fields)
    share = significance / 2 if case.gaussian and certified <= claim.epsilon else significance
    prepared = prepare(case, runs, rng, share, learner, execution)
    scores, labels = prepared.count(case, execution)
    counts = count_guesses(prepared.event, scores, labels)
    decision = _decision(counts, claim, level, share, gaussian=share < significance)
    anytime = e_process_bound(scores, labels, level, significance)

    def accuses(weakened: AuditCase, stream: np.random.Generator) -> bool:
        result = audit_case(weakened, claim, runs=runs, rng=stream, significance=significance)
        return result.verdict == "violation"

    noise = missing_noise(case, accuses, rng)
    seed = seed_of(rng)
    return AuditResult(
        name=case.name,
        verdict=verdict_of(decision.deciding.epsilon, decision.power, claim, certified),
        epsilon_lower=decision.deciding.epsilon,
        delta=level,
        significance=significance,
        runs=runs,
        ceiling=ceiling(decision.bound, counts.runs, level, share),
        power=decision.power,
        view=case.view,
        attack=prepared.attack,
        bound=decision.deciding.name,
        bounds=(decision.deciding, *decision.others, anytime),
        counts=counts,
        seed=seed[0] if len(seed) == 1 else None,
        claim=claim,
        certified=certified,
        description=f"{case.description} {noise}".strip(),
        seconds=time.perf_counter() - started,
        roc=roc_points(scores, labels),
        epsilon_at=CountedBound(
            counts=counts,
            delta=level,
            gaussian=decision.bound is _declared_gaussian_bound,
            significance=significance,
            share=share / significance,
        ),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Decision:
    """The bound that decides, its value on the counts, its power, and the values of the other bounds."""

    bound: Bound
    deciding: LowerBound
    power: Power
    others: tuple[LowerBound, ...]


def _decision(counts: Counts, claim: Claim, delta: float, significance: float, *, gaussian: bool) -> _Decision:
    """Return the guessing bound, or, where `gaussian` and the claim is not refuted, the declared Gaussian bound."""
    free = guessing_bound(counts, delta, significance)
    bound: Bound = guessing_bound
    power = guessing_power(counts.guesses, counts.runs, claim.epsilon, delta, significance)
    if gaussian and free.epsilon <= claim.epsilon:
        bound = _declared_gaussian_bound
        power = gaussian_power(counts.runs, bound, claim.epsilon, delta, significance)
    deciding = bound(counts, delta, significance)
    every = (guessing_bound, error_rate_bound, gaussian_bound, gaussian_rate_bound)
    others = (other(counts, delta, significance) for other in every)
    return _Decision(
        bound=bound,
        deciding=deciding,
        power=power,
        others=tuple(other for other in others if other.name != deciding.name),
    )


def _declared_gaussian_bound(counts: Counts, delta: float, significance: float) -> LowerBound:
    """Return the Gaussian bound with the assumption that the code has the declared output laws."""
    return gaussian_bound(counts, delta, significance, assumption=DECLARED)
