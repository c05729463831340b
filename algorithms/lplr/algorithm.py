"""LPLR: its settings together with what it declares, runs, audits and notes."""

from dataclasses import dataclass
from typing import Any, ClassVar

from algorithms.lplr.cases import cases_of
from algorithms.lplr.constants import constants_of, upper_bound_of
from algorithms.lplr.declaration import declaration_of
from algorithms.lplr.notes import notes_of
from algorithms.lplr.plan import Plan, plan_of
from algorithms.lplr.references import run_blind, run_without_noise
from algorithms.lplr.replays import replays_of
from algorithms.lplr.run import run_protocol
from algorithms.lplr.settings import LplrSettings
from algorithms.problems.linear_bandit import LinearBandit
from dpaudit import AuditCase, Condition, Declaration, Streams, Transcript


@dataclass(frozen=True, slots=True, kw_only=True)
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

    replays = replays_of
    constants = constants_of
    regret_upper_bound = upper_bound_of
    run_blind = run_blind
    run_without_noise = run_without_noise

    def plan(self) -> Plan:
        """Return everything that is fixed before any data is seen."""
        return plan_of(self)

    def declaration(self) -> Declaration:
        """Return what one user's message releases; with variant "paper" the nodes carry the paper's own argument."""
        return declaration_of(self)

    def conditions(self) -> tuple[Condition, ...]:
        """Return that one pair of records moves all statistics of a message: unit features in two different cells.

        Nothing of shuffled messages, of which no lower side is known.
        """
        if self.model == "shuffle":
            return ()
        text = "A unit record in one cell and one in another move count, vector and matrix by the whole sensitivities."
        return (Condition(kind="attained", text=text, status="checked"),)

    def run(self, problem: LinearBandit, streams: Streams, n_runs: int) -> Transcript:
        """Return the transcript of `n_runs` independent runs on `problem`; see `run.run_protocol`."""
        return run_protocol(plan_of(self), problem, streams, n_runs)

    def cases(self, problem: Any = None) -> tuple[AuditCase, ...]:
        """Return the audits of single messages, or of sums of shuffled ones; `problem` does not matter to either."""
        return cases_of(self)

    def notes(self, problem: LinearBandit) -> tuple[str, ...]:
        """Return what the printed constants amount to, from which horizon on the method pays, and what is false."""
        return notes_of(self, problem)
