"""Notes on the G-optimal dueling bandit for a report: its story, and whether its phases end within the horizon."""

from algorithms._dueling.notes import VACUOUS, person_note, story
from algorithms.g_optimal_dueling.declaration import declaration_of
from algorithms.g_optimal_dueling.plan import lengths_of
from algorithms.g_optimal_dueling.settings import GOptimalDuelingSettings
from algorithms.problems.duels import Duels


def notes_of(settings: GOptimalDuelingSettings, problem: Duels) -> tuple[str, ...]:
    """Return what the system does in plain words, and whether its phases end within the horizon."""
    method = (
        f"Options are described by {settings.dimension} numbers each. In every phase a few well-chosen comparisons are "
        "asked many times; only their numbers of wins are kept, with noise, and options that fall behind are no longer "
        "shown. Nobody who watches all comparisons and the winner can tell what any one person answered."
    )
    return (
        story(settings.horizon, problem, method),
        *phase_note(settings),
        *person_note(declaration_of(settings), "replace_one", problem.votes_per_person),
    )


def phase_note(settings: GOptimalDuelingSettings) -> tuple[str, ...]:
    """Return how long the first phase is, if it does not end within the horizon."""
    lengths = lengths_of(settings)
    first = lengths.random_plays() + lengths.total(1)
    if first <= settings.horizon:
        return ()
    return (
        f"These phase lengths are vacuous: the first phase takes {first:.2g} rounds and there are "
        f"{settings.horizon:,}. No sum is ever released, no option is dropped, and what is published depends on no "
        f"answer. {VACUOUS} Use preset = 'practical'.",
    )
