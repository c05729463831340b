"""Before anything is counted: teach the attack and choose its event, on runs of their own."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from audits.attacks.classifier import LearnedScore, learn_score
from audits.attacks.columns import Columns
from audits.coin import Execution, Progress, toss, whole
from audits.events import LEARNED, LIKELIHOOD, Event, rated_event, rounded
from dpaudit import AuditCase
from dpaudit.case import Score
from dpaudit.mechanism import Array

Learner = Callable[[Any, Array, np.random.Generator], Score]
"""learner(view, labels, rng) -> a score; labels are true where the second neighbour ran."""

_CHOOSING_SHARE, _MOST_CHOOSING, _CHOOSING_STILL = 0.1, 5_000, 0.01
_PLAIN = 0.97
_LEARNING_SHARE, _MOST_LEARNING, _LEARNING_STILL = 0.15, 20_000, 0.02


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
    learning = 0
    if case.score is None:
        learning = min(int(_LEARNING_SHARE * runs) + 1, max(_MOST_LEARNING, int(_LEARNING_STILL * runs)))
    choosing = max(1, min(int(_CHOOSING_SHARE * runs), max(_MOST_CHOOSING, int(_CHOOSING_STILL * runs))))
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

    The third of the `sizes` is how many runs there are to count; none of them is run here.
    """
    learning, choosing, counted = sizes
    learn_rng, choose_rng, count_rng, own = rng.spawn(4)
    quiet = replace(how, progress=None)
    score, attack, columns = case.score, "given statistic", None
    labels, sides = np.zeros(0, dtype=bool), None
    if score is None:
        seen = toss(case, learning, learn_rng, keep=whole, how=replace(quiet, store=None))
        score, attack = (learner or learn_score)(seen.kept, seen.labels, own), "learned classifier"
        if isinstance(score, LearnedScore):
            columns = Columns.learned(score.table, score.discriminant, seen.kept, seen.labels)
            labels, sides = seen.labels, columns(seen.kept)
    chosen = toss(case, choosing, choose_rng, keep=_Side(score, columns), how=quiet, phase="choose")
    trust = LEARNED if case.score is None else LIKELIHOOD
    promise, event = rated_event(rounded(chosen.kept[:, 0]), chosen.labels, counted, significance, trust)
    if columns is not None and sides is not None:
        labels, sides = np.concatenate([labels, chosen.labels]), np.concatenate([sides, chosen.kept[:, 1:]])
        rated = [rated_event(rounded(side), labels, counted, significance) for side in sides.T]
        place = max(range(len(rated)), key=lambda i: rated[i][0])
        if rated[place][0] > _PLAIN * promise:
            promise, event = rated[place]
            score, attack = columns.only(place), "learned column"
    return Prepared(
        attack=attack, score=score, event=event, promise=promise, runs=sum(sizes), counted=counted, rng=count_rng
    )


@dataclass(frozen=True, slots=True, eq=False)
class _Side:
    """A score and, beside it, columns. Shape of what it returns: (runs, 1 + columns)."""

    score: Score
    columns: Columns | None

    def __call__(self, view: Any) -> Array:
        """Return all of them."""
        beside = () if self.columns is None else (self.columns(view),)
        return np.column_stack([self.score(view), *beside])


def _counting_on(progress: Progress | None, before: int, total: int) -> Progress | None:
    """Return a progress that starts `before` runs later, or none."""
    if progress is None:
        return None

    def report(done: int, _: int) -> None:
        progress(before + done, total)

    return report
