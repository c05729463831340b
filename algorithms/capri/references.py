"""CAPRI to compare with: the same code without noise, and with its noise but without data."""

from dataclasses import replace

import numpy as np

from algorithms.capri.plan import plan_of
from algorithms.capri.run import run_plan
from algorithms.capri.settings import CapriSettings
from algorithms.capri.users import Played
from algorithms.problems.kernel_bandit import KernelBandit
from dpaudit import Mechanism, Recorder, Streams, Transcript
from dpaudit.model.mechanism import Array


def run_without_noise(settings: CapriSettings, problem: KernelBandit, streams: Streams, n_runs: int) -> Transcript:
    """Return runs that release exact sums, with widths for no noise: no privacy."""
    plan = replace(plan_of(settings), release=exact_sum, stddev=0.0)
    return run_plan(plan, settings, problem, streams, n_runs)


def run_blind(settings: CapriSettings, problem: KernelBandit, streams: Streams, n_runs: int) -> Transcript:
    """Return runs whose releases hold noise alone: nothing is learned."""
    return run_plan(replace(plan_of(settings), collect=no_sums), settings, problem, streams, n_runs)


def exact_sum(recorder: Recorder, label: str, mechanism: Mechanism, value: Array, users: int) -> Array:
    """Return the epoch's sum as it is."""
    return value


def no_sums(played: Played, reward_bound: float) -> Array:
    """Return 0 for every cell. Shape: (n_runs, C * X)."""
    return np.zeros((len(played.counts), int(np.prod(played.counts.shape[1:]))))
