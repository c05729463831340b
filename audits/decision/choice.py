"""Three ways to choose the event of an attack: for a given score, for counted outputs, for a learned score."""

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from audits.attacks.classifier import LearnedScore, learn_score
from audits.attacks.columns import Columns
from audits.attacks.linear_odds import LinearOdds
from audits.attacks.logistic import log_likelihood
from audits.attacks.rare_values import RareValues
from audits.attacks.shared_shape import SharedShape
from audits.attacks.shown_number import ShownNumber
from audits.attacks.table import Table
from audits.decision.events import LEARNED, LIKELIHOOD, Event, event_by_odds, rated_event, rounded
from audits.decision.rare_events import rare_event, rare_p_value
from audits.decision.score_calibration import calibrated_odds
from audits.experiment.execution import Observed
from audits.experiment.readings import Reading
from audits.experiment.settings import Settings
from audits.experiment.trials import run_trials, together, whole
from audits.experiment.views import take
from dpaudit import AuditCase
from dpaudit.model.case import Score
from dpaudit.model.mechanism import Array

_CAUTION_WITH_COUNTS = 0.5
"""Odds of counted outputs are estimates: an event of few runs is lowered by so many standard errors of its share."""

_GRID = 2.0**-33

_ALONE, _TOGETHER = 0.6, 0.2
"""Rare values have a part of the significance where all runs so far refute the claim at the second level, and the
choosing runs alone at the first, or without a wrong guess."""

_COLUMN_MARGIN = 0.97
"""A column replaces a learned score of which it promises at least this share: fewer parameters were fitted."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Choosing:
    """The choosing stage: `runs` runs of `case` choose an event for `counted` runs at a significance.

    A rare event that already refutes `epsilon` at `delta` is preferred to one that promises no more.
    """

    case: AuditCase
    runs: int
    counted: int
    rng: np.random.Generator
    significance: float
    how: Settings
    read: Reading
    epsilon: float = math.inf
    delta: float = 0.0

    def observe(self, keep: Any) -> Observed:
        """Return the choosing runs, reduced by `keep`."""
        return run_trials(self.case, self.runs, self.rng, keep=keep, how=self.how, phase="choose", read=self.read)

    def rated(self, scores: Array, labels: Array, trust: float) -> tuple[float, Event]:
        """Return (promise, event) from scores and labels."""
        return rated_event(rounded(scores), labels, self.counted, self.significance, trust)

    def by_odds(self, scores: Array, caution: float = 0.0) -> tuple[float, Event]:
        """Return (promise, event) from scores that are log odds, lowered by `caution` standard errors."""
        return event_by_odds(rounded(scores), self.counted, self.significance, caution)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Choice:
    """A score with its event; `rare` scores rare values beside it, if any.

    `promise` is the bound to expect of the counted runs: an estimate from the choosing runs, less some standard errors.
    """

    attack: str
    score: Score
    promise: float
    event: Event
    rare: Score | None = None


def by_given_score(stage: Choosing, score: Score) -> Choice:
    """Return the event for a given score, from its values alone where they fit the labels as log odds.

    Scores that differ by less than 2^-33 of the largest are equal: sums of opposite terms carry rounding errors, whose
    signs follow the last bits of the outputs and not the score.
    """
    chosen = stage.observe(score)
    scores = rounded(chosen.kept)
    grid = float(np.abs(scores[np.isfinite(scores)]).max(initial=0.0)) * _GRID
    snapped = np.round(scores / grid) * grid if grid > 0 else scores
    own = len(np.unique(snapped)) > 1 and calibrated_odds(snapped, chosen.labels)[1]
    if not own:
        promise, event = stage.rated(scores, chosen.labels, LIKELIHOOD)
        return Choice(attack="given statistic", score=score, promise=promise, event=event)
    promise, event = stage.by_odds(snapped)
    event = replace(event, low=event.low + grid / 4, high=event.high - grid / 4)
    return Choice(attack="given statistic", score=score, promise=promise, event=event)


def by_counted_odds(stage: Choosing, lesson: Observed, most: int) -> Choice:
    """Return the event for counted outputs: up to `most` choosing runs are counted too, and the odds choose."""
    chosen = stage.observe(whole)
    some = np.arange(len(chosen))[:most]
    everything = together(lesson, Observed(labels=chosen.labels[some], kept=take(chosen.kept, some)))
    score = learn_score(everything.kept, everything.labels, stage.rng)
    promise, event = stage.by_odds(score(everything.kept), _CAUTION_WITH_COUNTS)
    return Choice(attack="learned classifier", score=score, promise=promise, event=event)


def by_learned_score(stage: Choosing, lesson: Observed, score: Score, rare: RareValues | None = None) -> Choice:
    """Return the event for a learned score, or for a single column that promises more.

    Rare values are kept where the choosing runs do not speak against what the teaching runs show of them.
    """
    columns: Columns | None = None
    rivals: tuple[Score, ...] = ()
    if isinstance(score, LearnedScore):
        columns = Columns.learned(score.table, score.discriminant, lesson.kept, lesson.labels)
        rivals = _rivals(score.table, lesson)
    last = tuple(part for part in (columns, rare) if part is not None)
    chosen = stage.observe(Beside((score, *rivals, *last)))
    shown = chosen if rare is None else replace(chosen, kept=chosen.kept[:, :-1])
    best = _best_score(stage, lesson, score, (rivals, columns), shown)
    if rare is None or not _believed(stage, (rare(lesson.kept), lesson.labels), (chosen.kept[:, -1], chosen.labels)):
        return best
    return replace(best, rare=rare)


def _believed(stage: Choosing, taught: tuple[Array, Array], chosen: tuple[Array, Array]) -> bool:
    """Return whether rare values may refute the claim: most choosing runs, and all runs together, are guessed right."""
    (runs, right), (more, more_right) = (_guessed(*part) for part in (chosen, taught))
    alone = rare_p_value(runs, right, stage.epsilon, stage.delta * len(chosen[0]))
    together = rare_p_value(runs + more, right + more_right, stage.epsilon, stage.delta * len(taught[0]))
    return (alone < _ALONE or right == runs) and together < _TOGETHER


def _guessed(scores: Array, labels: Array) -> tuple[int, int]:
    """Return how many runs rare values guess, and how many of them right."""
    return int((scores != 0).sum()), int(((scores > 0) & labels).sum() + ((scores < 0) & ~labels).sum())


def _best_score(
    stage: Choosing,
    lesson: Observed,
    score: Score,
    beside: tuple[tuple[Score, ...], Columns | None],
    chosen: Observed,
) -> Choice:
    """Return the event of the learned score, of a rival or of a single column, or a rare event of the learned score."""
    rivals, columns = beside
    trust = LIKELIHOOD if isinstance(score, LearnedScore) and not score.trees else LEARNED
    promise, event = stage.rated(chosen.kept[:, 0], chosen.labels, trust)
    best = Choice(attack="learned classifier", score=score, promise=promise, event=event)
    if columns is None:
        return _or_rare(best, stage, lesson, chosen)
    best = _or_rival(best, stage, rivals, chosen)
    labels = np.concatenate([lesson.labels, chosen.labels])
    own = chosen.kept[:, 1 + len(rivals) :]
    values = np.concatenate([columns(lesson.kept), own])
    for position, column in enumerate(values.T):
        fitted = columns.fitted(position)
        promise, event = stage.rated(*((own[:, position], chosen.labels) if fitted else (column, labels)), LEARNED)
        if promise > best.promise * (_COLUMN_MARGIN if best.attack == "learned classifier" and not fitted else 1.0):
            best = Choice(attack="learned column", score=columns.only(position), promise=promise, event=event)
    if best.promise > stage.epsilon:
        return best
    learned = replace(best, attack="learned classifier", score=score)
    return best if (rare := _or_rare(learned, stage, lesson, chosen)) is learned else rare


def _rivals(table: Table, lesson: Observed) -> tuple[Score, ...]:
    """Return the scores with few weights that `lesson` teaches: linear, of one shape, of the numbers that are shown."""
    linear = LinearOdds.learned(table, table.numbers(lesson.kept), lesson.labels)
    others = (kind.learned(table, lesson.kept, lesson.labels) for kind in (SharedShape, ShownNumber))
    return tuple(rival for rival in (linear, *others) if rival is not None)


def _or_rival(choice: Choice, stage: Choosing, rivals: tuple[Score, ...], chosen: Observed) -> Choice:
    """Return the choice, or the rival that explains the labels best, where it promises as much.

    Its own odds choose the event if they fit.
    """
    columns = [rounded(column) for column in chosen.kept[:, : 1 + len(rivals)].T]
    likelihoods = [float(log_likelihood(column, chosen.labels)) for column in columns]
    best = int(np.argmax(likelihoods))
    if best == 0:
        return choice
    scores = columns[best]
    promise, event = stage.rated(scores, chosen.labels, LIKELIHOOD)
    if promise < choice.promise * _COLUMN_MARGIN:
        return choice
    if len(np.unique(scores)) > 1 and calibrated_odds(scores, chosen.labels)[1]:
        event = stage.by_odds(scores)[1]
    return Choice(attack="learned classifier", score=rivals[best - 1], promise=promise, event=event)


def _or_rare(choice: Choice, stage: Choosing, lesson: Observed, chosen: Observed) -> Choice:
    """Return the choice, or with its score a rare event that refutes the claim where the choice promises less."""
    if choice.promise > stage.epsilon or not np.isfinite(stage.epsilon):
        return choice
    scores = chosen.kept.reshape(len(chosen), -1)[:, 0]
    taught = rounded(choice.score(lesson.kept)), lesson.labels
    event = rare_event(taught, (rounded(scores), chosen.labels), stage.epsilon, stage.delta, choice.event.cut)
    return choice if event is None else replace(choice, event=event)


@dataclass(frozen=True, slots=True, eq=False)
class Beside:
    """Several scores of each run. Shape of the result: (runs, scores)."""

    parts: tuple[Score, ...]

    def __call__(self, view: Any) -> Array:
        """Return the scores of each run."""
        return np.column_stack([part(view) for part in self.parts])
