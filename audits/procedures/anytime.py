"""The anytime audit: runs in small, growing blocks, each scored by what earlier blocks taught; it may stop at any time.

The blocks that are learned from stop growing at 20,000 runs; memory is the outputs of those runs. A later audit on
fresh randomness may continue with the wealth that an earlier audit left.
"""

import math
import time
from collections.abc import Callable
from typing import Any, Unpack

import numpy as np

from audits.bounds.guessing import guessing_bound
from audits.decision.events import roc_points
from audits.decision.power import ceiling, wealth_power
from audits.decision.verdict import verdict_of
from audits.experiment.execution import Execution, ExecutionFields, Observed, Store, execution_of
from audits.experiment.function_case import function_case
from audits.experiment.trials import run_trials, whole
from audits.procedures.betting import Betting, learners_of
from audits.procedures.prior_evidence import PriorEvidence
from dpaudit import AuditCase, AuditResult, Claim, Counts, LowerBound
from dpaudit.checks import count, open_probability
from dpaudit.model.case import Run
from dpaudit.model.mechanism import Array

Stop = Callable[[Betting], bool]
"""stop(state) -> whether to end the audit after this block."""

_FIRST_BLOCK = 8
_GROWTH = 0.12
_NEARLY = 0.9


def audit_sequentially(
    case: AuditCase,
    claim: Claim,
    *,
    runs: int,
    rng: np.random.Generator,
    significance: float = 0.05,
    certified: float = math.inf,
    stop: Stop | None = None,
    how: Execution | None = None,
    **fields: Unpack[ExecutionFields],
) -> AuditResult:
    """Return what at most `runs` runs of `case` show, stopping as soon as the claim is refuted.

    `stop` may end the audit after any block for any reason, `lambda state: False` never; the default stops when
    the wealth against the claim has reached 1 / significance. With a `store` in `how`, the same case and seed continue
    the audit, with more `runs` if wanted; stored blocks are not run again. Outputs that are not arrays of numbers
    cannot be stored. The fields of `Execution` as keywords of this function are deprecated.
    Guarantee: if the case is (epsilon, delta)-private and runs are independent, `epsilon_lower` exceeds epsilon, and
    the verdict is a violation of a true claim, with probability at most `significance`, at every stopping time. The
    counts and the ROC describe the bettor with the larger wealth and decide nothing; its guesses are the runs scored
    nearly as high as the claim, or as its own high scores.

    >>> from audits.examples import CLAIM, HALF_NOISE
    >>> result = audit_sequentially(HALF_NOISE, CLAIM, runs=2_000, rng=np.random.default_rng(0))
    >>> result.verdict, result.runs < 500
    ('violation', True)
    """
    result, _ = continue_audit(
        case,
        PriorEvidence.nothing(claim),
        runs=runs,
        rng=rng,
        significance=significance,
        certified=certified,
        stop=stop,
        how=execution_of(how, fields),
    )
    return result


def continue_audit(
    case: AuditCase,
    before: PriorEvidence,
    *,
    runs: int,
    rng: np.random.Generator,
    significance: float = 0.05,
    certified: float = math.inf,
    stop: Stop | None = None,
    first_block: int = _FIRST_BLOCK,
    how: Execution | None = None,
    **fields: Unpack[ExecutionFields],
) -> tuple[AuditResult, PriorEvidence]:
    """Return what `case` shows on top of the wealth that earlier audits left, and what the next one continues with.

    Parameters are as for `audit_sequentially`. The bound, its power and its ceiling are those of all the runs so far;
    counts, ROC and `runs` describe the runs of this call. No block but the last has fewer runs than half of
    `first_block`: a function with a slow start is better called rarely.
    Guarantee: as for `audit_sequentially`, with one `significance` for all the calls together, however many follow,
    if each call draws fresh randomness: a product of supermartingales is a supermartingale.
    Raises: ValueError: `case` has another relation than the claim of `before`.

    >>> from audits import PriorEvidence
    >>> from audits.examples import CLAIM, HALF_NOISE
    >>> nothing = PriorEvidence.nothing(CLAIM)
    >>> today, left = continue_audit(HALF_NOISE, nothing, runs=20, rng=np.random.default_rng(0))
    >>> tomorrow, _ = continue_audit(HALF_NOISE, left, runs=500, rng=np.random.default_rng(1))
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
    execution = execution_of(how, fields)
    blocks = Execution(jobs=execution.jobs, chunk_runs=execution.chunk_runs, scheduler=execution.scheduler)
    state, index, phase = Betting.fresh(case, before), 0, f"bet {before.runs}"
    while state.runs < runs and not (_refuted if stop is None else stop)(state):
        block_rng, learner_rng = rng.spawn(2)
        size = max(first_block // 2, int(_GROWTH * state.runs)) if state.runs else first_block
        block = _stored_block(execution.store, phase, index)
        if block is None:
            block = run_trials(case, min(size, runs - state.runs), block_rng, keep=whole, how=blocks)
            if execution.store is not None:
                execution.store.save(phase, index, block)
        index += 1
        state = state.advanced(block, case.score, learners_of(state, learner_rng), significance)
        if execution.progress is not None:
            execution.progress(state.runs, runs)
    return _result(case, state, runs, significance, certified, time.perf_counter() - started), state.evidence


def audit_anytime(
    function: Run,
    *,
    neighbours: tuple[Any, Any],
    claim: Claim,
    runs: int,
    rng: np.random.Generator,
    significance: float = 0.05,
    stop: Stop | None = None,
    how: Execution | None = None,
    **fields: Unpack[ExecutionFields],
) -> AuditResult:
    """Return what at most `runs` runs of a user-supplied function show, stopping as soon as the claim is refuted.

    `function` is called as for `audit`; `stop`, `how` and the guarantee are those of `audit_sequentially`.

    >>> from audits.examples import CLAIM, half_noise
    >>> rng = np.random.default_rng(1)
    >>> result = audit_anytime(half_noise, neighbours=(0.0, 1.0), claim=CLAIM, runs=20_000, rng=rng)
    >>> result.verdict, result.runs < 1_000
    ('violation', True)
    """
    return audit_sequentially(
        function_case(function, neighbours, claim),
        claim,
        runs=runs,
        rng=rng,
        significance=significance,
        stop=stop,
        how=execution_of(how, fields),
    )


def _refuted(state: Betting) -> bool:
    """Return whether the claim is refuted."""
    return state.stopped is not None


def _stored_block(store: Store | None, phase: str, index: int) -> Observed | None:
    """Return a block of an interrupted audit, or None."""
    return None if store is None else store.load(phase, index)


def _result(
    case: AuditCase, state: Betting, runs: int, significance: float, certified: float, seconds: float
) -> AuditResult:
    """Return the audit's result from its last state."""
    claim = state.claim
    leader = int(np.argmax([process.wealth.max() for process in state.processes]))
    scores, labels = state.scores[leader], state.labels
    counts = _counts(scores, labels, claim.epsilon)
    bound = state.bound(significance)
    epsilon = bound(significance)
    so_far = state.before.runs + state.runs
    guesses = counts.guesses * so_far // state.runs
    power = wealth_power(guesses, so_far, claim.epsilon, claim.delta, significance)
    return AuditResult(
        name=case.name,
        verdict=verdict_of(epsilon, power, claim, certified),
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
        epsilon_at=bound,
    )


def _counts(scores: Array, labels: Array, epsilon: float) -> Counts:
    """Return the counts of the runs scored nearly as high as `epsilon`, or as the bettor's own high scores."""
    size = np.abs(scores)
    guessed = size >= _NEARLY * min(epsilon, float(np.quantile(size, 0.95)))
    second = scores > 0
    return Counts(
        runs=len(labels),
        guesses=int(guessed.sum()),
        correct=int((guessed & (second == labels)).sum()),
        true_positives=int((second & labels).sum()),
        false_positives=int((second & ~labels).sum()),
        positives=int(labels.sum()),
        negatives=int((~labels).sum()),
    )
