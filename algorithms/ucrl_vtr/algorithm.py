"""UCRL-VTR: its settings together with what it declares, runs, audits and notes."""

from typing import ClassVar

from algorithms._linear_rl.algorithm import LinearRlAlgorithm
from algorithms.ucrl_vtr.cases import cases_of
from algorithms.ucrl_vtr.constants import constants_of, upper_bound_of
from algorithms.ucrl_vtr.declaration import declaration_of
from algorithms.ucrl_vtr.notes import notes_of
from algorithms.ucrl_vtr.plan import plan_blind_of, plan_of, plan_without_noise_of
from algorithms.ucrl_vtr.replays import replays_of
from algorithms.ucrl_vtr.run import run_plan
from algorithms.ucrl_vtr.settings import UcrlVtrSettings
from dpaudit.arguments import settled


@settled
class UcrlVtr(UcrlVtrSettings, LinearRlAlgorithm):
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

    plan = plan_of
    plan_without_noise = plan_without_noise_of
    plan_blind = plan_blind_of
    transcript = run_plan
    declaration = declaration_of
    cases = cases_of
    notes = notes_of
    constants = constants_of
    regret_upper_bound = upper_bound_of
    replays = replays_of
