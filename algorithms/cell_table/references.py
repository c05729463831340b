"""The cell table to compare with: the same code without noise, and with its noise but without data."""

from dataclasses import replace

import numpy as np

from algorithms.capri.users import Played
from algorithms.cell_table.plan import plan_of
from algorithms.cell_table.run import run_plan
from algorithms.cell_table.settings import CellTableSettings
from algorithms.problems.kernel_bandit import KernelBandit
from dpaudit import Streams, Transcript
from dpaudit.model.mechanism import Array

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
