"""LPLR to compare with: the same messages with their noise, but without a record in them."""

from dataclasses import replace

import numpy as np

from algorithms.lplr.oracle import Answers
from algorithms.lplr.plan import plan_of
from algorithms.lplr.run import run_protocol
from algorithms.lplr.settings import LplrSettings
from algorithms.problems.linear_bandit import LinearBandit
from dpaudit import Streams, Transcript


def run_blind(settings: LplrSettings, problem: LinearBandit, streams: Streams, n_runs: int) -> Transcript:
    """Return runs whose messages hold noise alone: nothing is learned."""
    return run_protocol(plan_of(settings), problem, streams, n_runs, hear=nobody)


def nobody(answers: Answers) -> Answers:
    """Return the answers of a phase in which nobody stood at any atom."""
    return replace(answers, counts=np.zeros_like(answers.counts), positive=np.zeros_like(answers.positive))
