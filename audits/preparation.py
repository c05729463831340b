"""Before anything is counted: teach the attack and choose its event, on runs of their own."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from audits.attacks.classifier import LearnedScore, learn_score
from audits.attacks.columns import Columns
from audits.coin import Execution, Observed, Progress, toss, whole
from audits.events import LEARNED, LIKELIHOOD, Event, rated_event, rounded
from dpaudit import AuditCase
from dpaudit.case import Score
from dpaudit.mechanism import Array

Learner = Callable[[Any, Array, np.random.Generator], Score]
"""learner(view, labels, rng) -> a score; labels are true where the second neighbour ran."""

_CHOOSING_SHARE, _MOST_CHOOSING, _CHOOSING_STILL = 0.1, 5_000, 0.01
_LEARNING_SHARE, _MOST_LEARNING, _LEARNING_STILL = 0.15, 20_000, 0.02


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Prepared:
    """An attack that is fixed: its score, its event, and the stream and number of the runs to count."""

    attack: str
    score: Score
    event: Event
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
    """Return the attack on `case` that `runs` runs allow: a fifth teach a score if there is none, a tenth choose.

    Deterministic given the state of `rng`, which only spawns: the same stream prepares the same attack again.
    """
    learn_rng, choose_rng, count_rng, own = rng.spawn(4)
    quiet = replace(how, progress=None)
    given, attack, learning = case.score, "given statistic", 0
    seen, columns = Observed(labels=np.zeros(0, dtype=bool), kept=None), None
    if given is None:
        learning = min(int(_LEARNING_SHARE * runs) + 1, max(_MOST_LEARNING, int(_LEARNING_STILL * runs)))
        seen = toss(case, learning, learn_rng, keep=whole, how=replace(quiet, store=None))
        given, attack = (learner or learn_score)(seen.kept, seen.labels, own), "learned classifier"
        if isinstance(given, LearnedScore):
            columns = Columns.learned(given.table, given.discriminant, seen.kept, seen.labels)
    choosing = max(1, min(int(_CHOOSING_SHARE * runs), max(_MOST_CHOOSING, int(_CHOOSING_STILL * runs))))
    chosen = toss(case, choosing, choose_rng, keep=_Side(given, columns), how=quiet, phase="choose")
    counted = runs - learning - choosing
    trust = LEARNED if case.score is None else LIKELIHOOD
    prospect, event = rated_event(rounded(chosen.kept[:, 0]), chosen.labels, counted, significance, trust)
    if columns is not None:
        labels = np.concatenate([seen.labels, chosen.labels])
        scores = np.concatenate([columns(seen.kept), chosen.kept[:, 1:]])
        for place in range(scores.shape[1]):
            rated = rated_event(rounded(scores[:, place]), labels, counted, significance)
            if rated[0] > prospect:
                prospect, event = rated
                given, attack = columns.only(place), "learned column"
    return Prepared(attack=attack, score=given, event=event, runs=runs, counted=counted, rng=count_rng)


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
