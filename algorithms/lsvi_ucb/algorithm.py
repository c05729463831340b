"""LSVI-UCB: its settings together with what it declares, runs, audits and notes."""

from dataclasses import dataclass
from typing import ClassVar

from algorithms._linear_rl.algorithm import LinearRlAlgorithm
from algorithms._linear_rl.checks import attained_by_construction
from algorithms._linear_rl.settings import PURE
from algorithms.lsvi_ucb.cases import cases_of
from algorithms.lsvi_ucb.constants import constants_of, upper_bound_of
from algorithms.lsvi_ucb.declaration import declaration_of
from algorithms.lsvi_ucb.notes import notes_of
from algorithms.lsvi_ucb.plan import BatchPlan, plan_blind_of, plan_of, plan_without_noise_of
from algorithms.lsvi_ucb.planning import domain_of
from algorithms.lsvi_ucb.replays import replays_of
from algorithms.lsvi_ucb.run import transcript_of
from algorithms.lsvi_ucb.settings import LsviUcbSettings
from algorithms.problems.linear_mdp import LinearMdp
from dpaudit import AuditCase, Condition, Declaration, Streams, Transcript


@dataclass(frozen=True, slots=True, kw_only=True)
class LsviUcb(LsviUcbSettings, LinearRlAlgorithm[BatchPlan, LinearMdp]):
    """Batched least-squares value iteration for linear processes, private by noise on its statistics.

    Parameters: see `LsviUcbSettings`.
    Guarantee: one user's whole episode replaced changes what is released at most as the declaration says, at any
    epsilon: matrices are nodes of a tree, of which a user is in floor(log2 n) + 1; vectors read the whole history
    again at each release and get fresh noise each. The switching rule reads released matrices only, so it is
    post-processing, and its vectors are at most `switches` many.
    Raises: ValueError: a field outside its range; the message names it, its value and the rule.
    Source: Luyo, Garcelon, Lazaric and Pirotta (2021), Algorithm 2 and Theorem 8.

    >>> config = LsviUcb(epsilon=1, delta=1e-5, episodes=10_000, steps=5, dimension=5)
    >>> plan = config.plan()
    >>> plan.schedule.batches, round(plan.noises[0].matrix.stddev, 4), round(plan.noises[0].vector.stddev, 3)
    (11, 33.3678, 447.676)
    """

    name: ClassVar[str] = "lsvi_ucb"

    replays = replays_of
    constants = constants_of
    regret_upper_bound = upper_bound_of

    def declaration(self) -> Declaration:
        """Return every step's nodes of matrices and its vectors, as often as one user meets them."""
        return declaration_of(self)

    def conditions(self) -> tuple[Condition, ...]:
        """Return that one pair of records moves all releases at once; known of the pure calibrations."""
        return (attained_by_construction(()),) if self.calibration in PURE else ()

    def plan(self) -> BatchPlan:
        """Return the calibrated algorithm; it depends on nothing but the settings."""
        return plan_of(self)

    def plan_without_noise(self) -> BatchPlan:
        """Return the same algorithm without noise, and so without privacy: batched LSVI-UCB itself."""
        return plan_without_noise_of(self)

    def plan_blind(self) -> BatchPlan:
        """Return the same algorithm with its noise, where what users contribute counts 0."""
        return plan_blind_of(self)

    def transcript(self, plan: BatchPlan, problem: LinearMdp, streams: Streams, n_runs: int) -> Transcript:
        """Return `n_runs` independent runs of `plan`; see `run.transcript_of` for the arrays."""
        return transcript_of(plan, domain_of(self, problem), streams, n_runs)

    def cases(self, problem: LinearMdp | None = None) -> tuple[AuditCase, ...]:
        """Return the audit of all that is released, with a first user who contributes as much as the bounds allow."""
        return cases_of(self, problem)

    def notes(self, problem: LinearMdp) -> tuple[str, ...]:
        """Return what the schedule and the radius amount to on `problem`."""
        return notes_of(self, problem)
