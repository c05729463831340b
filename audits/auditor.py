"""The audit: run two neighbours by a fair coin, attack what comes out, bound epsilon from below, judge.

    audit(function, neighbours=(d0, d1), claim=claim, runs=20_000, rng=rng)      a function of the user's own
    audit_case(case, claim, runs=20_000, rng=rng)                                a case that an algorithm declares

The first runs teach the attack and choose its event; the others are counted, and choose nothing.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from audits.attacks.classifier import learn_score
from audits.bounds.error_rates import error_rate_bound
from audits.bounds.gaussian import gaussian_bound, gaussian_rate_bound
from audits.bounds.guessing import guessing_bound
from audits.coin import CHUNK_RUNS, Progress, toss, whole
from audits.events import Event, choose_event, count_guesses, roc_points, rounded
from audits.planning import Bound, ceiling, gaussian_power, guessing_power
from dpaudit import AuditCase, AuditResult, Claim, Counts, LowerBound, Power
from dpaudit.case import Run, Score
from dpaudit.checks import count, open_probability, probability_below_one
from dpaudit.evidence import AuditVerdict
from dpaudit.mechanism import Array

Learner = Callable[[Any, Array, np.random.Generator], Score]
"""learner(view, labels, rng) -> a score; labels are true where the second neighbour ran."""

_CHOOSING_SHARE, _MOST_CHOOSING = 0.1, 2_000
_LEARNING_SHARE, _MOST_LEARNING = 0.2, 20_000


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Attacked:
    """Scores of runs that are counted, the event chosen on other runs, and what the attack is called."""

    attack: str
    event: Event
    scores: Array
    labels: Array


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
) -> AuditResult:
    """Return what attacks on `case` show: a lower bound on epsilon at `delta`, and a verdict.

    The verdict is *violation* when the bound exceeds the claim's epsilon or `certified`, the upper bound that a
    certificate proves; *inconclusive* when even a gross violation would have been missed more than one time in
    ten (gross: twice the claim's epsilon, or one nat above it if that is more); else *consistent*.
    Guarantee: if `case` is (epsilon, delta)-private and its runs are independent, `epsilon_lower` exceeds epsilon with
    probability at most `significance`. For a Gaussian case this holds for Gaussian claims. The other members of
    `bounds` hold one at a time, each at `significance`. The numbers do not depend on `jobs`.
    Raises: ValueError: fewer than 4 runs, a relation other than the claim's, or delta below the claim's.
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
    attacked = _attack(case, runs, rng, significance, learner, jobs, chunk_runs, progress)
    counts = count_guesses(attacked.event, attacked.scores, attacked.labels)
    bound = _gaussian_claim_bound if case.gaussian else guessing_bound
    others: tuple[Bound, ...] = (guessing_bound, error_rate_bound, gaussian_bound, gaussian_rate_bound)
    deciding = bound(counts, level, significance)
    bounds = (deciding, *(held for f in others if (held := f(counts, level, significance)).name != deciding.name))
    power = _power(counts, case, bound, claim.epsilon, level, significance)
    return AuditResult(
        name=case.name,
        verdict=_verdict(deciding, power, claim, certified),
        epsilon_lower=deciding.epsilon,
        delta=level,
        significance=significance,
        runs=runs,
        ceiling=ceiling(bound, runs, level, significance),
        power=power,
        view=case.view,
        attack=attacked.attack,
        bound=deciding.name,
        bounds=bounds,
        counts=counts,
        seed=_seed(rng),
        claim=claim,
        certified=certified,
        description=case.description,
        seconds=time.perf_counter() - started,
        roc=roc_points(attacked.scores, attacked.labels),
    )


def _attack(
    case: AuditCase,
    runs: int,
    rng: np.random.Generator,
    significance: float,
    learner: Learner | None,
    jobs: int,
    chunk_runs: int,
    progress: Progress | None,
) -> Attacked:
    """Return the counted runs' scores and an event chosen on the others, learning a score first if there is none."""
    learn_rng, choose_rng, count_rng, own = rng.spawn(4)
    score, attack, learning = case.score, "given statistic", 0
    if score is None:
        learning = min(int(_LEARNING_SHARE * runs) + 1, _MOST_LEARNING)
        seen = toss(case, learning, learn_rng, keep=whole, jobs=jobs, chunk_runs=chunk_runs)
        score, attack = (learner or learn_score)(seen.kept, seen.labels, own), "learned classifier"
    choosing = max(1, min(int(_CHOOSING_SHARE * runs), _MOST_CHOOSING))
    counted = runs - learning - choosing

    def report(done: int, _: int) -> None:
        if progress is not None:
            progress(learning + choosing + done, runs)

    chosen = toss(case, choosing, choose_rng, keep=score, jobs=jobs, chunk_runs=chunk_runs)
    event = choose_event(rounded(chosen.kept), chosen.labels, counted, significance)
    rest = toss(case, counted, count_rng, keep=score, jobs=jobs, chunk_runs=chunk_runs, progress=report)
    return Attacked(attack=attack, event=event, scores=rounded(rest.kept), labels=rest.labels)


def _gaussian_claim_bound(counts: Counts, delta: float, significance: float) -> LowerBound:
    """Return the Gaussian bound for a claim that is itself Gaussian, which assumes nothing."""
    return gaussian_bound(counts, delta, significance, assumption="")


def _power(counts: Counts, case: AuditCase, bound: Bound, epsilon: float, delta: float, significance: float) -> Power:
    """Return what the counted runs would have caught."""
    if case.gaussian:
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
    sequence = getattr(rng.bit_generator, "seed_seq", None)
    entropy = getattr(sequence, "entropy", None)
    return int(entropy) if isinstance(entropy, int) and not getattr(sequence, "spawn_key", ()) else None
