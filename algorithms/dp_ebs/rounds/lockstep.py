"""The rounds of DP-EBS for many runs in lock-step: one loop over rounds, everything else over all runs at once.

Inside, the axis of options comes first and runs are contiguous, as every step reduces over options. Runs that are over
are dropped now and then. Memory: 16 K^2 + 8 K (levels + 8) bytes a run.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from algorithms._dueling.voters import Voters
from algorithms.dp_ebs.noise.shuffled import VOTE
from algorithms.dp_ebs.plan import Counters, Plan, debiased
from algorithms.dp_ebs.rounds.taped import taped
from algorithms.dp_ebs.settings import BROKEN
from dpaudit import Streams
from dpaudit.model.mechanism import Array
from dpaudit.model.tape import released_on_tape

REMOVAL = -1
"""The source of an element that a removal pushed: REMOVAL - i for option i; plays have their round, from 0."""

_IDLE_SHARE = 0.1


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Outcome:
    """What runs did. Shape: plays (n_runs, K, K) by left and right option, eliminated_at (n_runs, K).

    A removal counts the rounds up to it; horizon + 1 stands for never.
    """

    plays: Array
    eliminated_at: Array


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Pushed:
    """Elements that entered counters of some runs at once, and what was shown: what an observer sees."""

    runs: Array
    arms: Array
    clocks: Array
    outputs: Array
    source: int
    left: Array
    right: Array


Watch = Callable[[Pushed], None]


class _Runs:
    """The state of the runs that are not over. Shape: (K, runs) where not said otherwise."""

    def __init__(self, *, plan: Plan, counters: Counters, ids: Array) -> None:
        self.plan, self.counters, self.ids = plan, counters, ids
        arms, runs = plan.arms, len(ids)
        self.retained = np.zeros((arms, runs))
        self.upper, self.lower = np.full((arms, runs), np.inf), np.full((arms, runs), -np.inf)
        self.alive = np.ones((arms, runs), dtype=bool)
        self.lists = np.tile(np.arange(arms), (runs, 1))
        self.left = np.full(runs, arms)
        self.pairs, self.wins = np.zeros((arms, arms, runs)), np.zeros((arms, arms, runs))
        self.shown = np.zeros(arms * runs)

    def credit(self, arms: Array, runs: Array, elements: Array) -> Array:
        """Push one element each and return the outputs."""
        indices = arms * len(self.ids) + runs
        outputs = self.counters.push(indices, elements)
        self.shown[indices] = outputs
        return outputs

    def last(self, arms: Array, runs: Array) -> Array:
        """Return the last outputs of some counters; exactly 0 before the first element."""
        return self.shown[arms * len(self.ids) + runs]

    def bound(self, arms: Array, runs: Array, outputs: Array) -> None:
        """Set the intervals of some options after a new output; an option without plays has none."""
        retained = self.retained[arms, runs]
        clocks = self.counters.clocks[arms * len(self.ids) + runs]
        some = retained > 0
        safe = np.where(some, retained, 1.0)
        width = self.plan.half_width.of(safe, clocks)
        mean = outputs / safe
        self.upper[arms, runs] = np.where(some, mean + width, np.inf)
        self.lower[arms, runs] = np.where(some, mean - width, -np.inf)

    def remove(self, gone: Array, runs: Array) -> None:
        """Take options out of the lists; `gone` is (K, len(runs))."""
        self.alive[:, runs] &= ~gone
        alive = self.alive[:, runs]
        self.left[runs] = alive.sum(axis=0)
        self.lists[runs] = np.argsort(~alive, axis=0, kind="stable").T
        for values, outside in ((self.retained, np.inf), (self.upper, np.inf), (self.lower, -np.inf)):
            block = values[:, runs]
            block[~alive] = outside
            values[:, runs] = block

    def keep(self, on: Array) -> None:
        """Forget the runs outside `on`."""
        arms, before = self.plan.arms, len(self.ids)
        indices = (np.arange(arms)[:, None] * before + on).ravel()
        self.counters.keep(indices)
        self.shown = self.shown[indices]
        self.ids, self.left, self.lists = self.ids[on], self.left[on], self.lists[on]
        for name in ("retained", "alive", "upper", "lower", "pairs", "wins"):
            setattr(self, name, np.ascontiguousarray(getattr(self, name)[..., on]))


def play(plan: Plan, voters: Voters, streams: Streams, n_runs: int, watch: Watch | None = None) -> Outcome:
    """Return what `n_runs` runs in lock-step did; `watch` is told of every element that enters a counter.

    The steps follow Algorithm 1 round by round. A run with one option left plays it against itself to the end.
    """
    counters = taped(plan.counters(plan, plan.arms * n_runs, streams.noise), plan, n_runs, streams.noise)
    runs = _Runs(plan=plan, counters=counters, ids=np.arange(n_runs))
    plays = np.zeros((n_runs, plan.arms, plan.arms))
    eliminated_at = np.full((n_runs, plan.arms), plan.horizon + 1)
    idle = 0.0 if watch is not None else _IDLE_SHARE
    for number in range(plan.horizon):
        duel = _duel(runs, voters, streams, number, watch)  # lines 4 to 9
        gone = plan.eliminate(number, runs.upper, runs.lower, runs.alive)  # line 10: below the largest lower bound
        hit = np.flatnonzero(gone.any(axis=0))
        if hit.size:
            _remove(runs, gone[:, hit], hit, number, eliminated_at, watch, duel)  # lines 11 to 15
        over = runs.left == 1
        if over.any() and over.mean() > idle:
            _finish(runs, over, plays, plan.horizon - number - 1)
            if not len(runs.ids):
                break
    if len(runs.ids):
        _finish(runs, np.ones(len(runs.ids), dtype=bool), plays, 0)
    return Outcome(plays=plays, eliminated_at=eliminated_at)


def _duel(runs: _Runs, voters: Voters, streams: Streams, number: int, watch: Watch | None) -> tuple[Array, Array]:
    """Play one round in every run and return who met whom (Algorithm 1, lines 4 to 9)."""
    plan, every = runs.plan, np.arange(len(runs.ids))
    left = runs.retained.argmin(axis=0)  # the fewest plays; ties to the smallest option
    right = plan.opponents(number, runs.lists, runs.left, streams.actions)  # uniform on those left
    sent = voters.votes(number, left, right, streams.environment)
    if plan.response is not None:
        sent = released_on_tape(VOTE, plan.response, sent.astype(np.int64), streams.noise, runs.ids)
    won = debiased(plan, sent)  # Remark 3 in the local model, else the answer
    pair = (left * plan.arms + right) * len(every) + every
    runs.retained.ravel()[left * len(every) + every] += 1
    runs.pairs.ravel()[pair] += 1
    runs.wins.ravel()[pair] += won
    ticking = np.flatnonzero(won > 0) if plan.reading == "R0" else every
    runs.credit(left[ticking], ticking, won[ticking])  # Lemma 1: one element, a win or a loss
    outputs = runs.last(left, every)
    runs.bound(left, every, outputs)  # section 3.1 (3)
    _tell(watch, runs, every, left, outputs, number, left, right)
    if plan.credits_both:  # the second counter of Lemma 2
        other = np.flatnonzero(left != right)
        runs.retained[right[other], other] += 1
        outputs = runs.credit(right[other], other, 1 - won[other])
        runs.bound(right[other], other, outputs)
        _tell(watch, runs, other, right[other], outputs, number, left, right)
    return left, right


def _remove(
    runs: _Runs,
    gone: Array,
    hit: Array,
    number: int,
    eliminated_at: Array,
    watch: Watch | None,
    duel: tuple[Array, Array],
) -> None:
    """Remove options in some runs and take their duels out of the survivors' counters (Algorithm 1, lines 11 to 15)."""
    plan = runs.plan
    for arm in range(plan.arms):
        eliminated_at[runs.ids[hit[gone[arm]]], arm] = number + 1
    runs.remove(gone, hit)
    for arm in map(int, np.flatnonzero(gone.any(axis=1))):
        where = hit[gone[arm]]
        for other in range(plan.arms):
            some = where[runs.alive[other, where]]
            if not some.size:
                continue
            arms = np.full(len(some), other)
            runs.retained[other, some] -= _met(runs, other, arm, some)
            outputs = _take_back(runs, arms, some, _won(runs, other, arm, some))
            runs.bound(arms, some, outputs)
            _tell(watch, runs, some, arms, outputs, REMOVAL - arm, duel[0], duel[1])


def _met(runs: _Runs, other: int, arm: int, some: Array) -> Array:
    """Return how many of an option's retained plays were against the one that goes."""
    met: Array = runs.pairs[other, arm, some]
    if runs.plan.credits_both:
        met = met + runs.pairs[arm, other, some]
    return met


def _won(runs: _Runs, other: int, arm: int, some: Array) -> Array:
    """Return how many of them it won."""
    won: Array = runs.wins[other, arm, some]
    if runs.plan.credits_both:
        won = won + runs.pairs[arm, other, some] - runs.wins[arm, other, some]
    return won


def _take_back(runs: _Runs, arms: Array, some: Array, won: Array) -> Array:
    """Return the outputs after the element, or elements, of a removal; see `noise.calibrated`."""
    reading = runs.plan.reading
    if reading in BROKEN:
        steps = int(won.max(initial=0)) if reading == "R4" else 1
        for step in range(steps):
            more = np.flatnonzero(won > step)
            taken = np.full(len(more), -1.0) if reading == "R4" else -won[more]
            runs.credit(arms[more], some[more], taken)
        return runs.last(arms, some)
    return runs.credit(arms, some, np.full(len(some), -1.0) if reading == "R1" else -won)


def _finish(runs: _Runs, over: Array, plays: Array, rounds: int) -> None:
    """Write down runs that are over, with the rounds that their last option still plays, and drop them."""
    done = np.flatnonzero(over)
    plays[runs.ids[done]] = np.moveaxis(runs.pairs[..., done], 2, 0)
    if rounds:
        last = runs.lists[done, 0]
        plays[runs.ids[done], last, last] += rounds
    runs.keep(np.flatnonzero(~over))


def _tell(
    watch: Watch | None, runs: _Runs, some: Array, arms: Array, outputs: Array, source: int, left: Array, right: Array
) -> None:
    """Call the observer, if there is one."""
    if watch is not None and len(some):
        watch(
            Pushed(
                runs=runs.ids[some],
                arms=arms,
                clocks=runs.counters.clocks[arms * len(runs.ids) + some],
                outputs=outputs,
                source=source,
                left=left[some],
                right=right[some],
            )
        )
