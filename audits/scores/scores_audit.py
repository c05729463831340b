"""The audit of membership-inference scores that were computed elsewhere.

    audit_scores(in_scores, out_scores, claim, sampling="runs", rng=rng)

`in_scores` are scores of members, `out_scores` of others; a larger score means that membership is more likely.
"""

from typing import TypeAlias, assert_never

import numpy as np

from audits.bounds.one_run_trade_off import one_run_mu
from audits.bounds.renyi_region import RhoTradeOff
from audits.bounds.trade_offs import GaussianTradeOff, PrivateTradeOff, TradeOff
from audits.decision.measured import Measured, measured_of
from audits.scores.cuts import Cuts, Scores
from audits.scores.description import described_area, described_rates, described_roc, raw_epsilon
from audits.scores.every_threshold import Band, BandEvidence
from audits.scores.fixed_threshold import Rank, RankEvidence, Split, ThresholdEvidence, rank_evidence, split_evidence
from audits.scores.one_run import Guesses, OneRunEvidence, canary_evidence, pair_evidence
from dpaudit import Claim
from dpaudit.checks import one_of, open_probability
from dpaudit.model.audit_result import MeasuredBound
from dpaudit.model.claim import require_finite
from dpaudit.model.scores_result import SAMPLINGS, DeclaredTradeOff, Sampling, ScoresResult, ScoresVerdict

Rule: TypeAlias = Split | Rank | Band | Guesses
"""How thresholds are fixed: the first three for `runs`, the last for `canaries` and `paired`."""

Evidence: TypeAlias = ThresholdEvidence | RankEvidence | BandEvidence | OneRunEvidence
"""Counts under a rule that fixes thresholds validly, and the tests that are exact for it: a true trade-off is refuted
with probability at most the significance, and a bound is without assumption; further bounds decide nothing."""

POOLED = (
    "Scores of many models times many records are not independent, so rates on the pool have no error probability. "
    "Give the records of one model as sampling 'canaries', or the models of one record as 'runs'."
)
"""Why a pooled table is refused."""


def audit_scores(
    in_scores: object,
    out_scores: object,
    claim: Claim,
    *,
    sampling: Sampling,
    rng: np.random.Generator,
    rule: Rule | None = None,
    declared: TradeOff | None = None,
    significance: float = 0.01,
) -> ScoresResult:
    """Return what membership scores show against a claim, and against a declared trade-off where there is one.

    `sampling` says where the scores come from. `runs`: one score from each independent run, all about one target.
    `canaries`: one run; an independent fair coin put each canary in or left it out. `paired`: one run; a coin put one
    of two canaries in, and line i of both samples is pair i; the epsilon is that of replacing one record.
    `rule` fixes thresholds: `Split()` for runs, `Guesses()` for one run where None. `declared` is a trade-off that the
    mechanism was declared to have; claim and declaration then have half the significance each.
    Shape: (n1,), (n0,); for pairs n1 = n0. Ties count against the attack.
    Guarantee: under the stated sampling, with scores fitted on other data than those counted and a direction that was
    fixed before, a true claim or declaration is flagged with probability at most `significance`.
    Edge cases: exact halves instead of coins are not the sampling that `canaries` states.
    Raises: ValueError: NaN, an empty sample, a table of several columns, a rule of another sampling, unequal pairs, or
        pairs against a claim for other neighbours than `replace_one`.
    Source: Steinke, Nasr and Jagielski (2023); Mahloujifar, Melis and Chaudhuri (2025).

    >>> rng = np.random.default_rng(0)
    >>> claim = Claim(epsilon=1.0, neighbours="add_remove")
    >>> equal = rng.normal(size=500), rng.normal(size=500)
    >>> audit_scores(*equal, claim, sampling="runs", rng=rng).verdict
    'inconclusive'
    """
    _require_settings(sampling, significance)
    scores = Scores.of(in_scores, out_scores)
    share = significance if declared is None else significance / 2
    evidence = _evidence(scores, sampling, rule, declared or _claimed(claim), claim, share, rng)
    bound = evidence.bound(claim.delta, share)
    ceiling = evidence.perfect().bound(claim.delta, share).epsilon
    answered = _answered(declared, evidence, share)
    measured = _measured(scores, sampling, evidence, significance, rng)
    cuts, limits = Cuts.of(scores), sampling == "runs"
    return ScoresResult(
        verdict=_verdict(evidence, claim, share, bound.epsilon, ceiling, answered),
        sampling=sampling,
        epsilon_lower=bound.epsilon,
        delta=claim.delta,
        significance=significance,
        members=len(scores.ins),
        others=len(scores.outs),
        ceiling=ceiling,
        rule=evidence.rule,
        bound=bound.name,
        bounds=(bound, *evidence.others(claim.delta, share)),
        counts=evidence.counts,
        claim=claim,
        declared=answered,
        auroc=described_area(scores, _claimed(claim), significance, limits=limits),
        rates=described_rates(cuts, _claimed(claim), significance, limits=limits),
        raw=raw_epsilon(cuts, claim.delta),
        roc=described_roc(cuts, significance, limits=limits),
        measured=measured.bounds,
        curve=measured.curve,
    )


def _evidence(
    scores: Scores,
    sampling: Sampling,
    rule: Rule | None,
    hypothesis: TradeOff,
    claim: Claim,
    significance: float,
    rng: np.random.Generator,
) -> Evidence:
    """Return the evidence that the rule takes from the scores."""
    if sampling != "runs":
        return _one_run_evidence(scores, sampling, rule, hypothesis, claim)
    match rule:
        case Split() | None:
            return split_evidence(scores, rule or Split(), hypothesis, rng)
        case Rank():
            return rank_evidence(scores, rule)
        case Band():
            return BandEvidence(cuts=Cuts.of(scores), delta=claim.delta, significance=significance)
        case Guesses():
            raise ValueError(f"Expected rule={rule!r} to be Split, Rank or Band for independent runs.")
        case _:
            assert_never(rule)


def _one_run_evidence(
    scores: Scores, sampling: Sampling, rule: Rule | None, hypothesis: TradeOff, claim: Claim
) -> Evidence:
    """Return the evidence of guesses of coins in one run; raises as `audit_scores`."""
    if rule is not None and not isinstance(rule, Guesses):
        raise ValueError(
            f"Expected rule={rule!r} to be Guesses(...): scores of one run are not independent, "
            "so that only right guesses of coins have an error probability."
        )
    if sampling == "paired" and claim.neighbours != "replace_one":
        raise ValueError(
            f"Expected neighbours={claim.neighbours!r} to be 'replace_one': a coin between two canaries replaces "
            "one record, and its epsilon may be twice that of adding or removing one."
        )
    collect = canary_evidence if sampling == "canaries" else pair_evidence
    return collect(scores, rule or Guesses(), hypothesis)


def _measured(
    scores: Scores, sampling: Sampling, evidence: Evidence, significance: float, rng: np.random.Generator
) -> Measured:
    """Return bounds in other measures: of independent runs on mu and rho with a curve, of one run on mu alone.

    Only a threshold that other scores chose is an event with binomial counts.
    """
    counts = evidence.counts
    if sampling == "runs":
        event = counts if isinstance(evidence, ThresholdEvidence) else None
        return measured_of(scores.ins, scores.outs, event, significance, rng.spawn(1)[0])
    mu = MeasuredBound(
        measure="mu",
        value=one_run_mu(counts.runs, counts.guesses, counts.correct, significance),
        statistic="one run",
        samples=counts.runs,
        significance=significance,
    )
    return Measured(bounds=(mu,), curve=())


def _claimed(claim: Claim) -> PrivateTradeOff:
    """Return the trade-off of a claim."""
    require_finite(claim, "an audit")
    return PrivateTradeOff.of(claim.epsilon, claim.delta)


def _require_settings(sampling: str, significance: float) -> None:
    """Refuse a pooled table, words that name no sampling, and a significance out of range."""
    if sampling == "pooled":
        raise ValueError(POOLED)
    one_of("sampling", sampling, SAMPLINGS)
    open_probability("significance", significance)


def _answered(declared: TradeOff | None, evidence: Evidence, significance: float) -> DeclaredTradeOff | None:
    """Return the declared trade-off with the answer to it, where there is one."""
    if declared is None:
        return None
    refuted = evidence.refutes(declared, significance)
    return DeclaredTradeOff(text=_text(declared), refuted=refuted, significance=significance)


def _verdict(
    evidence: Evidence,
    claim: Claim,
    significance: float,
    epsilon: float,
    ceiling: float,
    declared: DeclaredTradeOff | None,
) -> ScoresVerdict:
    """Return the verdict: whether something is refuted, and whether the scores could and did see anything."""
    if epsilon > claim.epsilon or (declared is not None and declared.refuted):
        return "violation"
    able = ceiling > claim.epsilon or declared is not None
    sees = evidence.refutes(PrivateTradeOff.of(0.0), significance)
    return "not_refuted" if sees and able else "inconclusive"


def _text(declared: TradeOff) -> str:
    """Return the declared trade-off in words."""
    match declared:
        case GaussianTradeOff(mu=mu):
            return f"a Gaussian trade-off with mu = {mu:.6g}"
        case RhoTradeOff(rho=rho, xi=xi):
            return f"a trade-off with rho = {rho:.6g}" + (f" and xi = {xi:.6g}" if xi else "")
        case PrivateTradeOff(points=points):
            return f"a privacy curve at {len(points)} epsilons"
        case _:
            return "a declared trade-off"
