"""The power that an audit earns: a limit for outputs with few values, a case with less noise, stretched controls."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from audits.attacks.classifier import learn_score
from audits.attacks.counting import CountedOdds
from audits.decision.controls import factor_of, far_pair, gross
from audits.decision.earned import CAUGHT, ERROR, nothing_earned, usual_control_runs, would_refute
from audits.decision.events import LIKELIHOOD, Event, count_guesses, rated_event, rounded
from audits.decision.other_measures import cut_against, would_refute_measure
from audits.decision.upper_limit import counts_by_cell, epsilon_limit
from audits.experiment.execution import Observed
from audits.experiment.function_case import FunctionCase
from audits.experiment.readings import Reading
from audits.experiment.settings import Settings
from audits.experiment.trials import run_trials, together
from audits.experiment.views import take
from dpaudit import AuditCase, Claim
from dpaudit.model.audit_result import Counts, Power, PowerKind
from dpaudit.model.case import Score
from dpaudit.model.measures.claims import MeasuredClaim
from dpaudit.model.mechanism import Array

_LIMIT_ERROR = 0.05
_ROOM = 20.0
"""The limit is read at delta plus so many counts of the audit's runs."""

_RUNS_A_CELL, _LEAST_RUNS = 20, 8
_FAR_LESS_NOISE = 10.0
_MORE = 4


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Attack:
    """The attack that an audit made: its score, its event, and the scores and labels that it counted.

    A control is tried with this event, if there is one, and with one that a quarter of its own runs chooses. `read` is
    how outputs are read. `counted` is how many runs of a control must refute the claim. `gaussian` says that the
    declared Gaussian bound stood beside the guessing bound, each at `significance`. `against` is a claim in its own
    measure, which the threshold of the event must refute.
    """

    score: Score
    event: Event | None
    read: Reading
    scores: Array
    labels: Array
    significance: float
    counted: int
    gaussian: bool = False
    against: MeasuredClaim | None = None


Counting = Callable[[int], Iterator[Counts]]
"""counting(runs) -> up to two counts of guesses on so many runs of a control; none where the control cannot be run."""


def earned_power(
    case: AuditCase,
    claim: Claim,
    attack: Attack,
    limited: tuple[CountedOdds | None, Array | None, Array],
    *,
    runs: int,
    delta: float,
    rng: np.random.Generator,
    how: Settings,
) -> Power:
    """Return the power of an audit that found no violation; what is measured is fixed before a control runs.

    Outputs with few distinct values, whose counted runs are `limited` = (known cells, cells, labels), get an upper
    limit. Where that is above the gross size, the audit's own attack guesses on controls, one after another: the case
    with less noise, if its epsilon is known (of the gross size, then of ten times the claim), a pair further apart, and
    the counted runs, several as one. That of the gross size has half of the error, the others share the other half.
    Does not advance `rng`; spawns child generators.
    """
    limit = None if attack.against else _limit(limited, delta + _ROOM / runs)
    if limit is not None and limit <= gross(claim.epsilon):
        return Power(epsilon=limit, probability=1 - _LIMIT_ERROR, error=_LIMIT_ERROR, kind="upper_limit", repetitions=0)
    most = how.control_runs
    alone = case.alone or not isinstance(case, FunctionCase)
    if most is not None and most < _LEAST_RUNS:
        return nothing_earned()
    planned = _planned(case, claim, attack, rng.spawn(1)[0], replace(how, progress=None))
    spent = 0
    stated = ERROR if limit is None else ERROR + _LIMIT_ERROR
    for kind, epsilon, counting in planned:
        decisive = kind == "less_noise" and epsilon <= gross(claim.epsilon)
        error = ERROR / 4 if decisive else ERROR / (4 * len(planned))
        usual = usual_control_runs(runs, alone=alone, less_noise=kind == "less_noise")
        for counts in counting(usual if most is None else most):
            spent += counts.runs
            if _refutes(attack, counts, claim, delta, error):
                return Power(epsilon=epsilon, probability=CAUGHT, error=stated, kind=kind, repetitions=counts.runs)
    return nothing_earned(spent)


def _refutes(attack: Attack, control: Counts, claim: Claim, delta: float, error: float) -> bool:
    """Return whether the counts on a control show that the attack would refute the claim there."""
    if attack.against is not None:
        return would_refute_measure(control, attack.counted, attack.against, attack.significance, error)
    return would_refute(control, attack.counted, claim, delta, attack.significance, error, gaussian=attack.gaussian)


def _limit(limited: tuple[CountedOdds | None, Array | None, Array], delta: float) -> float | None:
    """Return an upper limit on the epsilon of the pair, None for outputs with many distinct values."""
    cells, numbers, labels = limited
    if cells is None or numbers is None:
        return None
    first, second = counts_by_cell(numbers, labels, len(cells.odds))
    return epsilon_limit(first, second, delta, _LIMIT_ERROR)


def _planned(
    case: AuditCase, claim: Claim, attack: Attack, rng: np.random.Generator, how: Settings
) -> list[tuple[PowerKind, float, Counting]]:
    """Return the controls of a case, as kind, epsilon and what counts guesses on it, in the order in which they run."""
    factor = factor_of(claim)
    streams = rng.spawn(3)
    planned: list[tuple[PowerKind, float, Counting]] = []
    if case.weaker is not None:
        gross_size, far_less = gross(claim.epsilon), _FAR_LESS_NOISE * claim.epsilon
        sizes = [gross_size, max(gross_size, far_less)]
        if attack.against is not None:  # nothing of gross size is excluded in the measure of the claim
            sizes = [max(2 * gross_size, far_less)]
        for size, stream in zip(sorted(set(sizes)), streams, strict=False):
            if (weaker := case.weaker(size)) is not None:
                planned.append(
                    ("less_noise", size, _on(weaker, f"less noise {size:g}", replace(attack, event=None), stream, how))
                )
    more = (factor, _MORE * factor)
    far = more if attack.against is not None else more[:1]  # one event sees less of a claim in its own measure
    for times in far:
        if (pair := far_pair(case.neighbours, times)) is not None:
            control = replace(case, neighbours=pair)
            planned.append(("far_pair", times * claim.epsilon, _on(control, f"far {times}", attack, streams[2], how)))
    return [*planned, *(("repeated_runs", times * claim.epsilon, partial(_several, attack, times)) for times in more)]


def _several(attack: Attack, times: int, runs: int) -> Iterator[Counts]:
    """Yield the guesses on the counted runs, `times` as one; they need no `runs` of their own."""
    del runs
    return _grouped(attack, times)


def _on(control: AuditCase, name: str, attack: Attack, rng: np.random.Generator, how: Settings) -> Counting:
    """Return what counts the guesses of an attack on runs of a control; a store keeps them under its name."""

    def counting(runs: int) -> Iterator[Counts]:
        try:
            seen = run_trials(
                control, runs, rng, keep=attack.score, how=how, read=attack.read, phase=f"control {name} {runs}"
            )
            scores = rounded(seen.kept)
        except Exception:
            return
        if attack.event is not None:
            yield count_guesses(attack.event, scores, seen.labels)
        yield from _chosen_and_counted(scores, seen.labels, attack)

    return counting


def _grouped(attack: Attack, times: int) -> Iterator[Counts]:
    """Yield the guesses on the counted runs, `times` of one label as one output whose score is their sum."""
    sums, labels = [], []
    for label in (False, True):
        scores = attack.scores[attack.labels == label]
        groups = scores[: len(scores) // times * times].reshape(-1, times).sum(axis=1)
        sums.append(groups)
        labels.append(np.full(len(groups), label))
    scores, truth = np.concatenate(sums), np.concatenate(labels)
    if len(scores) < _LEAST_RUNS or not np.isfinite(scores).all():
        return
    order = np.argsort(np.concatenate([np.linspace(0, 1, len(part)) for part in sums]), kind="stable")
    yield from _chosen_and_counted(rounded(scores[order]), truth[order], attack)


def _chosen_and_counted(scores: Array, labels: Array, attack: Attack) -> Iterator[Counts]:
    """Yield the guesses on the later runs, with an event that the first quarter of them chooses."""
    first = len(scores) // 4
    if len(np.unique(scores[:first])) < 2:
        return
    _, event = rated_event(scores[:first], labels[:first], attack.counted, attack.significance, LIKELIHOOD)
    if attack.against is not None:
        cut = cut_against(attack.against, scores[:first], labels[:first], attack.counted, attack.significance)
        event = replace(event, cut=cut)
    yield count_guesses(event, scores[first:], labels[first:])


def cells_of(blocks: tuple[Observed, ...]) -> tuple[CountedOdds | None, Array | None, Array]:
    """Return the distinct outputs of a quarter of some runs, if they are few, and cells and labels of the others."""
    seen = together(*blocks)
    quarter = len(seen) // 4
    first, others = np.arange(quarter), np.arange(quarter, len(seen))
    if quarter < _RUNS_A_CELL:
        return None, None, seen.labels
    score: Any = learn_score(take(seen.kept, first), seen.labels[first], np.random.default_rng(0))
    if not isinstance(score, CountedOdds) or len(score.odds) > quarter // _RUNS_A_CELL:
        return None, None, seen.labels
    return score, score.cells(take(seen.kept, others)), seen.labels[others]
