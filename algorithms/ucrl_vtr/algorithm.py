"""UCRL-VTR: its settings together with what it declares, runs, audits and notes."""

from dataclasses import dataclass
from typing import ClassVar

from algorithms._linear_rl.algorithm import LinearRlAlgorithm
from algorithms._linear_rl.checks import attained_by_construction
from algorithms._linear_rl.settings import PURE
from algorithms.problems.linear_mixture import LinearMixture
from algorithms.ucrl_vtr.cases import cases_of
from algorithms.ucrl_vtr.constants import constants_of, upper_bound_of
from algorithms.ucrl_vtr.declaration import declaration_of
from algorithms.ucrl_vtr.notes import notes_of
from algorithms.ucrl_vtr.plan import MixturePlan, plan_blind_of, plan_of, plan_without_noise_of
from algorithms.ucrl_vtr.planning import domain_of
from algorithms.ucrl_vtr.replays import replays_of
from algorithms.ucrl_vtr.run import transcript_of
from algorithms.ucrl_vtr.settings import UcrlVtrSettings
from dpaudit import AuditCase, Condition, Declaration, Streams, Transcript


@dataclass(frozen=True, slots=True, kw_only=True)
class UcrlVtr(UcrlVtrSettings, LinearRlAlgorithm[MixturePlan, LinearMixture]):
    """Optimistic value-targeted regression for linear-mixture processes, private by noise on its statistics.

    Parameters: see `UcrlVtrSettings`.
    Guarantee: one user's whole episode replaced changes the released statistics at most as the declaration says, for
    users who choose by them, at any epsilon. Values, features and targets are clipped, so it needs no optimism, which
    the paper's own argument does. Proof: order releases by time; a completed node is one Gaussian query, chosen
    adaptively, and one user is in at most floor(log2 K) + 1 nodes a step; squared ratios add up.
    Raises: ValueError: a field outside its range; the message names it, its value and the rule.
    Source: Luyo, Garcelon, Lazaric and Pirotta (2021), Corollaries 5, 6, 10 and 11.

    >>> config = UcrlVtr(model="joint", epsilon=1, delta=1e-5, episodes=1000, steps=5, dimension=5)
    >>> round(config.plan().regressions[0].noises[0][1].matrix_stddev, 2)
    1251.29
    """

    name: ClassVar[str] = "ucrl_vtr"

    replays = replays_of
    constants = constants_of
    regret_upper_bound = upper_bound_of

    def declaration(self) -> Declaration:
        """Return the nodes that one user is in, for every regression (joint), or their message (local)."""
        return declaration_of(self)

    def conditions(self) -> tuple[Condition, ...]:
        """Return that one pair of records moves all releases at once; known of the pure calibrations.

        Where optimistic values are 0 or their bound R, the features of squares are R times those of values, so that one
        pair of directions moves both most.
        """
        return (attained_by_construction(()),) if self.calibration in PURE else ()

    def plan(self) -> MixturePlan:
        """Return the calibrated algorithm; it depends on nothing but the settings."""
        return plan_of(self)

    def plan_without_noise(self) -> MixturePlan:
        """Return the same algorithm without noise, and so without privacy: UCRL-VTR or UCRL-VTR+ itself."""
        return plan_without_noise_of(self)

    def plan_blind(self) -> MixturePlan:
        """Return the same algorithm with its noise, where what users contribute counts 0."""
        return plan_blind_of(self)

    def transcript(self, plan: MixturePlan, problem: LinearMixture, streams: Streams, n_runs: int) -> Transcript:
        """Return `n_runs` independent runs of `plan`; see `run.transcript_of` for the arrays."""
        return transcript_of(plan, domain_of(self, problem), streams, n_runs)

    def cases(self, problem: LinearMixture | None = None) -> tuple[AuditCase, ...]:
        """Return the audits, with a first user who contributes as much as the bounds allow."""
        return cases_of(self, problem)

    def notes(self, problem: LinearMixture) -> tuple[str, ...]:
        """Return what the radius amounts to on `problem`."""
        return notes_of(self, problem)
