"""Preparation of an attack: runs that are not counted teach its score and choose its event."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from math import inf, isfinite
from typing import Any

import numpy as np

from audits.attacks.classifier import learn_score
from audits.attacks.counting import CountedOdds
from audits.attacks.low_bits import LowBits, learn_low_bits
from audits.attacks.rare_values import learn_rare_values
from audits.decision.choice import Beside, Choice, Choosing, by_counted_odds, by_given_score, by_learned_score
from audits.decision.events import count_guesses, rounded
from audits.decision.seen import NOTHING_SEEN, Seen, seen_in
from audits.experiment.execution import Observed, Progress
from audits.experiment.function_case import FunctionCase
from audits.experiment.readings import Reading, reading_of
from audits.experiment.settings import Settings
from audits.experiment.trials import run_trials, together, whole
from audits.experiment.views import length
from dpaudit import AuditCase
from dpaudit.model.audit_result import Counts
from dpaudit.model.case import Score
from dpaudit.model.mechanism import Array

LEAST_LEARNING = 20_000
"""So many runs are learned from however large their outputs are."""

NOTHING_CLAIMED = (float("inf"), 0.0)
"""The epsilon and delta of no claim at all."""

_CHOOSING_SHARE, _LEARNING_SHARE = 0.1, 0.15
_RUNS_A_CELL = 20
_ROOM, _BYTES_A_ROW = 2**28, 2**10


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Prepared:
    """A fixed attack: its score with its event, and the number and random stream of the runs to count."""

    choice: Choice
    runs: int
    counted: int
    rng: np.random.Generator
    read: Reading
    cells: CountedOdds | None = None
    low_bits: LowBits | None = None
    seen: Seen = NOTHING_SEEN

    def count(self, case: AuditCase, how: Settings) -> "Counted":
        """Return scores and labels of the counted runs, and what else is read from each."""
        counting = replace(how, progress=_offset(how.progress, self.runs - self.counted, self.runs))
        score, rare = self.choice.score, self.choice.rare
        beside = tuple(p for p in (self.cells and self.cells.cells, rare, self.low_bits) if p is not None)
        keep = score if not beside else Beside((score, *beside))
        counted = run_trials(case, self.counted, self.rng, keep=keep, how=counting, phase="count", read=self.read)
        columns = counted.kept.reshape(len(counted), -1).T
        return Counted(
            scores=rounded(columns[0]),
            labels=counted.labels,
            cells=columns[1] if self.cells is not None else None,
            rare=columns[1 + (self.cells is not None)] if rare is not None else None,
            bit_guesses=columns[-1] if self.low_bits is not None else None,
        )

    def guesses(self, case: AuditCase, how: Settings) -> Counts:
        """Return the counts of the event's guesses on the counted runs."""
        counted = self.count(case, how)
        return count_guesses(self.choice.event, counted.scores, counted.labels)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Counted:
    """The counted runs, one entry a run: score, label, cell, and guesses (1, 0, -1) of rare values and last bits."""

    scores: Array
    labels: Array
    cells: Array | None
    rare: Array | None
    bit_guesses: Array | None

    def part(self, runs: slice) -> "Counted":
        """Return some of the runs."""
        return replace(
            self,
            scores=self.scores[runs],
            labels=self.labels[runs],
            cells=None if self.cells is None else self.cells[runs],
            rare=None if self.rare is None else self.rare[runs],
            bit_guesses=None if self.bit_guesses is None else self.bit_guesses[runs],
        )


def usual_sizes(case: AuditCase, runs: int) -> tuple[int, int, int]:
    """Return how many of `runs` runs teach, choose and are counted: a tenth chooses, none teaches beside a score."""
    learning = 0 if case.score is not None else int(_LEARNING_SHARE * runs) + 1
    choosing = max(1, int(_CHOOSING_SHARE * runs))
    return learning, choosing, runs - learning - choosing


def prepare(
    case: AuditCase,
    runs: int | tuple[int, int, int],
    rng: np.random.Generator,
    significance: float,
    how: Settings,
    claimed: tuple[float, float] = NOTHING_CLAIMED,
    *,
    rounded: bool = False,
) -> Prepared:
    """Return the attack on `case` for an audit of `runs` runs, or of so many that teach, choose and are counted.

    `claimed` is the (epsilon, delta) that the audit would refute: a rare event that already does is preferred to one
    that promises no more. `rounded` says that outputs are known to be rounded by their data. Deterministic given the
    state of `rng`: the same stream prepares the same attack again. Does not advance `rng`; spawns child generators.
    The counted runs are not executed here. Outputs beyond 2^28 bytes are not learned from: those runs are counted
    instead.
    """
    learning, choosing, counted = usual_sizes(case, runs) if isinstance(runs, int) else runs
    learn_rng, choose_rng, count_rng, own_rng = rng.spawn(4)
    stage = Choosing(
        case=case,
        runs=choosing,
        counted=counted,
        rng=choose_rng,
        significance=significance,
        how=replace(how, progress=None),
        read=reading_of(case, how) if how.learner is None else Reading(columns=False),
        epsilon=claimed[0],
        delta=claimed[1],
    )
    fixed = partial(Prepared, runs=learning + choosing + counted, rng=count_rng, read=stage.read)
    if case.score is not None:
        return fixed(choice=by_given_score(stage, case.score), counted=counted)
    lesson = _lesson(stage, learning, learn_rng)
    stage = replace(stage, counted=counted + learning - len(lesson))
    score = (how.learner or learn_score)(lesson.kept, lesson.labels, own_rng)
    if how.learner is not None:
        return fixed(choice=by_learned_score(stage, lesson, score, None), counted=stage.counted)
    choice, cells = _by_outputs(stage, lesson, score)
    low_bits = _low_bits(case, lesson, counted, claimed[0] if rounded else inf)
    return fixed(choice=choice, counted=stage.counted, cells=cells, low_bits=low_bits, seen=seen_in(lesson.kept))


def _by_outputs(stage: Choosing, lesson: Observed, score: Score) -> tuple[Choice, CountedOdds | None]:
    """Return the choice by what the built-in attack learned, and the cells of outputs with few distinct values."""
    if not isinstance(score, CountedOdds):
        rare = learn_rare_values(lesson) if isfinite(stage.epsilon) else None
        return by_learned_score(stage, lesson, score, rare), None
    choice = by_counted_odds(stage, lesson, max(len(lesson), LEAST_LEARNING))
    most_cells = (len(lesson) + stage.runs) // _RUNS_A_CELL
    if isinstance(choice.score, CountedOdds) and len(choice.score.odds) <= most_cells:
        return choice, choice.score
    return choice, None


def _low_bits(case: AuditCase, lesson: Observed, counted: int, above: float) -> LowBits | None:
    """Return the guess from last bits: that from coarse noise where arithmetic is exact, or else from all bits."""
    exact = isinstance(case, FunctionCase) and case.arithmetic == "exact"
    coarse = learn_low_bits(lesson.kept, lesson.labels, counted, exact=True) if exact else None
    return coarse or learn_low_bits(lesson.kept, lesson.labels, counted, rounded_above=above)


def _lesson(stage: Choosing, learning: int, rng: np.random.Generator) -> Observed:
    """Return the runs to learn from; fewer than `learning` where their outputs exceed the memory."""
    first_rng, rest_rng = rng.spawn(2)
    case, how, read = stage.case, replace(stage.how, store=None), stage.read
    first = run_trials(case, min(learning, how.chunk_runs), first_rng, keep=whole, how=how, read=read)
    room = max(LEAST_LEARNING, _ROOM * len(first) // max(1, _bytes(first.kept)))
    runs_left = min(learning, room) - len(first)
    if runs_left <= 0:
        return first
    return together(first, run_trials(case, runs_left, rest_rng, keep=whole, how=how, read=read))


def _bytes(view: Any) -> int:
    """Return about how much memory a view takes as a table of doubles."""
    if isinstance(view, Mapping):
        return sum(map(_bytes, view.values()))
    return 8 * view.size if isinstance(view, np.ndarray) and view.dtype != object else _BYTES_A_ROW * length(view)


def _offset(progress: Progress | None, before: int, total: int) -> Progress | None:
    """Return a progress callback that counts from `before`, or None."""
    if progress is None:
        return None

    def report(done: int, _: int) -> None:
        progress(before + done, total)

    return report
