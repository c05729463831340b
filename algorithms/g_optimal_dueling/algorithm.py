"""The G-optimal dueling bandit as one algorithm: its settings, declaration, run, audits and notes."""

from typing import ClassVar

from algorithms.g_optimal_dueling.cases import cases_of
from algorithms.g_optimal_dueling.constants import constants_of, upper_bound_of
from algorithms.g_optimal_dueling.declaration import declaration_of
from algorithms.g_optimal_dueling.notes import notes_of
from algorithms.g_optimal_dueling.plan import lengths_of, mechanism_of, plan_of
from algorithms.g_optimal_dueling.replays import replays_of
from algorithms.g_optimal_dueling.run import run, run_blind, run_without_noise
from algorithms.g_optimal_dueling.settings import GOptimalDuelingSettings
from dpaudit.arguments import settled


@settled
class GOptimalDueling(GOptimalDuelingSettings):
    """A dueling bandit over options with features, which asks for designed comparisons in phases.

    A phase plays few comparisons many times, releases each one's number of wins once with noise, fits a
    logistic utility to them, and drops the options that fall behind.

    Parameters and errors: see `settings.GOptimalDuelingSettings`.
    Guarantee: one answer replaced by its opposite changes everything shown at most as one Laplace release of shift
    1 / scale does. Proof: fix the duels; the answer is in one sum of one phase and moves it by 1; later phases
    read other people. Where two options span everything this is attained, so the claim has no slack.
    Source: Saha and Asi (2024), Algorithm 2 and Theorem 3.

    >>> GOptimalDueling(epsilon=0.5, horizon=1000, arms=20, dimension=2).mechanism().scale
    2.0
    """

    name: ClassVar[str] = "g_optimal_dueling"

    mechanism = mechanism_of
    lengths = lengths_of
    plan = plan_of
    declaration = declaration_of
    run = run
    run_without_noise = run_without_noise
    run_blind = run_blind
    cases = cases_of
    notes = notes_of
    constants = constants_of
    regret_upper_bound = upper_bound_of
    replays = replays_of
