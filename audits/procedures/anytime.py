"""The audit that may stop at any time: runs in small, growing blocks, every block scored by what came before.

A given score bets from the first run. Beside it bets a learner, taught by earlier blocks only: one that supposes the
claim broken, a quick one or a thorough one, whichever explained the coins best so far. The wealth of the whole is the
average of both bettors, by fixed shares, so the better one counts up to the logarithm of its share. Learning stops
growing at 20,000 runs; memory is those runs' outputs. A later audit on fresh randomness may go on with the wealth that
an earlier one left.
"""

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from audits.attacks.classifier import learn_score
from audits.attacks.thresholds import learn_violation, learn_zones
from audits.bounds.e_process import LEVELS, EProcess, lowest_survivor, run_gains
from audits.bounds.guessing import guessing_bound
from audits.decision.events import roc_points, rounded
from audits.decision.power import ceiling, wealth_power
from audits.experiment.trials import CHUNK_RUNS, Execution, Observed, Progress, Store, toss, whole
from audits.experiment.views import concatenate
from audits.procedures.prior_evidence import Carried
from dpaudit import AuditCase, AuditResult, Claim, Counts, LowerBound
from dpaudit.checks import count, open_probability
from dpaudit.model.audit_result import AuditVerdict
from dpaudit.model.case import Run, Score
from dpaudit.model.mechanism import Array

_FIRST_BLOCK = 8
_GROWTH = 0.12
_MOST_LEARNED = 20_000
_GIVEN_SHARE = 0.9
_BOOSTED_FROM = 200
_NEARLY = 0.9
_PHASE = "bet"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Betting:
    """Everything a stopped audit needs to go on: the experts' processes, their scores so far, what to learn from."""

    claim: Claim
    before: Carried
    shares: Array
    credit: Array
    processes: tuple[EProcess, ...]
    mixed: Array
    best: Array
    against: float
    scores: Array
    labels: Array
    seen: tuple[Observed, ...]
    stopped: int | None = None

    @classmethod
    def fresh(cls, case: AuditCase, before: Carried) -> "Betting":
        """Return the state before the first run, with the wealth that earlier audits left."""
        shares = np.array([1.0]) if case.score is None else np.array([_GIVEN_SHARE, 1 - _GIVEN_SHARE])
        return cls(
            claim=before.claim,
            before=before,
            shares=shares,
            credit=np.zeros(3),
            processes=tuple(EProcess.fresh(before.claim.delta) for _ in shares),
            mixed=np.array(before.wealth),
            best=np.array(before.best),
            against=before.against,
            scores=np.zeros((len(shares), 0)),
            labels=np.zeros(0, dtype=bool),
            seen=(),
        )

    @property
    def runs(self) -> int:
        """How many runs were counted."""
        return len(self.labels)

    def lower(self, significance: float) -> float:
        """Return the lower bound on epsilon that holds now, and would have held at any other time.

        The claim is one of the levels: until it has fallen nothing at or above it counts, and it falls after all below
        it. So a bound above the truth takes the fall of one level, the first at or above the truth.
        """
        grid = lowest_survivor(self.best, significance)
        if self.stopped is None:
            return min(grid, float(LEVELS[self.claim.epsilon > LEVELS].max(initial=0.0)))
        return max(grid, math.nextafter(self.claim.epsilon, math.inf))

    def advanced(
        self, block: Observed, given: Score | None, learners: tuple[Score | None, ...], significance: float
    ) -> "Betting":
        """Return the state after one block, scored by a given score and by learners who have not seen it."""
        learned = np.stack([_scored(learner, block) for learner in learners])
        bets = learned[int(np.argmax(self.credit))]
        scores = bets[None] if given is None else np.stack([_scored(given, block), bets])
        processes = tuple(p.extended(s, block.labels, looks=1) for p, s in zip(self.processes, scores, strict=True))
        mixed = np.array(self.before.wealth) + _average([p.wealth for p in processes], self.shares)
        known = np.concatenate([self.scores, scores], axis=1)
        labels = np.concatenate([self.labels, block.labels])
        gains = np.stack([run_gains(s, labels, self.claim.epsilon, self.claim.delta) for s in known])
        path = self.before.against + _average(list(np.cumsum(gains, axis=1)), self.shares)
        best = np.maximum(self.best, mixed)
        crossed = np.flatnonzero(path >= -math.log(significance))
        below = bool((best[self.claim.epsilon > LEVELS] >= -math.log(significance)).all())
        room = sum(map(len, self.seen)) < _MOST_LEARNED
        return replace(
            self,
            processes=processes,
            credit=self.credit - np.logaddexp(0, np.where(block.labels, -learned, learned)).sum(axis=1),
            mixed=mixed,
            best=best,
            against=float(path[-1]),
            scores=known,
            labels=labels,
            seen=(*self.seen, block) if room else self.seen,
            stopped=int(crossed[0]) + 1 if len(crossed) and below else None,
        )


def audit_sequentially(
    case: AuditCase,
    claim: Claim,
    *,
    runs: int,
    rng: np.random.Generator,
    significance: float = 0.05,
    certified: float = math.inf,
    jobs: int = 1,
    chunk_runs: int = CHUNK_RUNS,
    progress: Progress | None = None,
    store: Store | None = None,
    scheduler: str | None = None,
    stop: Callable[[Betting], bool] | None = None,
) -> AuditResult:
    """Return what at most `runs` runs of `case` show, stopping as soon as the claim falls.

    `stop` may end the audit after any block for any reason, `lambda state: False` never; the default stops when
    the wealth against the claim has reached 1 / significance. With a `store` the audit goes on tomorrow, with more
    `runs` if wanted: the same case, seed and store, and blocks that are there are not run again. Outputs that are no
    arrays of numbers cannot be stored.
    Guarantee: if the case is (epsilon, delta)-private and runs are independent, `epsilon_lower` exceeds epsilon, and
    the verdict is a violation of a true claim, with probability at most `significance`, whenever one stops. The counts
    and the ROC describe the richer bettor and decide nothing; its guesses are the runs scored nearly as high as the
    claim, or as it ever scores.

    >>> from dpaudit import Release
    >>> from audits import declared_case
    >>> from mechanisms import Laplace
    >>> noise = Laplace(scale=0.5, l1_sensitivity=1.0, neighbours="replace_one")
    >>> case = declared_case(Release(label="sum", mechanism=noise), {"sum": (0.0, 1.0)})
    >>> claim = Claim(epsilon=1.0, neighbours="replace_one")
    >>> found = audit_sequentially(case, claim, runs=2_000, rng=np.random.default_rng(0))
    >>> found.verdict, found.runs < 500
    ('violation', True)
    """
    result, _ = continue_audit(
        case,
        Carried.nothing(claim),
        runs=runs,
        rng=rng,
        significance=significance,
        certified=certified,
        jobs=jobs,
        chunk_runs=chunk_runs,
        progress=progress,
        store=store,
        scheduler=scheduler,
        stop=stop,
    )
    return result


def continue_audit(
    case: AuditCase,
    before: Carried,
    *,
    runs: int,
    rng: np.random.Generator,
    significance: float = 0.05,
    certified: float = math.inf,
    jobs: int = 1,
    chunk_runs: int = CHUNK_RUNS,
    progress: Progress | None = None,
    store: Store | None = None,
    scheduler: str | None = None,
    stop: Callable[[Betting], bool] | None = None,
    first_block: int = _FIRST_BLOCK,
) -> tuple[AuditResult, Carried]:
    """Return what `case` shows on top of the wealth that earlier audits left, and what the next one may go on with.

    Parameters are as for `audit_sequentially`. The bound, its power and its ceiling are those of all the runs so far;
    counts, ROC and `runs` describe the runs of this call. No block but the last has fewer runs than half of
    `first_block`: code that is slow to start is better called rarely.
    Guarantee: as for `audit_sequentially`, with one `significance` for all the calls together, however many follow,
    if each call draws fresh randomness: wealth that is fair in every call stays fair over all of them.
    Raises: ValueError: `case` has another relation than the claim of `before`.

    >>> from audits import declared_case
    >>> from dpaudit import Release
    >>> from mechanisms import Laplace
    >>> noise = Laplace(scale=0.5, l1_sensitivity=1.0, neighbours="replace_one")
    >>> case = declared_case(Release(label="sum", mechanism=noise), {"sum": (0.0, 1.0)})
    >>> nothing = Carried.nothing(Claim(epsilon=1.0, neighbours="replace_one"))
    >>> today, left = continue_audit(case, nothing, runs=20, rng=np.random.default_rng(0))
    >>> tomorrow, _ = continue_audit(case, left, runs=500, rng=np.random.default_rng(1))
    >>> today.verdict == "violation", tomorrow.verdict
    (False, 'violation')
    """
    started = time.perf_counter()
    count("runs", runs)
    count("first_block", first_block, at_least=2)
    open_probability("significance", significance)
    claim = before.claim
    if case.relation != claim.neighbours:
        raise ValueError(f"Expected neighbours of the claim's relation {claim.neighbours!r}, got {case.relation!r}.")
    how = Execution(jobs=jobs, chunk_runs=chunk_runs, scheduler=scheduler)
    state, place, phase = Betting.fresh(case, before), 0, f"{_PHASE} {before.runs}"
    while state.runs < runs and not (_fallen if stop is None else stop)(state):
        block_rng, own = rng.spawn(2)
        block = None if store is None else store.load(phase, place)
        if block is None:
            size = max(first_block // 2, int(_GROWTH * state.runs)) if state.runs else first_block
            block = toss(case, min(size, runs - state.runs), block_rng, keep=whole, how=how)
            if store is not None:
                store.save(phase, place, block)
        place += 1
        state = state.advanced(block, case.score, _learners(state, own), significance)
        if progress is not None:
            progress(state.runs, runs)
    after = Carried(
        claim=claim,
        against=state.against,
        wealth=tuple(state.mixed.tolist()),
        best=tuple(state.best.tolist()),
        runs=before.runs + state.runs,
    )
    return _result(case, state, runs, significance, certified, time.perf_counter() - started), after


def audit_anytime(
    function: Run,
    *,
    neighbours: tuple[Any, Any],
    claim: Claim,
    runs: int,
    rng: np.random.Generator,
    significance: float = 0.05,
    progress: Progress | None = None,
    store: Store | None = None,
    stop: Callable[[Betting], bool] | None = None,
) -> AuditResult:
    """Return what at most `runs` runs of a function of the user's own show, stopping as soon as the claim falls.

    `function` is called as for `audit`; stopping, store and guarantee are those of `audit_sequentially`.

    >>> claim = Claim(epsilon=1.0, neighbours="replace_one")
    >>> def half_noise(data, rng, n_runs):
    ...     return data + rng.laplace(0.0, 0.5, n_runs)
    >>> rng = np.random.default_rng(1)
    >>> result = audit_anytime(half_noise, neighbours=(0.0, 1.0), claim=claim, runs=20_000, rng=rng)
    >>> result.verdict, result.runs < 1_000
    ('violation', True)
    """
    case = AuditCase(
        name="function",
        view="output",
        description="a function of the user's own",
        neighbours=neighbours,
        relation=claim.neighbours,
        run=function,
    )
    return audit_sequentially(
        case, claim, runs=runs, rng=rng, significance=significance, progress=progress, store=store, stop=stop
    )


def _average(log_wealth: list[Array], shares: Array) -> Array:
    """Return the logarithm of the average wealth of several bettors."""
    mixed: Array = np.logaddexp.reduce(np.stack(log_wealth) + np.log(shares)[:, None], axis=0)
    return mixed


def _fallen(state: Betting) -> bool:
    """Return whether the claim has fallen."""
    return state.stopped is not None


def _learners(state: Betting, rng: np.random.Generator) -> tuple[Score | None, ...]:
    """Return who supposes the claim broken, the quick learner and the thorough one, taught by what came before."""
    if not state.seen:
        return (None, None, None)
    view = concatenate([block.kept for block in state.seen])
    labels = np.concatenate([block.labels for block in state.seen])
    thorough = learn_score(view, labels, rng) if len(labels) >= _BOOSTED_FROM else None
    return (learn_violation(view, labels, state.claim.epsilon), learn_zones(view, labels, rng), thorough)


def _scored(expert: Score | None, block: Observed) -> Array:
    """Return one expert's scores for a block; who has nothing to say says 0."""
    return np.zeros(len(block)) if expert is None else rounded(expert(block.kept))


def _result(
    case: AuditCase, state: Betting, runs: int, significance: float, certified: float, seconds: float
) -> AuditResult:
    """Return the audit's result from its last state."""
    claim = state.claim
    leader = int(np.argmax([p.wealth.max() for p in state.processes]))
    scores, labels = state.scores[leader], state.labels
    size = np.abs(scores)
    guessed = size >= _NEARLY * min(claim.epsilon, float(np.quantile(size, 0.95)))
    right = (scores > 0) == labels
    counts = Counts(
        runs=state.runs,
        guesses=int(guessed.sum()),
        correct=int((guessed & right).sum()),
        true_positives=int(((scores > 0) & labels).sum()),
        false_positives=int(((scores > 0) & ~labels).sum()),
        positives=int(labels.sum()),
        negatives=int((~labels).sum()),
    )
    epsilon = state.lower(significance)
    so_far = state.before.runs + state.runs
    guesses = counts.guesses * so_far // state.runs
    power = wealth_power(guesses, so_far, claim.epsilon, claim.delta, significance)
    verdict: AuditVerdict = (
        "consistent" if power.epsilon <= max(2 * claim.epsilon, claim.epsilon + 1) else "inconclusive"
    )
    if epsilon > min(claim.epsilon, certified):
        verdict = "violation"
    return AuditResult(
        name=case.name,
        verdict=verdict,
        epsilon_lower=epsilon,
        delta=claim.delta,
        significance=significance,
        runs=state.stopped or state.runs,
        ceiling=ceiling(guessing_bound, state.before.runs + runs, claim.delta, significance),
        power=power,
        view=case.view,
        attack="given score and learners" if case.score is not None else "learners",
        bound="e_process",
        bounds=(LowerBound(name="e_process", epsilon=epsilon, significance=significance),),
        counts=counts,
        seed=None,
        claim=claim,
        certified=certified,
        description=case.description,
        seconds=seconds,
        roc=roc_points(scores, labels) if len(labels) else (),
    )
