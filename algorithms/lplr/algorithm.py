"""LPLR: its settings together with what it declares, runs, audits and notes."""

from typing import ClassVar

from algorithms.lplr.cases import cases_of
from algorithms.lplr.checks import attained_conditions
from algorithms.lplr.constants import constants_of, upper_bound_of
from algorithms.lplr.declaration import declaration_of
from algorithms.lplr.notes import notes_of
from algorithms.lplr.plan import plan_of
from algorithms.lplr.replays import replays_of
from algorithms.lplr.run import run, run_blind, run_without_noise
from algorithms.lplr.settings import LplrSettings
from dpaudit.arguments import settled


@settled
class Lplr(LplrSettings):
    """Action elimination by layered principal-component regression on messages that are private one by one.

    Parameters: see `LplrSettings`.
    Guarantee: in the "fixed" variant one user's context, action and reward replaced by any others changes what this
    user sends by a likelihood ratio of at most e^epsilon, at any horizon, dimension, number of actions and history.
    Proof: a user is in one phase. In it the message is an array of cells, one a bin of every action, that are noise
    but for the one cell of the record. Two records in one cell differ there by at most 2 in the residual's vector
    and by nuclear norm 2 in the matrix; in two cells, each is against nothing. Laplace noise of 6 / epsilon,
    6 sqrt(d) / epsilon and the difference of two Wishart matrices of scale 3 / epsilon give at most epsilon / 6 a leaf
    and cell, so epsilon in all. The action reads the public state and the user's own context.
    Raises: ValueError: a field outside its range, or a horizon at which no epoch is long enough for an estimate.
    Source: Li, Simchi-Levi and Wang (2024), Algorithms 1 to 6.

    >>> Lplr(epsilon=1, horizon=10**6, dimension=2, actions=2).plan().resolution.depth
    7
    """

    name: ClassVar[str] = "lplr"

    plan = plan_of
    declaration = declaration_of
    conditions = attained_conditions
    run = run
    run_without_noise = run_without_noise
    run_blind = run_blind
    cases = cases_of
    notes = notes_of
    constants = constants_of
    regret_upper_bound = upper_bound_of
    replays = replays_of
