"""Engines asked in turn: a dearer one only where the answer of the ones before is too wide."""

from collections.abc import Callable

from dpaudit.engines.engine import Engine
from dpaudit.model.bracket import Bracket
from dpaudit.model.losses import Composition

Question = Callable[[Engine], Bracket]


def in_turn(
    first: Engine, second: Engine, *, epsilon: Callable[[Bracket], bool], delta: Callable[[Bracket], bool]
) -> Engine:
    """Return an engine that asks `first`, and `second` where `first` covers nothing or is not good enough.

    `epsilon` and `delta` say whether a bracket for that quantity is good enough. What both say is intersected.
    Raises: EngineDisagreementError: the two contradict each other.
    """

    def ask(composition: Composition, question: Question, enough: Callable[[Bracket], bool]) -> Bracket:
        if not first.covers(composition):
            return question(second)
        found = question(first)
        return found if enough(found) or not second.covers(composition) else found.intersect(question(second))

    return Engine(
        name=f"{first.name}, {second.name}",
        covers=lambda composition: first.covers(composition) or second.covers(composition),
        delta=lambda composition, at: ask(composition, lambda engine: engine.delta(composition, at), delta),
        epsilon=lambda composition, at: ask(composition, lambda engine: engine.epsilon(composition, at), epsilon),
    )


def narrow(width: float) -> Callable[[Bracket], bool]:
    """Return the test whether a bracket is at most a relative `width` wide."""
    return lambda bracket: bracket.upper - bracket.lower <= width * bracket.upper


def below(limit: float) -> Callable[[Bracket], bool]:
    """Return the test whether the upper end lies below `limit`, for engines that bound from above alone."""
    return lambda bracket: bracket.upper < limit
