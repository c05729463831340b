"""The audit of fixed size: the first runs teach the attack and choose its event; the other runs are counted."""

import math
import time
from dataclasses import dataclass, replace

import numpy as np

from audits.bounds.e_process import e_process_bound
from audits.bounds.error_rates import error_rate_bound, perfect_counts
from audits.bounds.gaussian import gaussian_bound, gaussian_rate_bound
from audits.bounds.guessing import guessing_bound
from audits.decision.earned import nothing_earned
from audits.decision.events import count_guesses, roc_points
from audits.decision.measured import measured_of
from audits.decision.other_measures import CHOOSING, cut_against, judged_by_event, runs_to_refute
from audits.decision.power import Bound, ceiling
from audits.decision.preparation import Counted, Prepared, prepare
from audits.decision.results import nothing_shown, verdict_of
from audits.experiment.function_case import FunctionCase
from audits.experiment.identity import stored_under
from audits.experiment.probes import Probed, probe
from audits.experiment.settings import PLAIN, Settings, require_relation, require_test
from audits.experiment.trials import seed_of
from audits.outputs.calls import CallRaisedError
from audits.procedures.beside import LOW_BITS_SHARE, rare_share, rounding_remarks, with_low_bits, with_rare_values
from audits.procedures.earning import Attack, earned_power
from audits.procedures.further_runs import level_of, with_all_fields
from dpaudit import AuditCase, AuditResult, Claim, implied_claim
from dpaudit.model.audit_result import Counts, LowerBound, MeasureTest, Power
from dpaudit.model.measures.claims import MeasuredClaim
from dpaudit.model.mechanism import Array

_IN_MEASURE = 0.9
"""The part of the significance of a claim in its own measure that its test has; an implied epsilon has the rest."""

DECLARED = "the output laws are Gaussian, as declared"
"""The assumption of the Gaussian bound about the code, where the declaration is Gaussian."""


def audit_of_fixed_size(
    case: AuditCase,
    claim: Claim,
    *,
    runs: int,
    rng: np.random.Generator,
    significance: float = 0.01,
    how: Settings = PLAIN,
) -> AuditResult:
    """Return what attacks on all runs of `case` show; guarantee, verdicts and errors are those of `audit`.

    >>> from audits.examples import CLAIM, HALF_NOISE
    >>> audit_of_fixed_size(HALF_NOISE, CLAIM, runs=2_000, rng=np.random.default_rng(0)).verdict
    'violation'
    """
    started = time.perf_counter()
    measured_claim = claim if isinstance(claim, MeasuredClaim) else None
    implied = claim if measured_claim is None else implied_claim(measured_claim, how.delta)
    require_test(implied, runs, rng, significance, at_least=4)
    require_relation(case, implied)
    experiment = _Experiment(
        claim=implied,
        measured_claim=measured_claim,
        runs=runs,
        delta=_level_of(case, implied, how),
        significance=significance,
        beside=level_of(case, significance) / (1 - LOW_BITS_SHARE),
        how=stored_under(how, case, claim, rng, "fixed size", runs, significance),
    )
    return replace(experiment.attacked(case, rng), claim=claim, seconds=time.perf_counter() - started)


def _level_of(case: AuditCase, claim: Claim, how: Settings) -> float:
    """Return the delta at which epsilon is bounded; settings that do not fit the case are refused."""
    level = claim.delta if how.delta is None else how.delta
    if level < claim.delta:
        raise ValueError(f"Expected delta={level} at or above the claim's {claim.delta}: below it nothing is claimed.")
    if how.learner is not None and case.score is not None:
        raise ValueError(
            f"Expected learner to be left out: case {case.name!r} has a score, which the audit takes. To learn one, "
            "remove the score: dataclasses.replace(case, score=None)."
        )
    return level


@dataclass(frozen=True, slots=True, kw_only=True)
class _Experiment:
    """An audit of fixed size, for any case.

    `beside` is the part of the significance that the deciding bounds leave to the attack on all fields. A claim in its
    own measure is `measured_claim`, and `claim` is what follows from it: it steers, and has a small part of the
    significance.
    """

    claim: Claim
    measured_claim: MeasuredClaim | None
    runs: int
    delta: float
    significance: float
    beside: float
    how: Settings

    def attacked(self, case: AuditCase, rng: np.random.Generator) -> AuditResult:
        """Return the audit of one case, its code probed first, and all fields attacked beside a given score."""
        probed = probe(case, self.runs, self.how.run_seconds)
        case = probed.case
        try:
            result = self.result(probed, rng)
        except CallRaisedError as error:
            if case.score is None:
                raise
            remark = f"A run raised {error.exception}: outcomes and outputs were attacked instead of the given score."
            retried = self.result(replace(probed, case=replace(case, score=None)), rng.spawn(1)[0])
            result = replace(retried, remarks=(remark, *retried.remarks))
        return result if self.how.control_runs == 0 else with_all_fields(result, case, rng.spawn(1)[0], self.how)

    def result(self, probed: Probed, rng: np.random.Generator) -> AuditResult:
        """Return the audit of one case that was probed."""
        case, how, rounded = probed.case, self.how, probed.rounded
        if probed.raised:
            tested = self._tested(perfect_counts(0), self.significance)
            remarks = probed.nothing_released, *probed.remarks
            return replace(self._nothing(case), remarks=remarks, tested=tested)
        floating = isinstance(case, FunctionCase) and case.arithmetic == "floating"
        share = self._share(case)
        prepared = prepare(case, self.runs, rng, share, how, self._target, rounded=rounded)
        bits_decide = prepared.low_bits is not None and (floating or prepared.low_bits.coarse)
        share *= 1 - LOW_BITS_SHARE if bits_decide else 1
        rare = share * rare_share(prepared.choice.promise, self._target[0]) * (prepared.choice.rare is not None)
        share -= rare
        prepared, counted = self._aimed(prepared, prepared.count(case, how), share)
        result = self._judged(probed, prepared, counted, share, rng)
        result = _with_beside(result, counted, rare, bits_decide=bits_decide, coarse=bits_decide and not floating)
        remarks = rounding_remarks(result.bounds, rounded=rounded, decides=floating)
        return replace(result, remarks=(*self._too_few(result), *result.remarks, *remarks))

    def _judged(
        self, probed: Probed, prepared: Prepared, counted: Counted, share: float, rng: np.random.Generator
    ) -> AuditResult:
        """Return what the main event of the attack shows on the counted runs, at a `share` of the significance."""
        case, scores, labels = probed.case, counted.scores, counted.labels
        counts = count_guesses(prepared.choice.event, scores, labels)
        shown = self._tested(counts, share)
        share *= 1.0 if shown is None else 1 - _IN_MEASURE
        decision = _decision(counts, self.claim, self.delta, share, gaussian=self._gaussian(case))
        epsilon = decision.deciding.epsilon
        attack = _attack(prepared, counted, decision, share if shown is None else shown.significance)
        refuted = epsilon > self._target[0] or (shown is not None and shown.refuted)
        judged = prepared.seen.readable and probed.sound and not refuted
        power = self._power(case, prepared, attack, counted.cells, rng) if judged else nothing_earned()
        measured = measured_of(scores[labels], scores[~labels], counts, self.significance, prepared.rng.spawn(1)[0])
        process, seed = e_process_bound(scores, labels, self.delta, self.significance), seed_of(rng)
        return replace(
            self._nothing(case),
            verdict=verdict_of(epsilon, power, self.claim, self.how.certified, shown),
            epsilon_lower=epsilon,
            ceiling=ceiling(decision.bound, counts.runs, self.delta, share),
            power=power,
            attack=prepared.choice.attack,
            bound=decision.deciding.name,
            bounds=(decision.deciding, *decision.others, process),
            counts=counts,
            seed=seed[0] if len(seed) == 1 and probed.repeatable else None,
            roc=roc_points(scores, labels),
            remarks=(*probed.remarks, *prepared.seen.remarks),
            measured=measured.bounds,
            curve=measured.curve,
            tested=shown,
        )

    def _too_few(self, result: AuditResult) -> tuple[str, ...]:
        """Return a remark on the runs that a claim in its own measure needs, where the audit had too few of them."""
        undecided = result.verdict != "violation" and result.power.repetitions
        if self.measured_claim is None or result.tested is None or not undecided:
            return ()
        counted = runs_to_refute(self.measured_claim, result.tested.significance)
        needed = 0 if counted is None else math.ceil(counted * self.runs / max(1, result.counts.runs))
        if needed <= self.runs:
            return ()
        about, epsilon = float(f"{needed:.2g}"), self.claim.epsilon
        return (
            f"With about {about:,.0f} runs, code with half the Gaussian noise that the claim needs would be caught; "
            f"the audit had {self.runs:,}. From the claim follows epsilon = {epsilon:.4g} at delta {self.delta:g}.",
        )

    def _aimed(self, prepared: Prepared, counted: Counted, share: float) -> tuple[Prepared, Counted]:
        """Return the attack with a threshold that aims at the measure of the claim, and the runs that chose no part."""
        if self.measured_claim is None:
            return prepared, counted
        first = int(CHOOSING * len(counted.labels))
        chosen, others = counted.part(slice(first)), counted.part(slice(first, None))
        level = share * _IN_MEASURE
        cut = cut_against(self.measured_claim, chosen.scores, chosen.labels, len(others.labels), level)
        choice = replace(prepared.choice, event=replace(prepared.choice.event, cut=cut))
        return replace(prepared, choice=choice), others

    def _tested(self, counts: Counts, share: float) -> MeasureTest | None:
        """Return the test of a claim in its own measure, None for a claim in epsilon and delta."""
        if self.measured_claim is None:
            return None
        return judged_by_event(self.measured_claim, counts, self.delta, share * _IN_MEASURE)

    @property
    def _target(self) -> tuple[float, float]:
        """The epsilon and delta that the audit would refute."""
        return min(self.claim.epsilon, self.how.certified), self.delta

    def _gaussian(self, case: AuditCase) -> bool:
        """Return whether a Gaussian bound may decide beside the guesses: the certificate proves the claim."""
        return case.gaussian and self.how.certified <= self.claim.epsilon

    def _share(self, case: AuditCase) -> float:
        """Return the significance of each bound that may decide."""
        level = self.significance - self.beside
        return level / 2 if self._gaussian(case) else level

    def _power(
        self, case: AuditCase, prepared: Prepared, attack: Attack, cells: Array | None, rng: np.random.Generator
    ) -> Power:
        """Return the power that an audit earned whose runs can be judged and show no violation."""
        return earned_power(
            case,
            self.claim,
            replace(attack, against=self.measured_claim),
            (prepared.cells, cells, attack.labels),
            runs=self.runs,
            delta=self.delta,
            rng=rng,
            how=self.how,
        )

    def _nothing(self, case: AuditCase) -> AuditResult:
        """Return the result before anything is counted."""
        claim, runs, level = self.claim, self.runs, self.significance
        return nothing_shown(case, claim, self.how, runs=runs, delta=self.delta, significance=level)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Decision:
    """The bound that decides, its value on the counts, and the values of the other bounds."""

    bound: Bound
    deciding: LowerBound
    others: tuple[LowerBound, ...]


def _attack(prepared: Prepared, counted: Counted, decision: _Decision, share: float) -> Attack:
    """Return the attack of one audit, with what it counted."""
    return Attack(
        score=prepared.choice.score,
        event=prepared.choice.event,
        read=prepared.read,
        scores=counted.scores,
        labels=counted.labels,
        significance=share,
        counted=len(counted.labels),
        gaussian=decision.bound is _declared_gaussian_bound,
    )


def _with_beside(
    result: AuditResult, counted: Counted, rare_share: float, *, bits_decide: bool, coarse: bool
) -> AuditResult:
    """Return the result with what rare values and last bits of the counted runs show beside the main event."""
    if counted.rare is not None:
        result = with_rare_values(result, counted.rare, counted.labels, rare_share)
    if counted.bit_guesses is None:
        return result
    return with_low_bits(result, counted.bit_guesses, counted.labels, decides=bits_decide, coarse=coarse)


def _decision(counts: Counts, claim: Claim, delta: float, significance: float, *, gaussian: bool) -> _Decision:
    """Return the guessing bound, or, where `gaussian` and the claim is not refuted, the declared Gaussian bound."""
    free = guessing_bound(counts, delta, significance)
    bound: Bound = guessing_bound
    if gaussian and free.epsilon <= claim.epsilon:
        bound = _declared_gaussian_bound
    deciding = bound(counts, delta, significance)
    every = (guessing_bound, error_rate_bound, gaussian_bound, gaussian_rate_bound)
    others = (other(counts, delta, significance) for other in every)
    return _Decision(
        bound=bound, deciding=deciding, others=tuple(other for other in others if other.name != deciding.name)
    )


def _declared_gaussian_bound(counts: Counts, delta: float, significance: float) -> LowerBound:
    """Return the Gaussian bound with the assumption that the code has the declared output laws."""
    return gaussian_bound(counts, delta, significance, assumption=DECLARED)
