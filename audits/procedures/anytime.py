"""The anytime audit: runs in small, growing blocks, each scored by what earlier blocks taught; it may stop at any time.

The blocks that are learned from stop growing at 20,000 runs; memory is the outputs of those runs. A later audit on
fresh randomness may continue with the wealth that an earlier audit left.
"""

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from audits.bounds.error_rates import guess_counts, perfect_counts
from audits.bounds.guessing import guessing_bound
from audits.bounds.mu_process import MuProcess
from audits.decision.earned import nothing_earned
from audits.decision.events import roc_points
from audits.decision.power import ceiling
from audits.decision.seen import seen_in
from audits.decision.verdict import verdict_of
from audits.experiment.execution import PLAIN, Execution, Observed, Store
from audits.experiment.function_case import Arithmetic, FunctionCase, function_case
from audits.experiment.identity import stored_under
from audits.experiment.neighbours import pair_remarks
from audits.experiment.probes import Probed, probe
from audits.experiment.readings import reading_of
from audits.experiment.trials import generator_of, run_trials, together, whole
from audits.outputs.calls import CallRaisedError
from audits.procedures.betting import Betting, bits_of, learners_of
from audits.procedures.earning import Attack, cells_of, earned_power
from audits.procedures.low_bits import leak_sentence, rounding_remarks
from audits.procedures.prior_evidence import PriorEvidence
from audits.procedures.replayed import replayed
from audits.replay.fine_columns import with_exact_columns
from dpaudit import AuditCase, AuditResult, Claim
from dpaudit.arguments import named_arguments
from dpaudit.checks import count, open_probability
from dpaudit.model.audit_result import Counts, LowerBound, MeasuredBound, Power
from dpaudit.model.claim import require_finite
from dpaudit.model.mechanism import Array

Stop = Callable[[Betting], bool]
"""stop(state) -> whether to end the audit after this block."""

_FIRST_BLOCK = 8
_GROWTH = 0.12
_NEARLY = 0.9
_SEQUENTIAL_PRICE = 2
"""A control must be caught by one count of so many times fewer runs: bets need more runs than a count does."""


@named_arguments
def audit_sequentially(
    case: AuditCase,
    claim: Claim,
    *,
    runs: int,
    rng: np.random.Generator,
    significance: float = 0.01,
    certified: float = math.inf,
    stop: Stop | None = None,
    control_runs: int | None = None,
    how: Execution = PLAIN,
) -> AuditResult:
    """Return what at most `runs` runs of `case` show, stopping as soon as the claim is refuted.

    `stop` may end the audit after any block for any reason, `lambda state: False` never; the default stops when
    the wealth against the claim has reached 1 / significance. Then the case is replayed on fixed streams, as `audit`
    does; each confirmation takes as many calls at most as the audit has runs, and Ctrl-C leaves the replay out.
    With a `store` in `how`, the same case and seed continue the audit, with more `runs` if wanted; stored blocks are
    not run again. Outputs that are not arrays of numbers cannot be stored.
    Guarantee: if the case is (epsilon, delta)-private and runs are independent, `epsilon_lower` exceeds epsilon, and
    the verdict is a violation of a true claim, with probability at most `significance`, at every stopping time. The
    counts and the ROC describe the bettor with the larger wealth and decide nothing; its guesses are the runs scored
    nearly as high as the claim, or as its own high scores. What a replay confirms is as for `audit`.

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
        control_runs=control_runs,
        how=how,
    )
    most, seconds = result.runs, how.run_seconds
    try:
        arithmetic = case.arithmetic if isinstance(case, FunctionCase) else "exact"
        looked = replayed(
            case.run, case.neighbours, None, claim, runs=most, rng=rng, seconds=seconds, arithmetic=arithmetic
        )
        return looked.applied(result, case.neighbours)
    except KeyboardInterrupt:
        return result


def continue_audit(
    case: AuditCase,
    before: PriorEvidence,
    *,
    runs: int,
    rng: np.random.Generator,
    significance: float = 0.01,
    certified: float = math.inf,
    stop: Stop | None = None,
    first_block: int = _FIRST_BLOCK,
    control_runs: int | None = None,
    how: Execution = PLAIN,
) -> tuple[AuditResult, PriorEvidence]:
    """Return what `case` shows on top of the wealth that earlier audits left, and what the next one continues with.

    Parameters are as for `audit_sequentially`, `control_runs` as for `audit_case`. The bound and its ceiling are those
    of all the runs so far; counts, ROC, power and `runs` describe the runs of this call. Ctrl-C ends the audit with the
    result so far, which is as valid as at any other time. No block but the last has fewer runs than half of
    `first_block`: a function with a slow start is better called rarely.
    Guarantee: as for `audit_sequentially`, with one `significance` for all the calls together, however many follow,
    if each call draws fresh randomness: a product of supermartingales is a supermartingale.
    Raises: ValueError: `case` has another relation than the claim of `before`.

    >>> from audits.procedures.prior_evidence import PriorEvidence
    >>> from audits.examples import CLAIM, HALF_NOISE
    >>> nothing = PriorEvidence.nothing(CLAIM)
    >>> today, left = continue_audit(HALF_NOISE, nothing, runs=20, rng=np.random.default_rng(0))
    >>> tomorrow, _ = continue_audit(HALF_NOISE, left, runs=500, rng=np.random.default_rng(1))
    >>> today.verdict == "violation", tomorrow.verdict
    (False, 'violation')
    """
    started = time.perf_counter()
    settings = _Settings(runs=runs, significance=significance, first_block=first_block, most=control_runs)
    settings.require(before.claim, rng)
    if case.relation != before.claim.neighbours:
        wanted = before.claim.neighbours
        raise ValueError(f"Expected neighbours of the claim's relation {wanted!r}, got {case.relation!r}.")
    facts = ("anytime", before.to_dict(), significance, certified, first_block)
    execution = stored_under(how, case, before.claim, rng, *facts)
    probed = probe(case, runs, execution.run_seconds)
    subject = probed.case
    ending = _Ending(settings=settings, certified=certified, probed=probed, rng=rng, started=started)
    if probed.raised:
        return ending.result(subject, Betting.fresh(subject, before), execution), before
    play = partial(
        _played,
        before=before,
        settings=settings,
        stop=_refuted if stop is None else stop,
        how=how,
        rounded=probed.rounded,
    )
    try:
        state = play(subject, rng=rng)
    except CallRaisedError:
        if case.score is None:
            raise
        subject = replace(subject, score=None)
        state = play(subject, rng=rng.spawn(1)[0])
    return ending.result(subject, state, execution), state.evidence


@dataclass(frozen=True, slots=True, kw_only=True)
class _Settings:
    """The numbers of an audit: its runs, significance, runs of the first block, and the most runs of its controls."""

    runs: int
    significance: float
    first_block: int = _FIRST_BLOCK
    most: int | None = None

    def require(self, claim: Claim, rng: np.random.Generator) -> None:
        """Refuse numbers out of range, and a claim or generator that an audit cannot have."""
        generator_of(rng)
        require_finite(claim, "an audit")
        count("runs", self.runs)
        count("first_block", self.first_block, at_least=2)
        open_probability("significance", self.significance)
        if self.most is not None:
            count("control_runs", self.most, at_least=0)


def _played(
    case: AuditCase,
    *,
    before: PriorEvidence,
    settings: _Settings,
    rng: np.random.Generator,
    stop: Stop,
    how: Execution,
    rounded: bool,
) -> Betting:
    """Return the state after the last block: all runs, an ending by `stop`, or Ctrl-C."""
    blocks = replace(how, progress=None, store=None)
    reading = reading_of(case, how)
    state, index, phase = Betting.fresh(case, before), 0, f"bet {before.runs}"
    runs, first_block = settings.runs, settings.first_block
    while state.runs < runs and not stop(state):
        block_rng, learner_rng = rng.spawn(2)
        size = max(first_block // 2, int(_GROWTH * state.runs)) if state.runs else first_block
        try:
            size = min(size, runs - state.runs)
            fresh = partial(run_trials, case, size, block_rng, keep=whole, how=blocks)
            block = _block(how.store, f"{phase} of {size}", index, reading.restored, fresh)
        except KeyboardInterrupt:
            if state.runs == 0:
                raise
            return replace(state, interrupted=True)
        index += 1
        state = state.advanced(
            block,
            case.score,
            learners_of(state, learner_rng),
            bits_of(state, rounded=rounded, exact=_is_exact(case)),
            settings.significance,
        )
        if how.progress is not None:
            how.progress(state.runs, runs)
    return state


@named_arguments
def audit_anytime(
    function: Callable[..., Any],
    data: Any = None,
    *,
    neighbours: tuple[Any, Any] | None = None,
    unit: str | None = None,
    claim: Claim,
    runs: int,
    rng: np.random.Generator,
    significance: float = 0.01,
    stop: Stop | None = None,
    arithmetic: Arithmetic = "exact",
    control_runs: int | None = None,
    how: Execution = PLAIN,
) -> AuditResult:
    """Return what at most `runs` runs of a user-supplied function show, stopping as soon as the claim is refuted.

    `function` is called and replayed as for `audit`, on `data` or `neighbours`; `unit` and `arithmetic` have the same
    meaning. `stop`, `how` and the guarantee are those of `audit_sequentially`. Where the last bits of the outputs leak,
    a fiftieth of the wealth bets on them.

    >>> from audits.examples import CLAIM, half_noise
    >>> rng = np.random.default_rng(1)
    >>> result = audit_anytime(half_noise, neighbours=(0.0, 1.0), claim=CLAIM, runs=20_000, rng=rng)
    >>> result.verdict, result.runs < 1_000
    ('violation', True)
    """
    if data is None and unit is None and neighbours is not None:
        of_pair = pair_remarks(neighbours, claim)
        case = with_exact_columns(function_case(function, neighbours, claim, arithmetic=arithmetic), how.run_seconds)
        result = audit_sequentially(
            case,
            claim,
            runs=runs,
            rng=rng,
            significance=significance,
            stop=stop,
            control_runs=control_runs,
            how=how,
        )
        return replace(result, remarks=(*of_pair, *result.remarks))
    _Settings(runs=runs, significance=significance, most=control_runs).require(claim, rng)
    seconds = how.run_seconds
    looked = replayed(
        function, neighbours, data, claim, unit=unit, runs=runs, rng=rng, seconds=seconds, arithmetic=arithmetic
    )
    pair, remarks = looked.attacked((), claim, runs=runs, rng=rng)
    result, _ = continue_audit(
        looked.exactly_read(function_case(function, pair, claim, arithmetic=arithmetic)),
        PriorEvidence.nothing(claim),
        runs=runs,
        rng=rng,
        significance=significance,
        stop=stop,
        control_runs=control_runs,
        how=how,
    )
    return looked.applied(replace(result, remarks=(*remarks, *result.remarks)), pair)


def _refuted(state: Betting) -> bool:
    """Return whether the claim is refuted."""
    return state.stopped is not None


def _block(
    store: Store | None,
    phase: str,
    index: int,
    restored: Callable[[Observed], Observed],
    fresh: Callable[[], Observed],
) -> Observed:
    """Return a block that the store holds, or run it and store it."""
    stored = None if store is None else store.load(phase, index)
    if stored is not None:
        return restored(stored)
    block = fresh()
    if store is not None:
        store.save(phase, index, block)
    return block


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Ending:
    """What turns the last state of an audit into its result."""

    settings: _Settings
    certified: float
    probed: Probed
    rng: np.random.Generator
    started: float

    def result(self, case: AuditCase, state: Betting, how: Execution) -> AuditResult:
        """Return the audit's result."""
        claim = state.claim
        scores, labels = state.scores[state.leader], state.labels
        bound = state.bound(self.settings.significance)
        epsilon = bound(self.settings.significance)
        remarks, judged = self._remarks(case, state)
        power = self._power(case, state, how) if judged and epsilon <= min(claim.epsilon, self.certified) else None
        power = nothing_earned() if power is None else power
        return AuditResult(
            name=case.name,
            verdict=verdict_of(epsilon, power, claim, self.certified),
            epsilon_lower=epsilon,
            delta=claim.delta,
            significance=self.settings.significance,
            runs=state.stopped or max(1, state.runs),
            ceiling=ceiling(
                guessing_bound, state.before.runs + self.settings.runs, claim.delta, self.settings.significance
            ),
            power=power,
            view=case.view,
            attack=_attack_of(case, state),
            bound="e_process",
            bounds=(
                LowerBound(name="e_process", epsilon=epsilon, significance=self.settings.significance),
                *self._bit_bounds(state),
            ),
            counts=_counts(scores, labels, claim.epsilon),
            measured=_measured(state, self.settings.significance),
            seed=None,
            claim=claim,
            certified=self.certified,
            description=case.description,
            seconds=time.perf_counter() - self.started,
            roc=roc_points(scores, labels) if len(labels) else (),
            remarks=remarks,
            epsilon_at=bound,
        )

    def _remarks(self, case: AuditCase, state: Betting) -> tuple[tuple[str, ...], bool]:
        """Return the remarks, and whether the runs can be judged where no violation was found."""
        if self.probed.raised:
            return (self.probed.nothing_released, *self.probed.remarks), False
        seen = seen_in(together(*state.seen).kept if state.seen and case.score is None else None)
        stopped = (f"Interrupted after {state.runs} of {self.settings.runs} runs.",) if state.interrupted else ()
        decides, exact = bool(state.shares[-1]), _is_exact(case)
        bounds = self._bit_bounds(state)
        leaks = tuple(leak_sentence(bound.epsilon, decides=decides, coarse=exact) for bound in bounds)
        rounding = rounding_remarks(bounds, rounded=self.probed.rounded, decides=decides and not exact)
        return (*stopped, *self.probed.remarks, *seen.remarks, *leaks, *rounding), self.probed.sound and seen.readable

    def _bit_bounds(self, state: Betting) -> tuple[LowerBound, ...]:
        """Return the bound that last bits alone show, where it exceeds the claim."""
        epsilon = state.bits_lower(self.settings.significance)
        level = self.settings.significance * (float(state.shares[-1]) or 1.0)
        bound = LowerBound(name="low_bits", epsilon=epsilon, significance=level)
        return (bound,) if epsilon > state.claim.epsilon else ()

    def _power(self, case: AuditCase, state: Betting, how: Execution) -> Power:
        """Return the power of the audit's last attack, counted once after half of the runs."""
        score = case.score
        if score is None:
            learned = learners_of(state, self.rng.spawn(1)[0])[int(np.argmax(state.credit))]
            if learned is None:
                return nothing_earned()
            score = learned
        attack = Attack(
            score=score,
            event=None,
            read=reading_of(case, how),
            scores=state.scores[0],
            labels=state.labels,
            significance=self.settings.significance,
            counted=len(state.labels) // _SEQUENTIAL_PRICE,
        )
        return earned_power(
            case,
            state.claim,
            attack,
            cells_of(state.seen) if case.score is None else (None, None, state.labels),
            runs=state.runs,
            delta=state.claim.delta,
            most=self.settings.most,
            rng=self.rng,
            how=how,
        )


def _is_exact(case: AuditCase) -> bool:
    """Return whether a function's claim takes exact arithmetic for granted."""
    return isinstance(case, FunctionCase) and case.arithmetic == "exact"


def _measured(state: Betting, significance: float) -> tuple[MeasuredBound, ...]:
    """Return the bound on mu that holds whenever an audit stops; its scores were taught by earlier blocks."""
    process = MuProcess.fresh().extended(state.scores[0], state.labels)
    return (
        MeasuredBound(
            measure="mu",
            value=process.lower(significance),
            statistic="cells at any time",
            samples=state.runs,
            significance=significance,
        ),
    )


def _attack_of(case: AuditCase, state: Betting) -> str:
    """Return the name of the attack."""
    if state.led_by_bits:
        return "last bits"
    return "given score and learners" if case.score is not None else "learners"


def _counts(scores: Array, labels: Array, epsilon: float) -> Counts:
    """Return the counts of the runs scored nearly as high as `epsilon`, or as the bettor's own high scores."""
    if len(labels) == 0:
        return perfect_counts(0)
    size = np.abs(scores)
    guessed = size >= _NEARLY * min(epsilon, float(np.quantile(size, 0.95)))
    return guess_counts(labels, np.where(guessed, np.where(scores > 0, 1, -1), 0), scores > 0)
