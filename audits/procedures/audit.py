"""The audit: run two neighbours, attack their outputs, bound epsilon from below, give a verdict.

audit(function, data, claim=claim, runs=20_000, rng=rng)                    neighbours that cover one data set
audit(function, neighbours=(d0, d1), claim=claim, runs=20_000, rng=rng)     a pair of neighbours
audit(case, claim=claim, runs=20_000, rng=rng)                              a case that an algorithm declares
audit(..., stop=when_refuted)                                               no further run once the claim falls
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from audits.experiment.function_case import FunctionCase, function_case
from audits.experiment.settings import PLAIN, Settings, require_test
from audits.procedures.anytime import Stop, continue_audit, require_betting
from audits.procedures.fixed_size import audit_of_fixed_size
from audits.procedures.further_runs import looked_again
from audits.procedures.prior_evidence import PriorEvidence
from audits.procedures.replayed import replayed
from audits.replay.fine_columns import with_exact_columns
from dpaudit import AuditCase, AuditResult, Claim, implied_claim
from dpaudit.arguments import named_arguments
from dpaudit.model.measures.claims import MeasuredClaim


@named_arguments
def audit(
    subject: Callable[..., Any] | AuditCase,
    data: Any = None,
    *,
    neighbours: tuple[Any, Any] | None = None,
    claim: Claim,
    runs: int,
    rng: np.random.Generator,
    significance: float = 0.01,
    stop: Stop | None = None,
    how: Settings = PLAIN,
) -> AuditResult:
    """Return what attacks on a function or a case, and replays of a function on fixed streams, show about its epsilon.

    *A function* is audited on one data set, `data`, or on a pair of `neighbours`. With one data set pairs that cover it
    are tried: extreme, rare and missing values, each small count of a category, duplicates, no record, and values that
    no record has, which decide nothing; a search chooses the pair to attack, and the audit's runs are fresh. A given
    pair gets a remark where it may be none under the claim.
    `subject(data, rng, n_runs)` returns the outputs of `n_runs` independent runs, runs axis first: an array, a dict of
    arrays, a data frame or a list of outputs of any type that `audits.outputs` reads; a function of (data, rng) or of
    (data) alone is called once a run. A few calls before the audit probe whether the function draws from `rng`, a draw
    for each run, and leaves global state alone; what they show stands in `remarks`, and the audit is never *consistent*
    if its runs are no independent draws. Where the last bits of the outputs tell the data sets apart, a remark says so.
    *A case* names its pair, its view and its score, which turns outputs into one number a run, larger where the second
    data set is more likely. `function_case` makes one of a function, which is replayed like the function itself; a case
    that an algorithm declares is attacked alone. Without a score one is learned from runs that are not counted.
    *All runs* are made where `stop` is None: the first ones teach the attack and choose its event, the others are
    counted. Else runs come in small, growing blocks, and `stop` may end the audit after any of them: `when_refuted` as
    soon as the claim is refuted. Ctrl-C ends such an audit with the result so far.

    The verdict is *violation* when the bound exceeds the claim's epsilon or `certified` of `how`, the upper bound that
    a certificate proves. The bound against the claim has no assumption. Where the case is Gaussian and the certificate
    proves the claim, a Gaussian bound stands beside it, each at half the significance: it refutes the certificate's
    *declaration*, and bounds epsilon only if the output laws are Gaussian, as its assumption says. Without a violation
    the verdict is *consistent* if a gross violation at this pair is excluded, or was caught on the same code with less
    noise (gross: twice the claim's epsilon, or one nat above it if that is more); *not_refuted* if its attack would
    flag a control that is stretched from the code's own behaviour; else *inconclusive*. `power` says what was measured.
    `ceiling` is the bound of an attack that is always right on the counted runs. An exception, an exit or a time-out is
    the outcome of its run.
    Guarantee: if the code is (epsilon, delta)-private and its runs are independent, `epsilon_lower` exceeds epsilon
    with probability at most `significance`, whenever `stop` ends the audit, for a bound with an assumption only under
    that; and code that is what its certificate declares is flagged with probability at most `significance`. What a
    replay confirms adds 1e-9 to the latter; a bound of a replay with an assumption holds under that alone. Each other
    member of `bounds` holds alone, at its own significance. Last bits have a tenth of the significance, with `stop` a
    fiftieth of the wealth. A given score reads what is declared: beside it, a learner attacks all fields of the view
    with fresh runs, a tenth as many, at a part of `significance` (1e-9, or a hundredth of a smaller one) that the other
    deciding bounds leave to it; without controls, and with `stop`, it is left out.
    A claim in rho, mu, Renyi divergences or points of a profile is tested as it is, all its numbers at once, by the
    rates of one event (`tested`); what else is found is weighed by an epsilon that follows from it. Such an audit is
    *not_refuted* at best, and takes no `stop`: no violation of stated size is excluded in that measure.
    With a store in `how`, counted and choosing chunks, and blocks, that are stored are not run again.
    Raises: ValueError: fewer than 4 runs (1 with `stop`), both or neither of `data` and `neighbours`, either beside a
        case, a unit without data, a relation other than the claim's, delta below the claim's, a learner for a case that
        has a score, or a learner, a delta or a claim in its own measure with `stop`.

    >>> from audits.examples import CLAIM, HALF_NOISE, half_noise
    >>> audit(half_noise, neighbours=(0.0, 1.0), claim=CLAIM, runs=2_000, rng=np.random.default_rng(1)).verdict
    'violation'
    >>> audit(HALF_NOISE, claim=CLAIM, runs=2_000, rng=np.random.default_rng(0)).verdict
    'violation'
    """
    if stop is not None:
        require_betting(claim, how)
    test = _Test(claim=claim, runs=runs, rng=rng, significance=significance, stop=stop, how=how)
    if not isinstance(subject, AuditCase):
        return test.of_function(subject, data, neighbours)
    if data is not None or neighbours is not None or how.unit is not None:
        raise ValueError(f"Expected a case alone: {subject.name!r} names its neighbours; leave out data and unit.")
    return test.of_function(subject, None, subject.neighbours) if isinstance(subject, FunctionCase) else test(subject)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Test:
    """What an audit tests, for any subject."""

    claim: Claim
    runs: int
    rng: np.random.Generator
    significance: float
    stop: Stop | None
    how: Settings

    def __call__(self, case: AuditCase) -> AuditResult:
        """Return what attacks on a case show."""
        given: Any = {"runs": self.runs, "rng": self.rng, "significance": self.significance, "how": self.how}
        if self.stop is None:
            return audit_of_fixed_size(case, self.claim, **given)
        return continue_audit(case, PriorEvidence.nothing(self.claim), stop=self.stop, **given)[0]

    def of_function(
        self, subject: Callable[..., Any] | FunctionCase, data: Any, neighbours: tuple[Any, Any] | None
    ) -> AuditResult:
        """Return what attacks on a function and replays of it show."""
        own = subject if isinstance(subject, FunctionCase) else None
        function: Any = subject if own is None else own.run
        how = self.how if own is None else replace(self.how, arithmetic=own.arithmetic)
        implied = implied_claim(self.claim, how.delta) if isinstance(self.claim, MeasuredClaim) else self.claim
        require_test(implied, self.runs, self.rng, self.significance, at_least=4 if self.stop is None else 1)

        def case_of(pair: tuple[Any, Any]) -> FunctionCase:
            return own or function_case(function, pair, self.claim, arithmetic=how.arithmetic)

        if self.stop is not None and neighbours is not None and data is None and how.unit is None:
            return self._attacked_first(case_of(neighbours), how)
        looked = replayed(function, neighbours, data, self.claim, runs=self.runs, rng=self.rng, how=how)
        pair, remarks = looked.attacked(implied, runs=self.runs, rng=self.rng)
        case = case_of(pair) if how.learner is not None else looked.exactly_read(case_of(pair))
        result = self(case)
        quick = looked.quick and how.learner is None and how.control_runs != 0
        if quick and self.stop is None and implied is self.claim:
            result = looked_again(result, case, looked.rng.spawn(1)[0], how)
        return looked.applied(replace(result, remarks=(*remarks, *result.remarks)), pair)

    def _attacked_first(self, case: FunctionCase, how: Settings) -> AuditResult:
        """Return the audit of one pair that may stop early: its replay takes no more runs, and Ctrl-C leaves it out."""
        result = self(with_exact_columns(case, how.run_seconds))
        try:
            looked = replayed(case.run, case.neighbours, None, self.claim, runs=result.runs, rng=self.rng, how=how)
            return looked.applied(result, case.neighbours)
        except KeyboardInterrupt:
            return result
