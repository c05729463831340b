"""What a reader should know about the G-optimal algorithm that is neither proof nor attack."""

from typing import TYPE_CHECKING

from algorithms.dp_ebs.notes import person_note
from algorithms.problems.duels import Duels

if TYPE_CHECKING:
    from algorithms.g_optimal_dueling.config import GOptimalDueling


def notes_of(config: "GOptimalDueling", problem: Duels) -> tuple[str, ...]:
    """Return what the system does in plain words, and whether its phases end within the horizon."""
    named = ", ".join(problem.labels[:6]) + (", ..." if problem.arms > 6 else "")
    story = (
        f"What it does: {config.horizon:,} people, one after another, are each shown two of {config.arms} options "
        f"({named}) and say which one they prefer. Options are described by {config.dimension} numbers each. In every "
        "phase a few well-chosen comparisons are asked many times; only their numbers of wins are kept, with noise, "
        "and options that fall behind are no longer shown. Nobody who watches all comparisons and the winner can tell "
        "what any one person answered. Who is asked, and when, is not hidden."
    )
    return (story, *phase_note(config), *person_note(config.declaration(), "replace_one", problem.votes_per_person))


def phase_note(config: "GOptimalDueling") -> tuple[str, ...]:
    """Return how long the first phase is, if it does not end within the horizon."""
    lengths = config.lengths()
    first = lengths.random_plays() + lengths.total(1)
    if first <= config.horizon:
        return ()
    return (
        f"These phase lengths are vacuous: the first phase takes {first:.2g} rounds and there are "
        f"{config.horizon:,}. No sum is ever released, no option is dropped, and what is published depends on no "
        "answer. That is vacuous rather than private: nothing is learnt that could be protected. "
        "Use preset = 'practical'.",
    )
