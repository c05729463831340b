"""Before anything is counted: teach the attack and choose its event, on runs of their own."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from audits.attacks.classifier import LearnedScore, learn_score
from audits.attacks.columns import Columns
from audits.attacks.counting import CountedOdds
from audits.decision.events import LEARNED, LIKELIHOOD, Event, event_by_odds, rated_event, rounded
from audits.decision.score_calibration import calibrated_odds
from audits.experiment.trials import Execution, Observed, Progress, toss, whole
from audits.experiment.views import compact, concatenate, length, take
from dpaudit import AuditCase
from dpaudit.model.case import Score
from dpaudit.model.mechanism import Array

Learner = Callable[[Any, Array, np.random.Generator], Score]
"""learner(view, labels, rng) -> a score; labels are true where the second neighbour ran."""

_CHOOSING_SHARE, _LEARNING_SHARE = 0.1, 0.15
_PLAIN = 0.97
_ROOM, _LEAST_LEARNING, _BYTES_A_ROW = 2**28, 20_000, 2**10


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Prepared:
    """An attack that is fixed: its score, its event, and the stream and number of the runs to count.

    `promise` is the bound that the runs which chose the event expect of it, cautiously.
    """

    attack: str
    score: Score
    event: Event
    promise: float
    runs: int
    counted: int
    rng: np.random.Generator

    def count(self, case: AuditCase, how: Execution) -> tuple[Array, Array]:
        """Return scores and coins of the counted runs."""
        moved = replace(how, progress=_counting_on(how.progress, self.runs - self.counted, self.runs))
        seen = toss(case, self.counted, self.rng, keep=self.score, how=moved, phase="count")
        return rounded(seen.kept), seen.labels


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Choice:
    """A score with its event, and what that promises."""

    attack: str
    score: Score
    promise: float
    event: Event


def prepare(
    case: AuditCase,
    runs: int,
    rng: np.random.Generator,
    significance: float,
    learner: Learner | None,
    how: Execution,
) -> Prepared:
    """Return the attack on `case` that `runs` runs allow: some teach a score if there is none, a tenth choose.

    Deterministic given the state of `rng`, which only spawns: the same stream prepares the same attack again.
    """
    learning = 0 if case.score is not None else int(_LEARNING_SHARE * runs) + 1
    choosing = max(1, int(_CHOOSING_SHARE * runs))
    return attempt(case, (learning, choosing, runs - learning - choosing), rng, significance, learner, how)


def attempt(
    case: AuditCase,
    sizes: tuple[int, int, int],
    rng: np.random.Generator,
    significance: float,
    learner: Learner | None,
    how: Execution,
) -> Prepared:
    """Return the attack that so many runs to learn from (none for a given score) and to choose on give.

    The third of the `sizes` is how many runs there are to count; none of them is run here. Outputs beyond 2^28 bytes
    teach nothing: those runs are counted instead.
    """
    learning, choosing, counted = sizes
    learn_rng, choose_rng, count_rng, own = rng.spawn(4)
    quiet = replace(how, progress=None)
    if case.score is not None:
        choice = _given(case, case.score, choosing, choose_rng, counted, significance, quiet)
    else:
        kept = compact if learner is None else whole
        seen = _lesson(case, learning, learn_rng, kept, replace(quiet, store=None))
        counted += learning - len(seen)
        score = (learner or learn_score)(seen.kept, seen.labels, own)
        choose = _counted if isinstance(score, CountedOdds) and learner is None else _learned
        choice = choose(case, score, seen, (choosing, counted), choose_rng, significance, quiet)
    return Prepared(
        attack=choice.attack,
        score=choice.score,
        event=choice.event,
        promise=choice.promise,
        runs=sum(sizes),
        counted=counted,
        rng=count_rng,
    )


def _lesson(
    case: AuditCase, learning: int, rng: np.random.Generator, keep: Callable[[Any], Any], how: Execution
) -> Observed:
    """Return the runs to learn from, as `keep` leaves their outputs; fewer where these would not fit."""
    first_rng, rest_rng = rng.spawn(2)
    first = toss(case, min(learning, how.chunk_runs), first_rng, keep=keep, how=how)
    room = max(_LEAST_LEARNING, _ROOM * len(first) // max(1, _bytes(first.kept)))
    rest = min(learning, room) - len(first)
    if rest <= 0:
        return first
    more = toss(case, rest, rest_rng, keep=keep, how=how)
    return _together(first, more)


def _given(
    case: AuditCase,
    score: Score,
    choosing: int,
    rng: np.random.Generator,
    counted: int,
    significance: float,
    how: Execution,
) -> _Choice:
    """Return the event for a given score: by its odds alone where coins do not speak against them."""
    chosen = toss(case, choosing, rng, keep=score, how=how, phase="choose")
    scores = rounded(chosen.kept)
    own = len(np.unique(scores)) > 1 and calibrated_odds(scores, chosen.labels)[1]
    promise, event = (
        event_by_odds(scores, counted, significance)
        if own
        else rated_event(scores, chosen.labels, counted, significance, LIKELIHOOD)
    )
    return _Choice(attack="given statistic", score=score, promise=promise, event=event)


def _counted(
    case: AuditCase,
    score: Score,
    seen: Observed,
    sizes: tuple[int, int],
    rng: np.random.Generator,
    significance: float,
    how: Execution,
) -> _Choice:
    """Return the event for counted outputs: the runs that choose are counted as well, and the odds say the rest."""
    chosen = toss(case, sizes[0], rng, keep=compact, how=how, phase="choose")
    fits = slice(max(len(seen), _LEAST_LEARNING))
    everything = _together(
        seen, Observed(labels=chosen.labels[fits], kept=take(chosen.kept, np.arange(len(chosen))[fits]))
    )
    better = learn_score(everything.kept, everything.labels, rng)
    promise, event = event_by_odds(rounded(better(everything.kept)), sizes[1], significance)
    return _Choice(attack="learned classifier", score=better, promise=promise, event=event)


def _learned(
    case: AuditCase,
    score: Score,
    seen: Observed,
    sizes: tuple[int, int],
    rng: np.random.Generator,
    significance: float,
    how: Execution,
) -> _Choice:
    """Return the event for a learned score, or for one of the columns that compete with it."""
    columns = None
    if isinstance(score, LearnedScore):
        columns = Columns.learned(score.table, score.discriminant, seen.kept, seen.labels)
    chosen = toss(case, sizes[0], rng, keep=_Side(score, columns), how=how, phase="choose")
    trust = LIKELIHOOD if isinstance(score, LearnedScore) and not score.trees else LEARNED
    promise, event = rated_event(rounded(chosen.kept[:, 0]), chosen.labels, sizes[1], significance, trust)
    best = _Choice(attack="learned classifier", score=score, promise=promise, event=event)
    if columns is None:
        return best
    labels = np.concatenate([seen.labels, chosen.labels])
    sides = np.concatenate([columns(seen.kept), chosen.kept[:, 1:]])
    for place, side in enumerate(sides.T):
        promise, event = rated_event(rounded(side), labels, sizes[1], significance, LEARNED)
        if promise > best.promise * (_PLAIN if best.score is score else 1.0):
            best = _Choice(attack="learned column", score=columns.only(place), promise=promise, event=event)
    return best


@dataclass(frozen=True, slots=True, eq=False)
class _Side:
    """A score and, beside it, columns. Shape of what it returns: (runs, 1 + columns)."""

    score: Score
    columns: Columns | None

    def __call__(self, view: Any) -> Array:
        """Return all of them."""
        beside = () if self.columns is None else (self.columns(view),)
        return np.column_stack([self.score(view), *beside])


def _together(first: Observed, second: Observed) -> Observed:
    """Return the runs of both."""
    return Observed(labels=np.concatenate([first.labels, second.labels]), kept=concatenate([first.kept, second.kept]))


def _bytes(view: Any) -> int:
    """Return about how much memory a view takes as a table of doubles."""
    if isinstance(view, Mapping):
        return sum(map(_bytes, view.values()))
    return 8 * view.size if isinstance(view, np.ndarray) and view.dtype != object else _BYTES_A_ROW * length(view)


def _counting_on(progress: Progress | None, before: int, total: int) -> Progress | None:
    """Return a progress that starts `before` runs later, or none."""
    if progress is None:
        return None

    def report(done: int, _: int) -> None:
        progress(before + done, total)

    return report
