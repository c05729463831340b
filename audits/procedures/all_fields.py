"""A learned attack on all fields of a view, beside a given score that may read some of them only."""

from dataclasses import replace

import numpy as np

from audits.bounds.guessing import guessing_bound
from audits.decision.events import count_guesses
from audits.decision.overruled import overruled
from audits.decision.preparation import prepare
from audits.experiment.settings import Settings
from audits.outputs.calls import CallRaisedError
from dpaudit import AuditCase, AuditResult, DPAuditError

FALSE_ALARM = 1e-9
"""The part of the significance that the learned attack has, at most; it is a hundredth of a smaller one."""

_SHARE, _MOST, _FEWEST = 0.1, 2_000, 400
_PART = 0.01
_LEARNING, _CHOOSING = 0.25, 0.15


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
        counted = prepared.count(blind, quiet)
    except (CallRaisedError, DPAuditError, ValueError, TypeError) as error:
        remark = f"Not all fields of the view could be attacked: {' '.join(str(error).split()):.120}"
        return replace(result, remarks=(*result.remarks, remark))
    counts = count_guesses(prepared.choice.event, counted.scores, counted.labels)
    bound = replace(guessing_bound(counts, result.delta, level), name="all_fields")
    if bound.epsilon <= min(result.claim.epsilon, result.certified):
        return result
    remark = f"A learner on all fields of the view, with {runs:,} runs of its own, shows what the given score does not."
    attack = f"{prepared.choice.attack}, all fields"
    return overruled(result, bound, counts, attack, level / result.significance, remark)
