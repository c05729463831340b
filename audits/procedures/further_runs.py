"""Attacks with runs of their own beside an audit: on all fields of a view, and once more where the audit came near."""

from dataclasses import asdict, replace

import numpy as np

from audits.bounds.error_rates import error_rate_bound
from audits.bounds.guessing import guessing_bound
from audits.decision.preparation import prepare
from audits.decision.results import overruled
from audits.experiment.settings import Settings
from audits.outputs.calls import CallRaisedError
from dpaudit import AuditCase, AuditResult, DPAuditError
from dpaudit.model.audit_result import Counts, LowerBound

FALSE_ALARM = 1e-9
"""The part of the significance that the learned attack has, at most; it is a hundredth of a smaller one."""

_SHARE, _MOST, _FEWEST = 0.1, 2_000, 400
_PART = 0.01
_LEARNING, _CHOOSING = 0.25, 0.15

_TIMES = 10
"""A second look makes so many times the runs of its audit."""

_LEVEL = 1e-9
"""The probability, at most, that a second look flags a function that keeps its claim."""

_UNREADABLE = (CallRaisedError, DPAuditError, ValueError, TypeError)


def level_of(case: AuditCase, significance: float) -> float:
    """Return the part of an audit's significance that the learned attack on all fields has: 0 without a given score."""
    return 0.0 if case.score is None else min(FALSE_ALARM, _PART * significance)


def with_all_fields(result: AuditResult, case: AuditCase, rng: np.random.Generator, how: Settings) -> AuditResult:
    """Return the result of an audit by a given score, or a violation that only other fields of its view show.

    A tenth of the audit's number of runs, at most 2,000 and fresh ones, teach the built-in attack, choose its event and
    count it. Below 4,000 runs nothing is done. Guarantee: code that keeps the claim and the certificate is flagged with
    probability at most `level_of` by this attack, which the audit's other bounds leave to it; its own bound holds at
    that significance and assumes nothing.
    """
    runs, level = min(_MOST, int(_SHARE * result.runs)), level_of(case, result.significance)
    if case.score is None or result.verdict == "violation" or runs < _FEWEST:
        return result
    blind, quiet = replace(case, score=None, gaussian=False), how.aside()
    learning, choosing = int(_LEARNING * runs), int(_CHOOSING * runs)
    sizes = (learning, choosing, runs - learning - choosing)
    try:
        prepared = prepare(blind, sizes, rng, level, quiet)
        counts = prepared.guesses(blind, quiet)
    except _UNREADABLE as error:
        remark = f"Not all fields of the view could be attacked: {' '.join(str(error).split()):.120}"
        return replace(result, remarks=(*result.remarks, remark))
    bound = replace(guessing_bound(counts, result.delta, level), name="all_fields")
    if bound.epsilon <= min(result.claim.epsilon, result.certified):
        return result
    remark = f"A learner on all fields of the view, with {runs:,} runs of its own, shows what the given score does not."
    attack = f"{prepared.choice.attack}, all fields"
    return overruled(result, bound, counts, attack, remark)


def looked_again(result: AuditResult, case: AuditCase, rng: np.random.Generator, how: Settings) -> AuditResult:
    """Return the result, or a violation that ten times as many fresh runs of the attacked pair show.

    They are made where the claim would be refuted if they were like the runs that the audit counted. An attack is
    taught anew. Guarantee: code that keeps its claim is flagged with probability at most 1e-9.
    """
    if result.verdict == "violation" or _bound(_times(result.counts), result.delta).epsilon <= result.claim.epsilon:
        return result
    quiet, runs = how.aside(), _TIMES * result.runs
    try:
        prepared = prepare(case, runs, rng, _LEVEL, quiet, (result.claim.epsilon, result.delta))
        counts = prepared.guesses(case, quiet)
    except _UNREADABLE:
        return result
    bound = _bound(counts, result.delta)
    if bound.epsilon <= result.claim.epsilon:
        return result
    remark = f"The runs were too few to refute the claim; a second look with {runs:,} fresh runs refutes it."
    return overruled(result, bound, counts, prepared.choice.attack, remark)


def _bound(counts: Counts, delta: float) -> LowerBound:
    """Return the larger of two bounds on epsilon, at half of the level each."""
    bounds = [bound(counts, delta, _LEVEL / 2) for bound in (guessing_bound, error_rate_bound)]
    return replace(max(bounds, key=lambda bound: bound.epsilon), name="second look", significance=_LEVEL)


def _times(counts: Counts) -> Counts:
    """Return the counts of so many more runs that are like those counted."""
    return Counts(**{name: _TIMES * number for name, number in asdict(counts).items()})
