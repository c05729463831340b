"""The G-optimal dueling bandit to compare with: all but without noise, and with its noise but without answers."""

from dataclasses import replace

from algorithms._dueling.voters import TossingVoters
from algorithms.g_optimal_dueling.run import run, run_with
from algorithms.g_optimal_dueling.settings import GOptimalDuelingSettings
from algorithms.problems.duels import Duels
from dpaudit import Streams, Transcript

_NO_PRIVACY = {"central": 1e12, "local": 500.0}
"""Epsilons at which noise is far below one answer; a person who answers at 500 nats tells the truth."""


def run_without_noise(settings: GOptimalDuelingSettings, problem: Duels, streams: Streams, n_runs: int) -> Transcript:
    """Return runs whose noise is far below one answer, with widths for it: no privacy."""
    return run(replace(settings, epsilon=_NO_PRIVACY[settings.model]), problem, streams, n_runs)


def run_blind(settings: GOptimalDuelingSettings, problem: Duels, streams: Streams, n_runs: int) -> Transcript:
    """Return runs whose people toss coins: releases hold noise and no answer.

    Counts of 0 in place of coins would say that the second option of every comparison won, and that is the better one
    on problems that list options so.
    """
    return run_with(TossingVoters(), settings, problem, streams, n_runs)
