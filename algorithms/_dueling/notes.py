"""Notes on dueling bandits for a report: the story in plain words, and the promise to a person with several answers."""

from algorithms.problems.duels import Duels
from dpaudit import Declaration, Group, bracket_epsilon, fold

VACUOUS = "That is vacuous rather than private: nothing is learnt that could be protected."
"""What is said of a run whose published output depends on no answer."""


def story(horizon: int, problem: Duels, method: str) -> str:
    """Return what happens, for a person who has never seen a dueling bandit; `method` says how answers are used."""
    named = ", ".join(problem.labels[:6]) + (", ..." if problem.arms > 6 else "")
    return (
        f"What it does: {horizon:,} people, one after another, are each shown two of {problem.arms} options "
        f"({named}) and say which one they prefer. {method} Who is asked, and when, is not hidden."
    )


def person_note(declaration: Declaration, neighbours: str, votes: int) -> tuple[str, ...]:
    """Return what a person is promised who answers several times: the group's epsilon."""
    if votes == 1:
        return ("One person answers once. Somebody who answered m times would be protected at m times the epsilon.",)
    group = Group(part=declaration, size=votes)
    epsilon = bracket_epsilon(fold(group, "replace_one"), 0.0).upper
    return (
        f"The unit is one answer, and a person in this data gave up to {votes}. All answers of such a person together "
        f"are protected at epsilon {epsilon:.4g} only, the budget of a group of {votes}.",
    )
