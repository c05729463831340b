"""Messages of LPLR that a shuffler hands on together, phase by phase.

In one phase everybody runs the same randomiser: the public state is fixed, and a message is an array with an entry for
every bin of every action, whichever of them the record fills. So the messages of a phase form one shuffle. A user is in
one phase, and the phases of the first epoch are the smallest, so that one of those is declared.

A record fills one cell, and another record empties it and fills another one. Noise of one scale in every cell makes
both moves together no larger than the largest move within one cell, so each statistic is declared as one release of the
whole array. An update message has no width and a width message nothing else; both are declared as one report that has
all four. A quarter of the budget is for the width.
"""

from algorithms._shuffles import report_epsilon
from algorithms.lplr.schedule import epochs_of, phases_of
from algorithms.lplr.settings import LplrSettings
from dpaudit import Stated

_MESSAGE = "one message, which its own leaves certify"


def fewest_shuffled(settings: LplrSettings) -> int:
    """Return how many users the smallest phase has: those of the first epoch."""
    first = epochs_of(settings.horizon, settings.first_unit)[0]
    return first.length // phases_of(settings.dimension, first_confidence=False)


def message_epsilon(settings: LplrSettings) -> float:
    """Return the epsilon of one message: the claimed one, or what the smallest shuffle amplifies to it."""
    if settings.model == "local":
        return settings.epsilon
    users = fewest_shuffled(settings)
    return report_epsilon(_stated, epsilon=settings.epsilon, delta=settings.delta, users=users)


def _stated(epsilon: float) -> Stated:
    """Return a message of which only its epsilon is known, as the accountant reads no more of it."""
    return Stated(epsilon=epsilon, source=_MESSAGE)
