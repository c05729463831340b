"""Before anything is counted: teach the attack and choose its event, on runs of their own."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from audits.attacks.classifier import learn_score
from audits.coin import Execution, Progress, toss, whole
from audits.events import Event, choose_event, rounded
from dpaudit import AuditCase
from dpaudit.case import Score
from dpaudit.mechanism import Array

Learner = Callable[[Any, Array, np.random.Generator], Score]
"""learner(view, labels, rng) -> a score; labels are true where the second neighbour ran."""

_CHOOSING_SHARE, _MOST_CHOOSING = 0.1, 5_000
_LEARNING_SHARE, _MOST_LEARNING = 0.2, 20_000


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
    score, attack, learning = case.score, "given statistic", 0
    if score is None:
        learning = min(int(_LEARNING_SHARE * runs) + 1, _MOST_LEARNING)
        seen = toss(case, learning, learn_rng, keep=whole, how=replace(quiet, store=None))
        score, attack = (learner or learn_score)(seen.kept, seen.labels, own), "learned classifier"
    choosing = max(1, min(int(_CHOOSING_SHARE * runs), _MOST_CHOOSING))
    chosen = toss(case, choosing, choose_rng, keep=score, how=quiet, phase="choose")
    counted = runs - learning - choosing
    event = choose_event(rounded(chosen.kept), chosen.labels, counted, significance)
    return Prepared(attack=attack, score=score, event=event, runs=runs, counted=counted, rng=count_rng)


def _counting_on(progress: Progress | None, before: int, total: int) -> Progress | None:
    """Return a progress that starts `before` runs later, or none."""
    if progress is None:
        return None

    def report(done: int, _: int) -> None:
        progress(before + done, total)

    return report
