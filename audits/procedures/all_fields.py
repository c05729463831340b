"""A learned attack on all fields of a view, beside a given score that may read some of them only."""

from dataclasses import replace

import numpy as np

from audits.bounds.guessing import guessing_bound
from audits.decision.events import count_guesses
from audits.decision.overruled import overruled
from audits.decision.preparation import attempt
from audits.experiment.execution import Execution
from audits.outputs.calls import CallRaisedError
from dpaudit import AuditCase, AuditResult, DPAuditError

FALSE_ALARM = 1e-9
"""The probability with which the learned attack accuses code that keeps its claim, beside the significance."""

_SHARE, _MOST, _FEWEST = 0.1, 1_000, 400
_LEARNING, _CHOOSING = 0.25, 0.15


def with_all_fields(result: AuditResult, case: AuditCase, rng: np.random.Generator, how: Execution) -> AuditResult:
    """Return the result of an audit by a given score, or a violation that only other fields of its view show.

    A tenth of the audit's number of runs, at most 1,000 and fresh ones, teach the built-in attack, choose its event and
    count it. Below 4,000 runs nothing is done. Guarantee: code that keeps the claim and the certificate is accused with
    probability at most 1e-9 by this attack; its bound holds at that significance and assumes nothing.
    """
    runs = min(_MOST, int(_SHARE * result.runs))
    if case.score is None or result.verdict == "violation" or runs < _FEWEST:
        return result
    blind, quiet = replace(case, score=None, gaussian=False), replace(how, store=None, progress=None)
    learning, choosing = int(_LEARNING * runs), int(_CHOOSING * runs)
    sizes = (learning, choosing, runs - learning - choosing)
    try:
        prepared = attempt(blind, sizes, rng, FALSE_ALARM, None, quiet)
        counted = prepared.count(blind, quiet)
    except (CallRaisedError, DPAuditError, ValueError, TypeError) as error:
        remark = f"Not all fields of the view could be attacked: {' '.join(str(error).split()):.120}"
        return replace(result, remarks=(*result.remarks, remark))
    counts = count_guesses(prepared.event, counted.scores, counted.labels)
    bound = replace(guessing_bound(counts, result.delta, FALSE_ALARM), name="all_fields")
    if bound.epsilon <= min(result.claim.epsilon, result.certified):
        return result
    remark = f"A learner on all fields of the view, with {runs:,} runs of its own, shows what the given score does not."
    return overruled(result, bound, counts, f"{prepared.attack}, all fields", FALSE_ALARM / result.significance, remark)
