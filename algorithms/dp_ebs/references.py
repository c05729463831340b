"""DP-EBS to compare with: the same code all but without noise, and with its noise but without answers."""

from dataclasses import replace

from algorithms._dueling.voters import SilentVoters, TossingVoters
from algorithms.dp_ebs.run import run, run_with
from algorithms.dp_ebs.settings import DpEbsSettings
from algorithms.problems.duels import Duels
from dpaudit import Streams, Transcript

_NO_PRIVACY = {"central": 1e12, "local": 500.0, "shuffle": 500.0}
"""Epsilons at which noise is far below one answer; a person who answers at 500 nats tells the truth."""


def run_without_noise(settings: DpEbsSettings, problem: Duels, streams: Streams, n_runs: int) -> Transcript:
    """Return runs whose noise is far below one answer, with widths for it: no privacy."""
    return run(replace(settings, epsilon=_NO_PRIVACY[settings.model]), problem, streams, n_runs)


def run_blind(settings: DpEbsSettings, problem: Duels, streams: Streams, n_runs: int) -> Transcript:
    """Return runs whose releases hold noise alone, of a champion also fair coins: nothing is learned."""
    nobody = TossingVoters() if settings.variant == "champion" else SilentVoters()
    return run_with(nobody, settings, problem, streams, n_runs)
