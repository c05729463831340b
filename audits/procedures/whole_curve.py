"""The audit of a declared trade-off curve as a whole, at any time.

A bound on epsilon at one delta reads one point of a curve, and needs many runs where delta is small. A declared curve
is refuted by whatever point the outputs contradict.
"""

import time
from dataclasses import dataclass
from typing import Any

import numpy as np

from audits.attacks.classifier import learn_score
from audits.attacks.table import Table
from audits.bounds.curve_process import CurveProcess, Taught
from audits.bounds.trade_offs import TradeOff
from audits.decision.events import rounded
from audits.experiment.execution import Observed
from audits.experiment.probes import probe
from audits.experiment.settings import PLAIN, Settings
from audits.experiment.trials import run_trials, together, whole
from dpaudit import AuditCase
from dpaudit.checks import count, open_probability
from dpaudit.model.case import Score
from dpaudit.model.mechanism import Array

_FIRST = 16
_GROWTH = 0.25
_LEARNED_FROM = 64
_MOST_LEARNED = 20_000
_NEAR = 0.02


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class CurveAudit:
    """What runs show against a declared trade-off curve.

    `refuted` says that the wealth reached 1 / `significance`; `runs` is when, or all runs. `log_wealth` is the
    logarithm of the wealth at the end, an e-value: products over fresh runs and averages over audits are e-values
    again. A curve that is not refuted is not proved; how large a violation would have been seen is not known.
    `remarks` are those of the probes before the audit. Where these are not `sound`, runs are no independent draws, or
    the data show beside the outputs, and a curve that is not refuted means nothing.

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
    remarks: tuple[str, ...] = ()
    sound: bool = True


def audit_curve(
    case: AuditCase,
    trade_off: TradeOff,
    *,
    runs: int,
    rng: np.random.Generator,
    significance: float = 0.01,
    taught: Taught | None = None,
    how: Settings = PLAIN,
) -> CurveAudit:
    """Return what at most `runs` runs of `case` show against a declared trade-off; stops when it is refuted.

    The case's own score is used where there is one; otherwise scores are learned from earlier blocks. What the process
    of an earlier audit `taught` (`result.process.teaching()`) steers the first bets; it must come from other runs.
    Guarantee: code whose outputs on the two neighbours are within `trade_off` is flagged with probability at most
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
    started, probed = time.perf_counter(), probe(case, runs, how.run_seconds)
    case = probed.case
    process, seen = CurveProcess.fresh(trade_off, taught), list[Observed]()
    while process.runs < runs and not process.refutes(significance):
        size = min(runs - process.runs, max(_FIRST, int(_GROWTH * process.runs)))
        process = _extended(process, seen, case, size, rng, how)
    stopped = process.stopped(significance)
    return CurveAudit(
        name=case.name,
        refuted=stopped is not None,
        runs=process.runs if stopped is None else stopped,
        log_wealth=process.log_wealth,
        significance=significance,
        seconds=time.perf_counter() - started,
        process=process,
        remarks=probed.remarks,
        sound=probed.sound,
    )


def _extended(
    process: CurveProcess, seen: list[Observed], case: AuditCase, size: int, rng: np.random.Generator, how: Settings
) -> CurveProcess:
    """Return the process after `size` more runs, scored by what was `seen`, which they join while it is short."""
    block_rng, learner_rng = rng.spawn(2)
    block = run_trials(case, size, block_rng, keep=whole, how=how)
    score = case.score or _learned(seen, learner_rng)
    scores = np.zeros(size) if score is None else rounded(score(block.kept))
    if sum(map(len, seen)) < _MOST_LEARNED:
        seen.append(block)
    return process.extended(scores, block.labels)


def _learned(seen: list[Observed], rng: np.random.Generator) -> Score | None:
    """Return a score that earlier blocks taught, or None where they are too few.

    Outputs of a single number are their own score where that separates the labels about as well: nothing is estimated.
    """
    if sum(map(len, seen)) < _LEARNED_FROM:
        return None
    lesson = together(*seen)
    learned, alone = learn_score(lesson.kept, lesson.labels, rng), _OneNumber.of(lesson)
    if alone is None:
        return learned
    shown, own = (_area(score(lesson.kept), lesson.labels) for score in (learned, alone))
    return alone if own >= shown - _NEAR else learned


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _OneNumber:
    """The only number of each output as its score, with the sign that the labels favour."""

    table: Table
    sign: float

    @classmethod
    def of(cls, lesson: Observed) -> "_OneNumber | None":
        """Return the score, None for outputs of another kind."""
        table = Table.learned(lesson.kept)
        numbers = table.numbers(lesson.kept)
        if numbers.shape[1] != 1 or not np.isfinite(numbers).all() or lesson.labels.all() or not lesson.labels.any():
            return None
        return cls(table=table, sign=1.0 if _area(numbers[:, 0], lesson.labels) >= 0.5 else -1.0)

    def __call__(self, view: Any) -> Array:
        """Return one score a run; 0 for what is no finite number."""
        numbers = self.sign * self.table.numbers(view)[:, 0]
        return np.where(np.isfinite(numbers), numbers, 0.0)


def _area(scores: Array, labels: Array) -> float:
    """Return the area under the ROC curve; runs with equal scores count in their order."""
    second = int(labels.sum())
    if second in (0, len(labels)):
        return 0.5
    ranks = np.argsort(np.argsort(scores, kind="stable"), kind="stable") + 1
    return float((ranks[labels].sum() - second * (second + 1) / 2) / (second * (len(labels) - second)))
