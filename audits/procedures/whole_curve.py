"""The audit of a declared trade-off curve as a whole, at any time.

A bound on epsilon at one delta reads one point of a curve, and needs many runs where delta is small. A declared curve
is refuted by whatever point the outputs contradict.
"""

import time
from dataclasses import dataclass

import numpy as np

from audits.attacks.classifier import learn_score
from audits.bounds.curve_process import CurveProcess
from audits.bounds.trade_offs import TradeOff
from audits.decision.events import rounded
from audits.experiment.execution import Execution, Observed
from audits.experiment.trials import run_trials, together, whole
from dpaudit import AuditCase
from dpaudit.checks import count, open_probability
from dpaudit.model.case import Score

_FIRST = 16
_GROWTH = 0.25
_LEARNED_FROM = 64
_MOST_LEARNED = 20_000


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class CurveAudit:
    """What runs show against a declared trade-off curve.

    `refuted` says that the wealth reached 1 / `significance`; `runs` is when, or all runs. `log_wealth` is the
    logarithm of the wealth at the end, an e-value: products over fresh runs and averages over audits are e-values
    again. A curve that is not refuted is not proved; how large a violation would have been seen is not known.

    >>> sorted(field for field in CurveAudit.__dataclass_fields__ if field.startswith(("log", "ref")))
    ['log_wealth', 'refuted']
    """

    name: str
    refuted: bool
    runs: int
    log_wealth: float
    significance: float
    seconds: float
    process: CurveProcess


def audit_curve(
    case: AuditCase,
    trade_off: TradeOff,
    *,
    runs: int,
    rng: np.random.Generator,
    significance: float = 0.01,
    how: Execution | None = None,
) -> CurveAudit:
    """Return what at most `runs` runs of `case` show against a declared trade-off; stops when it is refuted.

    The case's own score is used where there is one; otherwise scores are learned from earlier blocks.
    Guarantee: code whose outputs on the two neighbours are within `trade_off` is accused with probability at most
    `significance`, whenever the audit stops, if its runs are independent.
    Raises: ValueError: no run, or `significance` outside (0, 1).

    >>> from audits.bounds.trade_offs import PrivateTradeOff
    >>> from audits.examples import HALF_NOISE
    >>> result = audit_curve(HALF_NOISE, PrivateTradeOff.of(1.0), runs=4_000, rng=np.random.default_rng(0))
    >>> result.refuted, result.runs < 1_000
    (True, True)
    """
    count("runs", runs)
    open_probability("significance", significance)
    started, execution = time.perf_counter(), how or Execution()
    process, seen = CurveProcess.fresh(trade_off), list[Observed]()
    while process.runs < runs and not process.refutes(significance):
        block_rng, learner_rng = rng.spawn(2)
        size = min(runs - process.runs, max(_FIRST, int(_GROWTH * process.runs)))
        block = run_trials(case, size, block_rng, keep=whole, how=execution)
        score = case.score or _learned(seen, learner_rng)
        scores = np.zeros(size) if score is None else rounded(score(block.kept))
        process = process.extended(scores, block.labels)
        if sum(map(len, seen)) < _MOST_LEARNED:
            seen.append(block)
    stopped = process.stopped(significance)
    return CurveAudit(
        name=case.name,
        refuted=stopped is not None,
        runs=process.runs if stopped is None else stopped,
        log_wealth=process.log_wealth,
        significance=significance,
        seconds=time.perf_counter() - started,
        process=process,
    )


def _learned(seen: list[Observed], rng: np.random.Generator) -> Score | None:
    """Return a score that earlier blocks taught, or None where they are too few."""
    if sum(map(len, seen)) < _LEARNED_FROM:
        return None
    lesson = together(*seen)
    return learn_score(lesson.kept, lesson.labels, rng)
