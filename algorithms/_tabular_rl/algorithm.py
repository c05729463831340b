"""The methods that PUCB and LDP-OBI share: run, audits and notes of a calibrated plan."""

from abc import ABC, abstractmethod
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np

from algorithms._tabular_rl.cases import case_of, told_case
from algorithms._tabular_rl.plan import TablePlan
from algorithms._tabular_rl.replays import replays_of
from algorithms._tabular_rl.run import transcript_of
from algorithms.problems.finite_mdp import FiniteMdp
from dpaudit import AuditCase, Condition, Streams, Transcript
from dpaudit.model.case import ReplayCase

_NO_NOISE = 1e-12
"""A scale of noise far below one count."""


class TabularAlgorithm(ABC):
    """An algorithm that releases noisy counts of transitions and nothing else."""

    __slots__ = ()
    name: ClassVar[str]

    @abstractmethod
    def plan(self) -> TablePlan:
        """Return the calibrated algorithm; it depends on nothing but the settings."""

    def conditions(self) -> tuple[Condition, ...]:
        """Return that one pair of users moves the counts of every step: trajectories without a common transition."""
        text = "Two trajectories without a common transition move two cells of every step's table by one."
        return (Condition(kind="attained", text=text, status="checked"),)

    def run(self, problem: Any, streams: Streams, n_runs: int) -> Transcript:
        """Return `n_runs` runs on any problem with a finite process; see `run.transcript_of` for the arrays."""
        plan = self.plan()
        return transcript_of(plan, _process(problem, plan), streams, n_runs)

    def run_without_noise(self, problem: Any, streams: Streams, n_runs: int) -> Transcript:
        """Return runs whose noise is far below one count, with bonuses for it, for comparison: no privacy."""
        plan = self.plan()
        quiet = replace(plan, mechanism=replace(plan.mechanism, scale=_NO_NOISE))
        return transcript_of(quiet, _process(problem, plan), streams, n_runs)

    def run_blind(self, problem: Any, streams: Streams, n_runs: int) -> Transcript:
        """Return runs whose releases hold noise alone, for comparison: nothing is learned."""
        plan = replace(self.plan(), enter=np.zeros_like)
        return transcript_of(plan, _process(problem, plan), streams, n_runs)

    def cases(self, problem: Any) -> tuple[AuditCase, ...]:
        """Return the audits of the released counts and of what later users are told (joint), or of one message."""
        plan = self.plan()
        mdp = _process(problem, plan)
        released = case_of(plan, mdp, self.name)
        longer = () if plan.local or plan.episodes == 1 else (told_case(plan, mdp, self.name),)
        return released, *longer

    def replays(self, problem: Any) -> tuple[ReplayCase, ...]:
        """Return the replays of the released counts and of the plans made from them."""
        plan = self.plan()
        return replays_of(plan, _process(problem, plan), self.name)

    def notes(self, problem: Any) -> tuple[str, ...]:
        """Return nothing."""
        return ()


def _process(problem: Any, plan: TablePlan) -> FiniteMdp:
    """Return the decision process of a problem.

    Raises: ValueError: the problem has none with finitely many states, or one of another number of steps.
    """
    mdp = getattr(problem, "mdp", None)
    if not isinstance(mdp, FiniteMdp):
        raise ValueError(
            f"Expected the problem to be a process with finitely many states, got {type(problem).__name__}."
        )
    if mdp.shape[0] != len(plan.labels):
        raise ValueError(f"Expected steps={len(plan.labels)} to be the problem's, {mdp.shape[0]}.")
    return mdp
