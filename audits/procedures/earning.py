"""Which power an audit can earn: a limit for outputs with few values, a case with less noise, stretched controls."""

from dataclasses import replace

import numpy as np

from audits.attacks.classifier import learn_score
from audits.attacks.counting import CountedOdds
from audits.decision.controls import Control, controls_of, gross
from audits.decision.earned import CAUGHT, Accuses, measured_power, nothing_earned, usual_control_runs
from audits.decision.upper_limit import counts_by_cell, epsilon_limit
from audits.experiment.execution import Observed
from audits.experiment.trials import together
from audits.experiment.views import take
from dpaudit import AuditCase, Claim, Power
from dpaudit.model.mechanism import Array

_LIMIT_ERROR = 0.05
_ROOM = 20.0
"""The limit is read at delta plus so many counts of the audit's runs."""

_STEPS, _RUNS_A_CELL = 50, 20


def earned_power(
    case: AuditCase,
    claim: Claim,
    cells: CountedOdds | None,
    counted: tuple[Array | None, Array],
    accuses: Accuses,
    *,
    runs: int,
    delta: float,
    significance: float,
    most: int | None,
    tries: tuple[int, ...],
    rng: np.random.Generator,
) -> Power:
    """Return the power of an audit that found no violation; what is measured is fixed before a control runs.

    Outputs with few distinct values, whose counted runs are `counted` = (cells, labels), get an upper limit. Else the
    audit is repeated on controls: the case with less noise, if its epsilon is known, a pair further apart, and
    several runs as one output.
    """
    if cells is not None and counted[0] is not None:
        first, second = counts_by_cell(counted[0], counted[1], len(cells.odds))
        limit = epsilon_limit(first, second, delta + _ROOM / runs, _LIMIT_ERROR)
        return Power(epsilon=limit, probability=1 - _LIMIT_ERROR, error=_LIMIT_ERROR, kind="upper_limit", repetitions=0)
    if most == 0:
        return nothing_earned()
    allowed = usual_control_runs(runs) if most is None else most
    controls = _less_noise(case, claim) or controls_of(case, claim)
    power = measured_power(
        controls, accuses, claim, runs=runs, significance=significance, most=allowed, tries=tries, rng=rng
    )
    if power.kind == "less_noise" and case.weakened_epsilon is not None:
        return Power(
            epsilon=gross(claim.epsilon),
            probability=CAUGHT,
            error=power.error,
            kind="less_noise",
            repetitions=power.repetitions,
        )
    return power


def cells_of(blocks: tuple[Observed, ...]) -> tuple[CountedOdds | None, tuple[Array | None, Array]]:
    """Return the distinct outputs of a quarter of some runs, if they are few, and the cells of the others."""
    seen = together(*blocks)
    quarter = len(seen) // 4
    first, rest = np.arange(quarter), np.arange(quarter, len(seen))
    if quarter < _RUNS_A_CELL:
        return None, (None, seen.labels)
    score = learn_score(take(seen.kept, first), seen.labels[first], np.random.default_rng(0))
    if not isinstance(score, CountedOdds) or len(score.odds) > quarter // _RUNS_A_CELL:
        return None, (None, seen.labels)
    return score, (score.cells(take(seen.kept, rest)), seen.labels[rest])


def _less_noise(case: AuditCase, claim: Claim) -> tuple[Control, ...]:
    """Return the case with so little noise that its epsilon is that of a gross violation; none if that is not known."""
    if case.weakened is None or case.weakened_epsilon is None:
        return ()
    target, low, high = gross(claim.epsilon), 0.0, 1.0
    for _ in range(_STEPS):
        middle = (low + high) / 2
        low, high = (low, middle) if case.weakened_epsilon(middle) < target else (middle, high)
    weakened = replace(case.weakened(high), weakened=None)
    return (Control(kind="less_noise", factor=1, case=weakened),)
