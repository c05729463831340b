"""The audit of a case by two error rates: scores are learned on some runs, and their rates on others are compared.

The guessing bound gives away runs times delta guesses. Where that is more than one, two rates show more.
"""

from dataclasses import replace

import numpy as np

from audits.attacks.classifier import learn_score
from audits.decision.events import rounded
from audits.experiment.probes import probe
from audits.experiment.settings import PLAIN, Settings, require_relation
from audits.experiment.trials import run_trials, whole
from audits.scores.fixed_threshold import Split
from audits.scores.scores_audit import audit_scores
from dpaudit import AuditCase, Claim
from dpaudit.checks import count
from dpaudit.model.scores_result import ScoresResult

_TEACHING, _CHOOSING = 0.15, 0.1
_LEAST = 40


def audit_rates(
    case: AuditCase,
    claim: Claim,
    *,
    runs: int,
    rng: np.random.Generator,
    significance: float = 0.01,
    how: Settings = PLAIN,
) -> ScoresResult:
    """Return what the error rates of one learned threshold show.

    Three of twenty runs teach a score, and one of ten chooses the threshold, as in an audit of fixed size. The probes
    of such an audit run before; where they show that runs are no independent draws, or that the data show beside the
    outputs, what is not refuted is *inconclusive*.
    Guarantee: as for `audit_scores` with independent runs; a fair coin picks the neighbour of each run.
    Raises: ValueError: fewer than 40 runs, a relation other than the claim's, or runs of one neighbour alone.

    >>> from audits.examples import CLAIM, HALF_NOISE
    >>> audit_rates(HALF_NOISE, CLAIM, runs=2_000, rng=np.random.default_rng(0)).verdict
    'violation'
    """
    count("runs", runs, at_least=_LEAST)
    require_relation(case, claim)
    teaching_rng, counted_rng, learner_rng, split_rng = rng.spawn(4)
    probed = probe(case, runs, how.run_seconds)
    case = probed.case
    taught = int(_TEACHING * runs)
    score = case.score
    if score is None:
        lesson = run_trials(case, taught, teaching_rng, keep=whole, how=how, phase="teach")
        score = learn_score(lesson.kept, lesson.labels, learner_rng)
    counted = run_trials(case, runs - taught, counted_rng, keep=score, how=how, phase="count")
    scores = rounded(counted.kept)
    result = audit_scores(
        scores[counted.labels],
        scores[~counted.labels],
        claim,
        sampling="runs",
        rng=split_rng,
        rule=Split(share=_CHOOSING / (1 - _TEACHING)),
        significance=significance,
    )
    return replace(result, verdict="inconclusive") if result.verdict == "not_refuted" and not probed.sound else result
