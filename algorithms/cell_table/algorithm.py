"""The cell table as one algorithm: its settings, declaration, run, audits and notes."""

from typing import ClassVar

from algorithms.cell_table.cases import cases_of, replays_of
from algorithms.cell_table.declaration import declaration_of
from algorithms.cell_table.plan import plan_of
from algorithms.cell_table.run import run, run_blind, run_without_noise
from algorithms.cell_table.settings import CellTableSettings
from algorithms.problems.kernel_bandit import KernelBandit
from dpaudit.arguments import settled


def notes_of(settings: CellTableSettings, problem: KernelBandit) -> tuple[str, ...]:
    """Return that it learns nothing from one cell about another."""
    cells = problem.n_contexts * problem.n_actions
    return (f"Every one of {cells} cells is estimated by itself; on large smooth domains a kernel learns sooner.",)


@settled
class CellTable(CellTableSettings):
    """A contextual bandit without a kernel: one noisy table of counts and sums an epoch, added up over epochs.

    Parameters and errors: see `settings.CellTableSettings`.
    Guarantee: (epsilon, delta) for the other users when one record, a context and its reward, is replaced. Proof: a
    record is in one epoch. It moves two cells by a count of 1 and a sum of at most 1 bound each, or one cell's sum by
    2, so the epoch's table by at most 2; its noise is normal and calibrated to that. By joint convexity the user's own
    random action may be fixed. All later epochs read the table and their own users.
    Source: this project; the schedule is that of Pavlovic, Salgia and Zhao (2025), Algorithm 1.

    >>> config = CellTable(epsilon=1, delta=1e-5, horizon=1000)
    >>> round(config.plan().mechanism.stddev, 4)
    7.4613
    """

    name: ClassVar[str] = "cell_table"

    plan = plan_of
    declaration = declaration_of
    run = run
    run_without_noise = run_without_noise
    run_blind = run_blind
    cases = cases_of
    replays = replays_of
    notes = notes_of
