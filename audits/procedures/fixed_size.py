"""The fixed-size audit: run two neighbours, attack their outputs, bound epsilon from below, give a verdict.

    audit(function, neighbours=(d0, d1), claim=claim, runs=20_000, rng=rng)      a user-supplied function
    audit_case(case, claim, runs=20_000, rng=rng)                                a case that an algorithm declares

The first runs teach the attack and choose its event; the other runs are counted.
"""

import math
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from audits.bounds.e_process import e_process_bound
from audits.bounds.error_rates import error_rate_bound, perfect_counts
from audits.bounds.gaussian import gaussian_bound, gaussian_rate_bound
from audits.bounds.guessing import guessing_bound
from audits.decision.earned import nothing_earned
from audits.decision.events import count_guesses, roc_points
from audits.decision.measured import measured_of
from audits.decision.other_measures import CHOOSING, cut_against, judged_by_event, runs_to_refute
from audits.decision.other_significance import CountedBound
from audits.decision.power import Bound, ceiling
from audits.decision.preparation import Counted, Learner, Prepared, prepare
from audits.decision.verdict import verdict_of
from audits.experiment.execution import PLAIN, Execution
from audits.experiment.function_case import Arithmetic, FunctionCase, function_case
from audits.experiment.identity import stored_under
from audits.experiment.neighbours import pair_remarks
from audits.experiment.probes import Probed, probe
from audits.experiment.trials import generator_of, seed_of
from audits.outputs.calls import CallRaisedError
from audits.procedures.all_fields import level_of, with_all_fields
from audits.procedures.earning import Attack, earned_power
from audits.procedures.low_bits import LOW_BITS_SHARE, rounding_remarks, with_low_bits
from audits.procedures.missing_noise import missing_noise
from audits.procedures.neighbour_search import Pair
from audits.procedures.rare_values import rare_share, with_rare_values
from audits.procedures.replayed import replayed
from audits.procedures.second_look import looked_again
from dpaudit import AuditCase, AuditResult, Claim, implied_claim
from dpaudit.arguments import named_arguments
from dpaudit.checks import count, open_probability, probability_below_one
from dpaudit.model.audit_result import Counts, LowerBound, MeasureTest, Power
from dpaudit.model.case import Score
from dpaudit.model.claim import require_finite
from dpaudit.model.measures.claims import MeasuredClaim
from dpaudit.model.mechanism import Array

_IN_MEASURE = 0.9
"""The part of the significance of a claim in its own measure that its test has; an implied epsilon has the rest."""

DECLARED = "the output laws are Gaussian, as declared"
"""The assumption of the Gaussian bound about the code, where the declaration is Gaussian."""


@named_arguments
def audit(
    function: Callable[..., Any],
    data: Any = None,
    *,
    neighbours: tuple[Any, Any] | None = None,
    unit: str | None = None,
    claim: Claim,
    runs: int,
    rng: np.random.Generator,
    significance: float = 0.01,
    score: Score | None = None,
    learner: Learner | None = None,
    delta: float | None = None,
    certified: float = math.inf,
    name: str = "function",
    view: str = "output",
    arithmetic: Arithmetic = "exact",
    pairs: Iterable[tuple[str, Pair]] = (),
    control_runs: int | None = None,
    how: Execution = PLAIN,
) -> AuditResult:
    """Return what attacks on `function`, and replays of it on fixed streams, show about its epsilon.

    With one data set, `data`, pairs of neighbours that cover it are tried: extreme, rare and missing values, each small
    count of a category, duplicates, no record, and values that no record has, which decide nothing; all rows with one
    value of the column `unit` are one person's record. `neighbours` gives a pair instead, and a
    remark where it may be none under the claim.
    `function(data, rng, n_runs)` returns the outputs of `n_runs` independent runs, runs axis first: an array, a dict of
    arrays, a data frame or a list of outputs of any type that `audits.outputs` reads; a function of (data, rng) or of
    (data) alone is called once a run. `score` turns outputs into one number a run, larger where the second data set is
    more likely; without one, `learner` (or the built-in one) makes one from runs that are not counted. A few calls
    before the audit probe whether the function draws from `rng`, a draw for each run, and leaves global state alone;
    what they show stands in `remarks`, and the audit is never *consistent* if its runs are no independent draws.
    Where the last bits of the outputs tell the data sets apart, a remark says so. "exact" `arithmetic` takes for
    granted, as the certificate of a mechanism with a floating-point sampler does, that noise behaves like the
    real-valued noise of its proof; digits below noise on a coarse grid are a finding all the same. With "floating" all
    last bits are. Such a finding has a tenth of the significance.
    With `pairs` of (name, pair), as `awkward_pairs` yields them, a search chooses the most promising one among them and
    `neighbours`, on runs of its own; the audit's runs are fresh.
    Guarantee, `control_runs`, `how` and errors: as for `audit_case`. What a replay confirms adds 1e-9 to the
    probability that right code is flagged; a bound of a replay with an assumption holds under that alone.

    >>> from audits.examples import CLAIM, half_noise
    >>> audit(half_noise, neighbours=(0.0, 1.0), claim=CLAIM, runs=2_000, rng=np.random.default_rng(1)).verdict
    'violation'
    """
    generator_of(rng)
    implied = implied_claim(claim, delta) if isinstance(claim, MeasuredClaim) else claim
    require_finite(implied, "an audit")
    count("runs", runs, at_least=4)
    seconds = how.run_seconds
    looked = replayed(
        function,
        neighbours,
        data,
        claim,
        unit=unit,
        runs=runs,
        rng=rng,
        seconds=seconds,
        arithmetic=arithmetic,
        delta=delta,
        of_pair=() if neighbours is None else pair_remarks(neighbours, claim),
    )
    pair, remarks = looked.attacked(pairs, implied, runs=runs, rng=rng, score=score)
    case = function_case(function, pair, claim, score=score, name=name, view=view, arithmetic=arithmetic)
    case = case if learner is not None else looked.exactly_read(case)
    result = audit_case(
        case,
        claim,
        runs=runs,
        rng=rng,
        significance=significance,
        learner=learner,
        delta=delta,
        certified=certified,
        control_runs=control_runs,
        how=how,
    )
    if looked.quick and learner is None and control_runs != 0 and not isinstance(claim, MeasuredClaim):
        result = looked_again(result, case, looked.rng.spawn(1)[0], how)
    return looked.applied(replace(result, remarks=(*remarks, *result.remarks)), pair)


@named_arguments
def audit_case(
    case: AuditCase,
    claim: Claim,
    *,
    runs: int,
    rng: np.random.Generator,
    significance: float = 0.01,
    learner: Learner | None = None,
    delta: float | None = None,
    certified: float = math.inf,
    control_runs: int | None = None,
    how: Execution = PLAIN,
) -> AuditResult:
    """Return what attacks on `case` show: a lower bound on epsilon at `delta`, and a verdict.

    The verdict is *violation* when the bound exceeds the claim's epsilon or `certified`, the upper bound that a
    certificate proves. The bound against the claim has no assumption. Where the case is Gaussian and the certificate
    proves the claim, a Gaussian bound stands beside it, each at half the significance: it refutes the certificate's
    *declaration*, and bounds epsilon only if the output laws are Gaussian, as its assumption says. Without a violation
    the verdict is *consistent* if a gross violation at this pair is excluded, or was caught on the same code with less
    noise (gross: twice the claim's epsilon, or one nat above it if that is more); *not_refuted* if its
    attack would flag a control that is stretched from the code's own behaviour; else *inconclusive*. `power` says
    what was measured. A control takes at most `control_runs` runs (default: as many as `runs` up to 2,000, or a
    twentieth if that is more, and a fifth instead of as many where each run is a call); 0 makes none.
    Guarantee: if `case` is (epsilon, delta)-private and its runs are independent, `epsilon_lower` exceeds epsilon with
    probability at most `significance`, for a bound with an assumption only under that; and code that is what its
    certificate declares is flagged with probability at most `significance`. Each other member of `bounds` holds alone,
    at its own significance. A given score reads what is declared: beside it, a learner attacks all fields of the view
    with fresh runs, a tenth as many, at a part of `significance` (1e-9, or a hundredth of a smaller one) that the
    other deciding bounds leave to it; without controls (`control_runs` 0) it is left out. `ceiling` is the bound of an
    attack that is always right on the counted runs. An exception, an exit or a time-out is the outcome of its run.
    A claim in rho, mu, Renyi divergences or points of a profile is tested as it is, all its numbers at once, by the
    rates of one event (`tested`); what else is found is weighed by an epsilon that follows from it at `delta`, 1e-5 by
    default. Such an audit is *not_refuted* at best: no violation of stated size is excluded in that measure.
    `how` says how runs are executed; only its `chunk_runs` changes results. With a `store`, counted and choosing chunks
    that are stored are not run again.
    Raises: ValueError: fewer than 4 runs, a relation other than the claim's, delta below the claim's, or a `learner`
        for a case that has a score.

    >>> from audits.examples import CLAIM, HALF_NOISE
    >>> audit_case(HALF_NOISE, CLAIM, runs=2_000, rng=np.random.default_rng(0)).verdict
    'violation'
    """
    started = time.perf_counter()
    made, measured_claim = claim, claim if isinstance(claim, MeasuredClaim) else None
    if measured_claim is not None:
        claim = implied_claim(measured_claim, delta)
    require_finite(claim, "an audit")
    level = _level_of(case, claim, runs, rng, significance, learner, delta)
    most = count("control_runs", control_runs, at_least=0) if control_runs is not None else None
    facts = ("fixed size", runs, level, significance, certified, control_runs, *([made] if measured_claim else []))
    execution = stored_under(how, case, claim, rng, *facts, subjects=(learner,))
    experiment = _Experiment(
        claim=claim,
        measured_claim=measured_claim,
        runs=runs,
        delta=level,
        significance=significance,
        certified=certified,
        learner=learner,
        most=most,
        beside=level_of(case, significance) / (1 - LOW_BITS_SHARE),
    )
    result = experiment.attacked(case, rng, execution)
    return replace(result, claim=made, seconds=time.perf_counter() - started)


def _level_of(
    case: AuditCase,
    claim: Claim,
    runs: int,
    rng: np.random.Generator,
    significance: float,
    learner: Learner | None,
    delta: float | None,
) -> float:
    """Return the delta at which epsilon is bounded; settings that do not fit the case are refused."""
    count("runs", runs, at_least=4)
    generator_of(rng)
    open_probability("significance", significance)
    level = claim.delta if delta is None else probability_below_one("delta", delta)
    if level < claim.delta:
        raise ValueError(f"Expected delta={level} at or above the claim's {claim.delta}: below it nothing is claimed.")
    if case.relation != claim.neighbours:
        raise ValueError(
            f"Expected neighbours of the claim's relation {claim.neighbours!r}; case {case.name!r} has "
            f"{case.relation!r}. State the claim for the relation that the case runs."
        )
    if learner is not None and case.score is not None:
        raise ValueError(
            f"Expected learner to be left out: case {case.name!r} has a score, which the audit takes. To learn one, "
            "remove the score: dataclasses.replace(case, score=None)."
        )
    return level


@dataclass(frozen=True, slots=True, kw_only=True)
class _Experiment:
    """An audit of fixed size, for any case; `most` bounds the runs of its controls, None for the usual bound.

    `beside` is the part of the significance that the deciding bounds leave to the attack on all fields. A claim in its
    own measure is `measured_claim`, and `claim` is what follows from it: it steers, and has a small part of the
    significance.
    """

    claim: Claim
    measured_claim: MeasuredClaim | None
    runs: int
    delta: float
    significance: float
    certified: float
    learner: Learner | None
    most: int | None
    beside: float

    def attacked(self, case: AuditCase, rng: np.random.Generator, how: Execution) -> AuditResult:
        """Return the audit of one case, its code probed first, and all fields attacked beside a given score."""
        probed = probe(case, self.runs, how.run_seconds)
        case = probed.case
        try:
            result = self.result(case, rng, how, probed)
        except CallRaisedError as error:
            if case.score is None:
                raise
            remark = f"A run raised {error.exception}: outcomes and outputs were attacked instead of the given score."
            retried = self.result(replace(case, score=None), rng.spawn(1)[0], how, probed)
            result = replace(retried, remarks=(remark, *retried.remarks))
        return result if self.most == 0 else with_all_fields(result, case, rng.spawn(1)[0], how)

    def result(self, case: AuditCase, rng: np.random.Generator, how: Execution, probed: Probed | None) -> AuditResult:
        """Return the audit of one case."""
        if probed is not None and probed.raised:
            return self._unreleased(case, probed)
        gaussian = case.gaussian and self.certified <= self.claim.epsilon
        floating = isinstance(case, FunctionCase) and case.arithmetic == "floating"
        rounded = probed is not None and probed.rounded
        prepared = prepare(
            case, self.runs, rng, self._share(gaussian=gaussian), self.learner, how, self._target, rounded=rounded
        )
        bits_decide = prepared.low_bits is not None and (floating or prepared.low_bits.coarse)
        share = self._share(gaussian=gaussian) * (1 - LOW_BITS_SHARE if bits_decide else 1)
        rare = share * rare_share(prepared.promise, self._target[0]) * (prepared.rare is not None)
        share -= rare
        prepared, counted = self._aimed(prepared, prepared.count(case, how), share)
        scores, labels = counted.scores, counted.labels
        counts = count_guesses(prepared.event, scores, labels)
        shown = self._tested(counts, share)
        share *= 1.0 if shown is None else 1 - _IN_MEASURE
        decision = _decision(counts, self.claim, self.delta, share, gaussian=gaussian)
        epsilon = decision.deciding.epsilon
        attack = _attack(prepared, counted, decision, share if shown is None else shown.significance)
        power = self._power(case, epsilon, shown, prepared, attack, counted.cells, rng, probed, how)
        measured = measured_of(scores[labels], scores[~labels], counts, self.significance, prepared.rng.spawn(1)[0])
        process, seed = e_process_bound(scores, labels, self.delta, self.significance), seed_of(rng)
        result = AuditResult(
            name=case.name,
            verdict=verdict_of(epsilon, power, self.claim, self.certified, shown),
            epsilon_lower=epsilon,
            delta=self.delta,
            significance=self.significance,
            runs=self.runs,
            ceiling=ceiling(decision.bound, counts.runs, self.delta, share),
            power=power,
            view=case.view,
            attack=prepared.attack,
            bound=decision.deciding.name,
            bounds=(decision.deciding, *decision.others, process),
            counts=counts,
            seed=seed[0] if len(seed) == 1 and (probed is None or probed.repeatable) else None,
            claim=self.claim,
            certified=self.certified,
            description=f"{case.description} {self._missing_noise(case, rng)}".strip(),
            roc=roc_points(scores, labels),
            remarks=(*(() if probed is None else probed.remarks), *prepared.seen.remarks),
            measured=measured.bounds,
            curve=measured.curve,
            tested=shown,
            epsilon_at=CountedBound(
                counts=counts,
                delta=self.delta,
                gaussian=decision.bound is _declared_gaussian_bound,
                significance=self.significance,
                share=share / self.significance,
            ),
        )
        result = _with_beside(result, counted, rare, bits_decide=bits_decide, coarse=bits_decide and not floating)
        remarks = rounding_remarks(result.bounds, rounded=rounded, decides=floating)
        return replace(result, remarks=(*self._too_few(result), *result.remarks, *remarks))

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
        chosen, rest = counted.part(slice(first)), counted.part(slice(first, None))
        level = share * _IN_MEASURE
        cut = cut_against(self.measured_claim, chosen.scores, chosen.labels, len(rest.labels), level)
        return replace(prepared, event=replace(prepared.event, cut=cut)), rest

    def _tested(self, counts: Counts, share: float) -> MeasureTest | None:
        """Return the test of a claim in its own measure, None for a claim in epsilon and delta."""
        if self.measured_claim is None:
            return None
        return judged_by_event(self.measured_claim, counts, self.delta, share * _IN_MEASURE)

    @property
    def _target(self) -> tuple[float, float]:
        """The epsilon and delta that the audit would refute."""
        return min(self.claim.epsilon, self.certified), self.delta

    def _share(self, *, gaussian: bool) -> float:
        """Return the significance of each bound that may decide."""
        whole = self.significance - self.beside
        return whole / 2 if gaussian else whole

    def _power(
        self,
        case: AuditCase,
        epsilon: float,
        shown: MeasureTest | None,
        prepared: Prepared,
        attack: Attack,
        cells: Array | None,
        rng: np.random.Generator,
        probed: Probed | None,
        how: Execution,
    ) -> Power:
        """Return the power that the audit earned; none where it found a violation or its outputs cannot be judged."""
        judged = prepared.seen.readable and (probed is None or probed.sound)
        refuted = shown is not None and shown.refuted
        if not judged or refuted or epsilon > min(self.claim.epsilon, self.certified):
            return nothing_earned()
        return earned_power(
            case,
            self.claim,
            replace(attack, against=self.measured_claim),
            (prepared.cells, cells, attack.labels),
            runs=self.runs,
            delta=self.delta,
            most=self.most,
            rng=rng,
            how=how,
        )

    def _missing_noise(self, case: AuditCase, rng: np.random.Generator) -> str:
        """Return a sentence on the largest factor of missing noise that the audit detects."""
        if self.most == 0:
            return ""

        def accuses(weakened: AuditCase, stream: np.random.Generator) -> bool:
            quick = replace(self, most=0)
            return quick.result(weakened, stream, Execution(), None).verdict == "violation"

        return missing_noise(case, accuses, rng)

    def _unreleased(self, case: AuditCase, probed: Probed) -> AuditResult:
        """Return the result where every probe of both data sets raised: nothing was released."""
        nothing = perfect_counts(0)
        bound = LowerBound(name="guessing", epsilon=0.0, significance=self.significance)
        return AuditResult(
            name=case.name,
            verdict="inconclusive",
            epsilon_lower=0.0,
            delta=self.delta,
            significance=self.significance,
            runs=self.runs,
            ceiling=0.0,
            power=nothing_earned(),
            view=case.view,
            attack="none",
            bound="guessing",
            bounds=(bound,),
            counts=nothing,
            seed=None,
            claim=self.claim,
            certified=self.certified,
            description=case.description,
            remarks=(probed.nothing_released, *probed.remarks),
            tested=self._tested(nothing, self.significance),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Decision:
    """The bound that decides, its value on the counts, and the values of the other bounds."""

    bound: Bound
    deciding: LowerBound
    others: tuple[LowerBound, ...]


def _attack(prepared: Prepared, counted: Counted, decision: "_Decision", share: float) -> Attack:
    """Return the attack of one audit, with what it counted."""
    return Attack(
        score=prepared.score,
        event=prepared.event,
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
