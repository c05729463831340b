"""The anytime audit: runs in small, growing blocks, each scored by what earlier blocks taught; it may stop at any time.

The blocks that are learned from stop growing at 20,000 runs; memory is the outputs of those runs. A later audit on
fresh randomness may continue with the wealth that an earlier audit left.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from audits.bounds.error_rates import guess_counts, perfect_counts
from audits.bounds.guessing import guessing_bound
from audits.bounds.mu_process import MuProcess
from audits.decision.earned import nothing_earned
from audits.decision.events import roc_points
from audits.decision.power import ceiling
from audits.decision.results import nothing_shown, verdict_of
from audits.decision.seen import seen_in
from audits.experiment.execution import Observed
from audits.experiment.function_case import FunctionCase
from audits.experiment.identity import stored_under
from audits.experiment.probes import Probed, probe
from audits.experiment.readings import reading_of
from audits.experiment.settings import PLAIN, Settings, require_relation, require_test
from audits.experiment.trials import run_trials, together, whole
from audits.outputs.calls import CallRaisedError
from audits.procedures.beside import leak_sentence, rounding_remarks
from audits.procedures.betting import Betting, bits_of, learners_of
from audits.procedures.earning import Attack, cells_of, earned_power
from audits.procedures.prior_evidence import PriorEvidence
from dpaudit import AuditCase, AuditResult, Claim
from dpaudit.checks import count
from dpaudit.model.audit_result import Counts, LowerBound, MeasuredBound, Power
from dpaudit.model.measures.claims import MeasuredClaim
from dpaudit.model.mechanism import Array

Stop = Callable[[Betting], bool]
"""stop(state) -> whether to end the audit after this block."""

_FIRST_BLOCK = 8
_GROWTH = 0.12
_NEARLY = 0.9
_SEQUENTIAL_PRICE = 2
"""A control must be caught by one count of so many times fewer runs: bets need more runs than a count does."""


def when_refuted(state: Betting) -> bool:
    """Return whether the claim is refuted: the wealth against it has reached 1 / significance.

    >>> from audits import audit
    >>> from audits.examples import CLAIM, half_noise
    >>> rng = np.random.default_rng(1)
    >>> result = audit(half_noise, neighbours=(0.0, 1.0), claim=CLAIM, runs=20_000, rng=rng, stop=when_refuted)
    >>> result.verdict, result.runs < 1_000
    ('violation', True)
    """
    return state.stopped is not None


def continue_audit(
    case: AuditCase,
    before: PriorEvidence,
    *,
    runs: int,
    rng: np.random.Generator,
    significance: float = 0.01,
    stop: Stop = when_refuted,
    first_block: int = _FIRST_BLOCK,
    how: Settings = PLAIN,
) -> tuple[AuditResult, PriorEvidence]:
    """Return what at most `runs` runs of `case` show on top of the wealth that earlier audits left, and the wealth now.

    `stop` may end the audit after any block for any reason, `lambda state: False` never. The bound and its ceiling are
    those of all the runs so far; counts, ROC, power and `runs` describe the runs of this call. Ctrl-C ends the audit
    with the result so far, which is as valid as at any other time. No block but the last has fewer runs than half of
    `first_block`: a function with a slow start is better called rarely. With a `store` in `how`, the same case and seed
    continue the audit, with more `runs` if wanted; stored blocks are not run again. Outputs that are not arrays of
    numbers cannot be stored.
    Guarantee: if the case is (epsilon, delta)-private and runs are independent, `epsilon_lower` exceeds epsilon, and
    the verdict is a violation of a true claim, with probability at most `significance`, at every stopping time, and for
    all the calls together, however many follow, if each draws fresh randomness: a product of supermartingales is a
    supermartingale. The counts and the ROC describe the bettor with the larger wealth and decide nothing; its guesses
    are the runs scored nearly as high as the claim, or as its own high scores.
    Raises: ValueError: `case` has another relation than the claim of `before`, that claim is not one in epsilon and
        delta, or `how` has a `learner` or a `delta`, which belong to audits of fixed size.

    >>> from audits.procedures.prior_evidence import PriorEvidence
    >>> from audits.examples import CLAIM, HALF_NOISE
    >>> nothing = PriorEvidence.nothing(CLAIM)
    >>> today, left = continue_audit(HALF_NOISE, nothing, runs=20, rng=np.random.default_rng(0))
    >>> tomorrow, _ = continue_audit(HALF_NOISE, left, runs=500, rng=np.random.default_rng(1))
    >>> today.verdict == "violation", tomorrow.verdict
    (False, 'violation')
    """
    require_betting(before.claim, how)
    require_relation(case, before.claim)
    require_test(before.claim, runs, rng, significance)
    count("first_block", first_block, at_least=2)
    started = time.perf_counter()
    audited = _Sequential(
        before=before,
        runs=runs,
        significance=significance,
        stop=stop,
        first_block=first_block,
        probed=probe(case, runs, how.run_seconds),
        rng=rng,
        how=stored_under(how, case, before.claim, rng, "anytime", before.to_dict(), significance, first_block),
    )
    result, evidence = audited.outcome()
    return replace(result, seconds=time.perf_counter() - started), evidence


def require_betting(claim: Claim, how: Settings) -> None:
    """Refuse what an audit by bets cannot judge."""
    if isinstance(claim, MeasuredClaim):
        raise ValueError(f"Expected a claim in epsilon and delta for an audit that may stop early, got {claim}.")
    for name in ("learner", "delta"):
        if getattr(how, name) is not None:
            raise ValueError(f"Expected {name} to be left out of an audit that may stop early: it bets at the claim.")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Sequential:
    """An audit by blocks, one after another, on top of the evidence of earlier audits."""

    before: PriorEvidence
    runs: int
    significance: float
    stop: Stop
    first_block: int
    probed: Probed
    rng: np.random.Generator
    how: Settings

    def outcome(self) -> tuple[AuditResult, PriorEvidence]:
        """Return the audit's result and the evidence after it; a score that raised is left out."""
        case = self.probed.case
        if self.probed.raised:
            return self.result(case, Betting.fresh(case, self.before)), self.before
        try:
            state = self.played(case, self.rng)
        except CallRaisedError:
            if case.score is None:
                raise
            case = replace(case, score=None)
            state = self.played(case, self.rng.spawn(1)[0])
        return self.result(case, state), state.evidence

    def played(self, case: AuditCase, rng: np.random.Generator) -> Betting:
        """Return the state after the last block: all runs, an ending by `stop`, or Ctrl-C."""
        state, index = Betting.fresh(case, self.before), 0
        while state.runs < self.runs and not self.stop(state):
            block_rng, learner_rng = rng.spawn(2)
            try:
                block = self._block(case, state.runs, index, block_rng)
            except KeyboardInterrupt:
                if state.runs == 0:
                    raise
                return replace(state, interrupted=True)
            index += 1
            learners = learners_of(state, learner_rng)
            bits = bits_of(state, rounded=self.probed.rounded, exact=_is_exact(case))
            state = state.advanced(block, case.score, learners, bits, self.significance)
            if self.how.progress is not None:
                self.how.progress(state.runs, self.runs)
        return state

    def _block(self, case: AuditCase, done: int, index: int, rng: np.random.Generator) -> Observed:
        """Return the next block after `done` runs, which the store holds or keeps."""
        size = max(self.first_block // 2, int(_GROWTH * done)) if done else self.first_block
        size, store = min(size, self.runs - done), self.how.store
        phase = f"bet {self.before.runs} of {size}"
        stored = None if store is None else store.load(phase, index)
        if stored is not None:
            return reading_of(case, self.how).restored(stored)
        block = run_trials(case, size, rng, keep=whole, how=self.how.aside())
        if store is not None:
            store.save(phase, index, block)
        return block

    def result(self, case: AuditCase, state: Betting) -> AuditResult:
        """Return the audit's result."""
        claim = state.claim
        scores, labels = state.scores[state.leader], state.labels
        epsilon = state.lower(self.significance)
        remarks, judged = self._remarks(case, state)
        power = self._power(case, state) if judged and epsilon <= min(claim.epsilon, self.how.certified) else None
        power = nothing_earned() if power is None else power
        runs, level = state.stopped or max(1, state.runs), self.significance
        return replace(
            nothing_shown(case, claim, self.how, runs=runs, delta=claim.delta, significance=level),
            verdict=verdict_of(epsilon, power, claim, self.how.certified),
            epsilon_lower=epsilon,
            ceiling=ceiling(guessing_bound, state.before.runs + self.runs, claim.delta, level),
            power=power,
            attack=_attack_of(case, state),
            bound="e_process",
            bounds=(LowerBound(name="e_process", epsilon=epsilon, significance=level), *self._bit_bounds(state)),
            counts=_counts(scores, labels, claim.epsilon),
            measured=_measured(state, level),
            roc=roc_points(scores, labels) if len(labels) else (),
            remarks=remarks,
        )

    def _remarks(self, case: AuditCase, state: Betting) -> tuple[tuple[str, ...], bool]:
        """Return the remarks, and whether the runs can be judged where no violation was found."""
        if self.probed.raised:
            return (self.probed.nothing_released, *self.probed.remarks), False
        seen = seen_in(together(*state.seen).kept if state.seen and case.score is None else None)
        stopped = (f"Interrupted after {state.runs} of {self.runs} runs.",) if state.interrupted else ()
        decides, exact = bool(state.shares[-1]), _is_exact(case)
        bounds = self._bit_bounds(state)
        leaks = tuple(leak_sentence(bound.epsilon, decides=decides, coarse=exact) for bound in bounds)
        rounding = rounding_remarks(bounds, rounded=self.probed.rounded, decides=decides and not exact)
        return (*stopped, *self.probed.remarks, *seen.remarks, *leaks, *rounding), self.probed.sound and seen.readable

    def _bit_bounds(self, state: Betting) -> tuple[LowerBound, ...]:
        """Return the bound that last bits alone show, where it exceeds the claim."""
        epsilon = state.bits_lower(self.significance)
        level = self.significance * (float(state.shares[-1]) or 1.0)
        bound = LowerBound(name="low_bits", epsilon=epsilon, significance=level)
        return (bound,) if epsilon > state.claim.epsilon else ()

    def _power(self, case: AuditCase, state: Betting) -> Power:
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
            read=reading_of(case, self.how),
            scores=state.scores[0],
            labels=state.labels,
            significance=self.significance,
            counted=len(state.labels) // _SEQUENTIAL_PRICE,
        )
        return earned_power(
            case,
            state.claim,
            attack,
            cells_of(state.seen) if case.score is None else (None, None, state.labels),
            runs=state.runs,
            delta=state.claim.delta,
            rng=self.rng,
            how=self.how,
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
