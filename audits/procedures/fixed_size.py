"""The audit: run two neighbours by a fair coin, attack what comes out, bound epsilon from below, judge.

    audit(function, neighbours=(d0, d1), claim=claim, runs=20_000, rng=rng)      a function of the user's own
    audit_case(case, claim, runs=20_000, rng=rng)                                a case that an algorithm declares

The first runs teach the attack and choose its event; the others are counted, and choose nothing.
"""

import time
from typing import Any

import numpy as np

from audits.bounds.e_process import e_process_bound
from audits.bounds.error_rates import error_rate_bound
from audits.bounds.gaussian import gaussian_bound, gaussian_rate_bound
from audits.bounds.guessing import guessing_bound
from audits.decision.events import count_guesses, roc_points
from audits.decision.power import Bound, ceiling, gaussian_power, guessing_power
from audits.decision.preparation import Learner, prepare
from audits.experiment.trials import CHUNK_RUNS, Execution, Progress, Store, seed_of
from audits.procedures.missing_noise import missing_noise
from dpaudit import AuditCase, AuditResult, Claim, Counts, LowerBound, Power
from dpaudit.checks import count, open_probability, probability_below_one
from dpaudit.model.audit_result import AuditVerdict
from dpaudit.model.case import Run, Score

DECLARED = "the output laws are Gaussian, as declared"
"""What the Gaussian bound takes for granted of the code, where the declaration is Gaussian."""


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
    certified: float = float("inf"),
    jobs: int = 1,
    chunk_runs: int = CHUNK_RUNS,
    progress: Progress | None = None,
    store: Store | None = None,
    scheduler: str | None = None,
    name: str = "function",
    view: str = "output",
) -> AuditResult:
    """Return what attacks on `function` show about its epsilon.

    `function(data, rng, n_runs)` returns the outputs of `n_runs` independent runs, runs axis first: an array, a dict of
    arrays or a list. `score` turns outputs into one number a run, larger where the second data set is more
    likely; without one, `learner` (or the built-in one) makes one from runs that are not counted.
    Guarantee and errors: as for `audit_case`.

    >>> from dpaudit import Claim
    >>> claim = Claim(epsilon=1.0, neighbours="replace_one")
    >>> def half_noise(data, rng, n_runs):
    ...     return data + rng.laplace(0.0, 0.5, n_runs)
    >>> audit(half_noise, neighbours=(0.0, 1.0), claim=claim, runs=2_000, rng=np.random.default_rng(1)).verdict
    'violation'
    """
    case = AuditCase(
        name=name,
        view=view,
        description="a function of the user's own",
        neighbours=neighbours,
        relation=claim.neighbours,
        run=function,
        score=score,
    )
    return audit_case(
        case,
        claim,
        runs=runs,
        rng=rng,
        significance=significance,
        learner=learner,
        delta=delta,
        certified=certified,
        jobs=jobs,
        chunk_runs=chunk_runs,
        progress=progress,
        store=store,
        scheduler=scheduler,
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
    certified: float = float("inf"),
    jobs: int = 1,
    chunk_runs: int = CHUNK_RUNS,
    progress: Progress | None = None,
    store: Store | None = None,
    scheduler: str | None = None,
) -> AuditResult:
    """Return what attacks on `case` show: a lower bound on epsilon at `delta`, and a verdict.

    The verdict is *violation* when the bound exceeds the claim's epsilon or `certified`, the upper bound that a
    certificate proves. Against the claim stands a bound that assumes nothing. Where the case is Gaussian and the
    certificate proves the claim, a Gaussian bound stands beside it, each at half the significance: it refutes the
    certificate's *declaration*, and bounds epsilon only if the output laws are Gaussian, as it says. The verdict is
    *inconclusive* when even a gross violation would have been missed more than one time in ten (gross: twice the
    claim's epsilon, or one nat above it if that is more); else *consistent*.
    Guarantee: if `case` is (epsilon, delta)-private and its runs are independent, `epsilon_lower` exceeds epsilon with
    probability at most `significance`, for a bound with an assumption only under that; and code that is what its
    certificate declares is accused with probability at most `significance`. The other members of `bounds` hold one
    at a time, each at its own. `ceiling` is what an attack that is always right would show with the counted runs.
    The numbers do not depend on `jobs`, nor on `scheduler`, the address of a dask cluster. With a `store`, chunks that
    are already there are not run again (the runs that teach are always run again), and the numbers are the same.
    Raises: ValueError: fewer than 4 runs, a relation other than the claim's, or delta below the claim's.

    >>> from dpaudit import Release
    >>> from audits import declared_case
    >>> from mechanisms import Laplace
    >>> noise = Laplace(scale=0.5, l1_sensitivity=1.0, neighbours="replace_one")
    >>> case = declared_case(Release(label="sum", mechanism=noise), {"sum": (0.0, 1.0)})
    >>> claim = Claim(epsilon=1.0, neighbours="replace_one")
    >>> audit_case(case, claim, runs=2_000, rng=np.random.default_rng(0)).verdict
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
    how = Execution(jobs=jobs, chunk_runs=chunk_runs, progress=progress, store=store, scheduler=scheduler)
    gaussian = case.gaussian and certified <= claim.epsilon
    share = significance / 2 if gaussian else significance
    prepared = prepare(case, runs, rng, share, learner, how)
    scores, labels = prepared.count(case, how)
    counts = count_guesses(prepared.event, scores, labels)
    free = guessing_bound(counts, level, share)
    assumed = _declared_gaussian_bound(counts, level, share)
    bound = _declared_gaussian_bound if gaussian and free.epsilon <= claim.epsilon else guessing_bound
    deciding = free if bound is guessing_bound else assumed
    others: tuple[Bound, ...] = (guessing_bound, error_rate_bound, gaussian_bound, gaussian_rate_bound)
    anytime = e_process_bound(scores, labels, level, significance)
    listed = (*(held for f in others if (held := f(counts, level, share)).name != deciding.name), anytime)
    missed = missing_noise(case, claim, runs, significance, rng)
    power = _power(counts, bound, claim.epsilon, level, share)
    return AuditResult(
        name=case.name,
        verdict=_verdict(deciding, power, claim, certified),
        epsilon_lower=deciding.epsilon,
        delta=level,
        significance=significance,
        runs=runs,
        ceiling=ceiling(bound, counts.runs, level, share),
        power=power,
        view=case.view,
        attack=prepared.attack,
        bound=deciding.name,
        bounds=(deciding, *listed),
        counts=counts,
        seed=_seed(rng),
        claim=claim,
        certified=certified,
        description=f"{case.description} {missed}".strip(),
        seconds=time.perf_counter() - started,
        roc=roc_points(scores, labels),
    )


def _declared_gaussian_bound(counts: Counts, delta: float, significance: float) -> LowerBound:
    """Return the Gaussian bound where the declaration is Gaussian, with what that takes for granted of the code."""
    return gaussian_bound(counts, delta, significance, assumption=DECLARED)


def _power(counts: Counts, bound: Bound, epsilon: float, delta: float, significance: float) -> Power:
    """Return what the counted runs would have caught."""
    if bound is _declared_gaussian_bound:
        return gaussian_power(counts.runs, bound, epsilon, delta, significance)
    return guessing_power(counts.guesses, counts.runs, epsilon, delta, significance)


def _verdict(bound: LowerBound, power: Power, claim: Claim, certified: float) -> AuditVerdict:
    """Return the verdict that a bound and its power allow."""
    if bound.epsilon > min(claim.epsilon, certified):
        return "violation"
    gross = max(2 * claim.epsilon, claim.epsilon + 1)
    return "consistent" if power.epsilon <= gross else "inconclusive"


def _seed(rng: np.random.Generator) -> int | None:
    """Return the whole number that `rng` was seeded with, if it was seeded with one and not spawned."""
    seed = seed_of(rng)
    return seed[0] if len(seed) == 1 else None
