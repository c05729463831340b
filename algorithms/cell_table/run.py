"""The run of the cell table, all runs in lock-step, one epoch at a time; without noise or data, to compare with.

The steps, which are of this project: every user plays an active action of their context uniformly; an epoch's table of
counts and sums comes out with noise; tables are added over epochs; an action goes whose upper end is below the best
lower end of its context.
"""

from dataclasses import replace

import numpy as np

from algorithms._conditions import FRESH, all_took_part, conditions_of, noise_is_fresh
from algorithms.capri.checks import CLIPPED, SCHEDULE, sums_are_clipped
from algorithms.capri.run import with_losses
from algorithms.capri.users import Played, SimulatedUsers, Users
from algorithms.cell_table.elimination import at_least_one
from algorithms.cell_table.plan import Plan, plan_of
from algorithms.cell_table.settings import CellTableSettings
from algorithms.problems.kernel_bandit import KernelBandit
from dpaudit import Recorder, Streams, Transcript
from dpaudit.model.mechanism import Array


def run(settings: CellTableSettings, problem: KernelBandit, streams: Streams, n_runs: int) -> Transcript:
    """Return the transcript of `n_runs` independent runs on simulated users of `problem`; see `run_plan`."""
    return run_plan(plan_of(settings), problem, streams, n_runs)


def run_plan(plan: Plan, problem: KernelBandit, streams: Streams, n_runs: int) -> Transcript:
    """Return what `run_epochs` returns on simulated users, with the loss.

    Beside its arrays: `regret` (n_runs, E), the expected regret of each epoch's actions, and `lost` (n_runs,), whether
    some context's best action was eliminated.
    """
    return with_losses(run_epochs(plan, problem.gaps.shape, SimulatedUsers(problem=problem), streams, n_runs), problem)


def run_epochs(plan: Plan, shape: tuple[int, int], users: Users, streams: Streams, n_runs: int) -> Transcript:
    """Return the transcript of `n_runs` runs on a domain of `shape` (contexts, actions).

    Shape, with E epochs of which K release and N cells: `release` (n_runs, K, N, 2), the noisy tables of counts and
    sums; `active` (n_runs, E + 1, N), before each epoch and at the end; `actions` (n_runs, E, N), how often each
    cell was played. Memory: 8 n_runs E (4 N) bytes.
    """
    recorder = Recorder(streams.noise)
    active = np.ones((n_runs, *shape), dtype=bool)
    history: dict[str, list[Array]] = {"active": [active.reshape(n_runs, -1)], "actions": [], "release": []}
    observed = {SCHEDULE: True, CLIPPED: True}
    pooled = np.zeros((n_runs, shape[0] * shape[1], 2))
    for epoch in plan.epochs:
        played = users.play(epoch, active, streams)
        history["actions"].append(played.counts.reshape(n_runs, -1))
        observed[SCHEDULE] &= all_took_part(played.counts, epoch.length)
        if epoch.complete:
            table = plan.tabulate(played, plan.reward_bound)
            observed[CLIPPED] &= sums_are_clipped(table[..., 0], table[..., 1], 1.0)
            noisy = plan.release(recorder, plan.label(epoch), plan.mechanism, table)
            history["release"].append(noisy)
            pooled = pooled + noisy
            widths = plan.half_width.of(at_least_one(pooled), len(history["release"]))
            active = plan.eliminate(pooled, active, widths)
        history["active"].append(active.reshape(n_runs, -1))
    observed[FRESH] = noise_is_fresh(streams, recorder.trace())
    return Transcript(
        n_runs=n_runs,
        arrays={name: np.stack(lists, axis=1) for name, lists in history.items() if lists},
        views={"transcript": ("release", "active")},
        trace=recorder.trace(),
        conditions=conditions_of(observed),
    )


_NO_NOISE = 1e-12


def run_without_noise(settings: CellTableSettings, problem: KernelBandit, streams: Streams, n_runs: int) -> Transcript:
    """Return runs whose noise is far below one user, with widths for it: no privacy."""
    plan = plan_of(settings)
    quiet = replace(
        plan,
        mechanism=replace(plan.mechanism, stddev=_NO_NOISE),
        half_width=replace(plan.half_width, stddev=_NO_NOISE),
    )
    return run_plan(quiet, problem, streams, n_runs)


def run_blind(settings: CellTableSettings, problem: KernelBandit, streams: Streams, n_runs: int) -> Transcript:
    """Return runs whose releases hold noise alone: nothing is learned."""
    return run_plan(replace(plan_of(settings), tabulate=empty_table), problem, streams, n_runs)


def empty_table(played: Played, reward_bound: float) -> Array:
    """Return 0 for every count and sum. Shape: (n_runs, C * X, 2)."""
    return np.zeros((len(played.counts), int(np.prod(played.counts.shape[1:])), 2))
