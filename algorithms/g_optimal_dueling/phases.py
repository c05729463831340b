"""The phases of the G-optimal dueling bandit for many runs in lock-step, in which duels are counts.

Runs with the same options left share a phase: its design, its comparisons and their numbers are public. Phase l takes
the rounds [t_l, t_l + n_l); no person is in two phases. Where the horizon cuts a phase short its sums are never
released. Every phase that the schedule could reach is released in every run, of nobody's answers where a run
did not reach it, so that the number of releases tells nothing.
"""

from dataclasses import dataclass, field

import numpy as np

from algorithms._dueling.voters import Voters
from algorithms.g_optimal_dueling.design import Design, g_optimal
from algorithms.g_optimal_dueling.plan import Plan, phase_label
from dpaudit import Recorder, Streams
from dpaudit.model.mechanism import Array


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Outcome:
    """What runs did. Shape: plays (n_runs, K, K), alive and scores (n_runs, K), survivors (n_runs, phases + 1, K).

    `shared` says whether every person was in one sum of one phase in all runs; `spent` the rounds of finished phases.
    """

    plays: Array
    alive: Array
    scores: Array
    survivors: Array
    spent: Array
    shared: bool


@dataclass(slots=True, kw_only=True)
class _Designs:
    """Designs by the options left, each computed once in a run."""

    features: Array
    tolerance: float
    computed: dict[bytes, Design] = field(default_factory=dict)

    def of(self, alive: Array) -> Design:
        """Return the design over the comparisons of the options left."""
        key = alive.tobytes()
        if key not in self.computed:
            self.computed[key] = g_optimal(self.features, np.flatnonzero(alive), self.tolerance)
        return self.computed[key]


def play_phases(
    plan: Plan, features: Array, voters: Voters, streams: Streams, n_runs: int, recorder: Recorder
) -> Outcome:
    """Return what `n_runs` runs did. Shape: features (K, d), no row longer than the paper's unit ball asks for."""
    arms = len(features)
    designs = _Designs(features=features, tolerance=plan.tolerance)
    first_design = designs.of(np.ones(arms, dtype=bool))
    alive, spent = np.ones((n_runs, arms), dtype=bool), np.zeros(n_runs, dtype=np.int64)
    plays, scores = np.zeros((n_runs, arms, arms)), np.zeros((n_runs, arms))
    survivors, shared = [alive], True
    reached = np.full(n_runs, plan.lengths.phases() + 1)
    for phase in range(1, plan.lengths.phases() + 1):
        cells = [_Cell.of(plan, designs, first_design, alive, spent, phase, at) for at in _alike(alive, spent)]
        wins = np.zeros((n_runs, max((1, *(cell.groups for cell in cells)))))
        for cell in cells:
            shared &= cell.play(plan, voters, streams, plays, wins)
            if not cell.complete:
                reached[cell.runs] = np.minimum(reached[cell.runs], phase)
        noisy = plan.release(recorder, phase_label(phase), plan.mechanism, wins)  # Algorithm 2: o_hat, Lap(1 / eps)
        alive = alive.copy()
        for cell in (finished for finished in cells if finished.complete):
            at = cell.runs
            estimate = plan.estimate(cell.vectors, cell.plays, noisy[at, : cell.groups], plan.radius, plan.ridge)
            scores[at] = estimate @ features.T
            alive[at] = plan.eliminate(scores[at], alive[at], 2 * 0.5**phase)  # line 10: 2 xi_l, xi_l = 2^-l
            spent[at] += int(cell.plays.sum())
        survivors.append(alive)
    _commit(plan, designs, first_design, (alive, scores, spent, reached), plays)
    return Outcome(
        plays=plays, alive=alive, scores=scores, survivors=np.stack(survivors, axis=1), spent=spent, shared=shared
    )


def _alike(alive: Array, spent: Array) -> list[Array]:
    """Return the runs in groups with the same options left and the same rounds spent, those that still play."""
    left = np.flatnonzero(alive.sum(axis=1) > 1)
    keys = np.column_stack([alive[left], spent[left]])
    _, classes = np.unique(keys, axis=0, return_inverse=True)
    return [left[classes.ravel() == label] for label in range(int(classes.max(initial=-1)) + 1)]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Cell:
    """Runs that share a phase: who is compared how often, G comparisons, and whether the horizon suffices."""

    runs: Array
    start: int
    first: Array
    second: Array
    vectors: Array
    plays: Array
    complete: bool

    @property
    def groups(self) -> int:
        """How many comparisons have a sum of their own."""
        return len(self.first)

    @classmethod
    def of(
        cls, plan: Plan, designs: _Designs, first_design: Design, alive: Array, spent: Array, phase: int, at: Array
    ) -> "_Cell":
        """Return the phase of runs `at`: the design's comparisons, and those of the first design for random plays.

        The t_0 random plays are drawn from the first design in expectation, rounded: public, and the same in all runs.
        Every comparison has one sum; one that is in both designs has them together.
        """
        design = designs.of(alive[at[0]])
        plays = np.ceil(plan.lengths.total(phase) * design.weights)  # T_l = ceil(N_l pi_l)
        random = plan.lengths.random_plays()  # t_0 of Theorem 3
        counts = {(int(a), int(b)): n for a, b, n in zip(design.first, design.second, plays, strict=True)}
        if random:
            for a, b, weight in zip(first_design.first, first_design.second, first_design.weights, strict=True):
                counts[int(a), int(b)] = counts.get((int(a), int(b)), 0.0) + np.ceil(random * weight)
        pairs = np.array(list(counts), dtype=np.int64).reshape(-1, 2)
        totals = np.array(list(counts.values()))
        start = int(spent[at[0]])
        return cls(
            runs=at,
            start=start,
            first=pairs[:, 0],
            second=pairs[:, 1],
            vectors=designs.features[pairs[:, 0]] - designs.features[pairs[:, 1]],
            plays=totals,
            complete=bool(len(pairs)) and start + int(totals.sum()) <= plan.horizon,
        )

    def play(self, plan: Plan, voters: Voters, streams: Streams, plays: Array, wins: Array) -> bool:
        """Play the phase if it fits, enter its wins, and return whether everybody was in exactly one sum."""
        if not self.complete:
            return True
        counts = np.tile(self.plays, (len(self.runs), 1))
        won = voters.wins(self.start, self.first, self.second, counts, streams.environment)
        wins[self.runs[:, None], np.arange(self.groups)] = won
        plays[self.runs[:, None], self.first, self.second] += counts
        return bool(((won >= 0) & (won <= counts)).all())


def _commit(
    plan: Plan, designs: _Designs, first_design: Design, state: tuple[Array, Array, Array, Array], plays: Array
) -> None:
    """Play the rounds that are left: the best option against itself, or a phase that the horizon cuts short.

    A phase that does not fit is played in order, comparison by comparison, and released never.
    """
    alive, scores, spent, reached = state
    for at in _alike(alive, spent):
        cell = _Cell.of(plan, designs, first_design, alive, spent, int(reached[at[0]]), at)
        rounds_left = plan.horizon - cell.start
        if not cell.groups:
            plays[at, scores[at].argmax(axis=1), scores[at].argmax(axis=1)] += rounds_left
            continue
        before = np.concatenate([[0.0], np.cumsum(cell.plays)[:-1]])
        share = np.clip(rounds_left - before, 0, cell.plays)
        plays[at[:, None], cell.first, cell.second] += share
        spare = rounds_left - share.sum()
        best = np.where(alive[at], scores[at], -np.inf).argmax(axis=1)
        plays[at, best, best] += spare
    single = np.flatnonzero(alive.sum(axis=1) == 1)
    best = alive[single].argmax(axis=1)
    plays[single, best, best] += plan.horizon - spent[single]
