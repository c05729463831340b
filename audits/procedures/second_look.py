"""A second look at what an audit came near to: more runs of a quick function, where so many would refute the claim."""

from dataclasses import asdict, replace

import numpy as np

from audits.bounds.error_rates import error_rate_bound
from audits.bounds.guessing import guessing_bound
from audits.decision.events import count_guesses
from audits.decision.overruled import overruled
from audits.decision.preparation import prepare
from audits.experiment.settings import Settings
from audits.outputs.calls import CallRaisedError
from dpaudit import AuditCase, AuditResult, DPAuditError
from dpaudit.model.audit_result import Counts, LowerBound

_TIMES = 10
"""A second look makes so many times the runs of its audit."""

_LEVEL = 1e-9
"""The probability, at most, that a second look flags a function that keeps its claim."""


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
        counted = prepared.count(case, quiet)
    except (CallRaisedError, DPAuditError, ValueError, TypeError):
        return result
    counts = count_guesses(prepared.choice.event, counted.scores, counted.labels)
    bound = _bound(counts, result.delta)
    if bound.epsilon <= result.claim.epsilon:
        return result
    remark = f"The runs were too few to refute the claim; a second look with {runs:,} fresh runs refutes it."
    return overruled(result, bound, counts, prepared.choice.attack, _LEVEL / result.significance, remark)


def _bound(counts: Counts, delta: float) -> LowerBound:
    """Return the larger of two bounds on epsilon, at half of the level each."""
    bounds = [bound(counts, delta, _LEVEL / 2) for bound in (guessing_bound, error_rate_bound)]
    return replace(max(bounds, key=lambda bound: bound.epsilon), name="second look", significance=_LEVEL)


def _times(counts: Counts) -> Counts:
    """Return the counts of so many more runs that are like those counted."""
    return Counts(**{name: _TIMES * number for name, number in asdict(counts).items()})
