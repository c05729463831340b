"""A small simulator of a walk with one feature for each (state, action): a chain."""

import numpy as np

from algorithms.problems.arrays import fits_in_memory
from algorithms.problems.finite_mdp import FiniteMdp
from algorithms.problems.linear_mdp import LinearMdp, of_table
from algorithms.problems.linear_mixture import first_state
from dpaudit.checks import Count, OpenProbability, TwoOrMore, count, open_probability

_BACK = 0.1
"""What going back to the start pays at once."""


def chain(*, states: TwoOrMore = 4, steps: Count = 6, slip: OpenProbability = 0.2) -> LinearMdp:
    """Return a chain: action 0 goes on and pays 1 at the last state, action 1 returns to the start and pays 0.1.

    With probability `slip` the other action takes place; rewards are those of the chosen one. Play for the immediate
    reward always returns to the start.
    Parameters: `states`, their number; `steps` of an episode; `slip`, the probability of the other action.
    Raises: ValueError: fewer than 2 states, a count below 1, or a slip outside (0, 1).

    >>> chain().mdp.shape
    (6, 4, 2)
    """
    S, H = count("states", states, at_least=2), count("steps", steps)  # noqa: N806  # the field's letters
    share = open_probability("slip", slip)
    fits_in_memory(states=S, others=S, actions=2, steps=H)
    transitions, rewards = np.zeros((H, S, 2, S)), np.zeros((H, S, 2))
    for s in range(S):
        for action, away in ((0, share), (1, 1 - share)):
            transitions[:, s, action, min(s + 1, S - 1)] += 1 - away
            transitions[:, s, action, 0] += away
    rewards[:, -1, 0] = 1.0
    rewards[:, :, 1] = _BACK
    return of_table(
        FiniteMdp(transitions=transitions, rewards=rewards, initial=first_state(S)),
        "chain",
        f"a chain of {S} states that slips back",
    )
