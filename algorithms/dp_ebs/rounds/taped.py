"""The counters of DP-EBS on a tape: every element that enters one is written down with what is shown for it."""

from typing import Any

import numpy as np

from algorithms.dp_ebs.declaration import counter_label
from algorithms.dp_ebs.plan import Counters, Plan
from dpaudit.model.mechanism import Array
from dpaudit.model.tape import RunTape, tape_of
from mechanisms import TreeAggregation

CARRIES_RELEASES = True
"""The line that asked for a release is that of the caller, as `dpaudit.model.tape` reads it."""


class TapedCounters:
    """Counters whose every output goes through a tape. `origin` says which counter of the start each one is."""

    def __init__(self, inner: Counters, tree: TreeAggregation, tape: RunTape, n_runs: int, arms: int) -> None:
        self.inner, self.tree, self.tape, self.n_runs = inner, tree, tape, n_runs
        self.origin, self.sums = np.arange(arms * n_runs), np.zeros(arms * n_runs)

    @property
    def clocks(self) -> Array:
        """How many elements each counter has taken in."""
        return self.inner.clocks

    def push(self, counters: Array, elements: Array) -> Array:
        """Return the outputs of distinct `counters` after one more element each."""
        output = self.inner.push(counters, elements)
        self.sums[counters] += elements
        arms, runs = np.divmod(self.origin[counters], self.n_runs)
        return self.tape.enter(
            tuple(counter_label(int(arm)) for arm in arms) or ("no counter",),
            self.tree,
            self.sums[counters],
            output,
            runs=runs,
            element=self.inner.clocks[counters],
        )

    def keep(self, counters: Array) -> None:
        """Forget all other counters."""
        self.inner.keep(counters)
        self.origin, self.sums = self.origin[counters], self.sums[counters]


def taped(counters: Counters, plan: Plan, n_runs: int, rng: np.random.Generator) -> Counters:
    """Return counters that go through the tape which `rng` carries, if it carries one and they add noise."""
    tape = tape_of(rng)
    if tape is None or plan.tree is None:
        return counters
    return TapedCounters(counters, plan.tree, tape, n_runs, plan.arms)


def shown_ahead(plan: Plan, path: Any, arm: int, run: int, sums: Array) -> Array:
    """Return a counter's next outputs, where `sums` are the exact ones; a block that is cut short shows fewer."""
    output: Array = sums + path.ahead(len(sums))
    tape = tape_of(path.rng)
    if tape is None or plan.tree is None:
        return output
    return tape.enter(
        (counter_label(arm),),
        plan.tree,
        sums,
        output,
        runs=np.full(len(sums), run),
        element=path.clock + 1 + np.arange(len(sums)),
    )


def last_place(rng: np.random.Generator) -> int | None:
    """Return the place of the latest release on the tape that `rng` carries; None without a tape."""
    tape = tape_of(rng)
    return len(tape.released) - 1 if tape is not None else None


def keep_rows(rng: np.random.Generator, index: int | None, rows: int) -> None:
    """Tell the tape how many rows of a block that was computed ahead were published."""
    tape = tape_of(rng)
    if tape is not None and index is not None:
        tape.keep(index, rows)
