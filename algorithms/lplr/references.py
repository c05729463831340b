"""LPLR as its settings have it, without noise, and with its noise but without a record in its messages."""

from dataclasses import replace

import numpy as np

from algorithms.lplr.oracle import Answers
from algorithms.lplr.plan import plan_of
from algorithms.lplr.run import run_protocol
from algorithms.lplr.settings import LplrSettings
from algorithms.problems.linear_bandit import LinearBandit
from dpaudit import Streams, Transcript

_NO_PRIVACY = 1e9
"""An epsilon at which noise is far below one record."""


def run(settings: LplrSettings, problem: LinearBandit, streams: Streams, n_runs: int) -> Transcript:
    """Return the transcript of `n_runs` independent runs on `problem`; see `run.run_protocol`."""
    return run_protocol(plan_of(settings), problem, streams, n_runs)


def run_without_noise(settings: LplrSettings, problem: LinearBandit, streams: Streams, n_runs: int) -> Transcript:
    """Return runs whose noise is far below one record, with widths for it: no privacy."""
    return run_protocol(plan_of(replace(settings, epsilon=_NO_PRIVACY)), problem, streams, n_runs)


def run_blind(settings: LplrSettings, problem: LinearBandit, streams: Streams, n_runs: int) -> Transcript:
    """Return runs whose messages hold noise alone: nothing is learned."""
    return run_protocol(plan_of(settings), problem, streams, n_runs, hear=nobody)


def nobody(answers: Answers) -> Answers:
    """Return the answers of a phase in which nobody stood at any atom."""
    return replace(answers, counts=np.zeros_like(answers.counts), positive=np.zeros_like(answers.positive))
