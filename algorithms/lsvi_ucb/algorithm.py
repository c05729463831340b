"""LSVI-UCB: its settings together with what it declares, runs, audits and notes."""

from typing import ClassVar

from algorithms._linear_rl.algorithm import LinearRlAlgorithm
from algorithms.lsvi_ucb.cases import cases_of
from algorithms.lsvi_ucb.constants import constants_of, upper_bound_of
from algorithms.lsvi_ucb.declaration import declaration_of
from algorithms.lsvi_ucb.notes import notes_of
from algorithms.lsvi_ucb.plan import plan_blind_of, plan_of, plan_without_noise_of
from algorithms.lsvi_ucb.replays import replays_of
from algorithms.lsvi_ucb.run import run_plan
from algorithms.lsvi_ucb.settings import LsviUcbSettings
from dpaudit.arguments import settled


@settled
class LsviUcb(LsviUcbSettings, LinearRlAlgorithm):
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
