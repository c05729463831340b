"""Notes on the cell table for a reader of its results: when it is the wrong tool."""

from algorithms.cell_table.settings import CellTableSettings
from algorithms.problems.kernel_bandit import KernelBandit


def notes_of(settings: CellTableSettings, problem: KernelBandit) -> tuple[str, ...]:
    """Return that it learns nothing from one cell about another."""
    cells = problem.n_contexts * problem.n_actions
    return (f"Every one of {cells} cells is estimated by itself; on large smooth domains a kernel learns sooner.",)
