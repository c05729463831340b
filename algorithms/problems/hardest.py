"""The instances of the lower bounds on regret, one a seed: 0 is the base, i the one in which option i is best.

A lower bound speaks of the worst of all instances, so a study runs seeds 0 to K - 1.
"""

from typing import Annotated

import numpy as np

from algorithms.lower_bounds import Privacy, hardest_gap
from algorithms.problems.arrays import fits_in_memory
from algorithms.problems.duels import Duels, logistic
from algorithms.problems.kernel_bandit import KernelBandit
from algorithms.problems.linear_bandit import LARGEST_GAP, LinearBandit
from algorithms.problems.linear_mdp import LinearMdp
from algorithms.problems.linear_mixture import LinearMixture, first_state
from dpaudit.checks import Count, Natural, Positive, TwoOrMore, Within, count, positive
from dpaudit.model.mechanism import Array

_APART = 8
"""How many times the gap before it a gap is, where there are several."""

_FAR = 20
"""So many times the smallest gap is multiplied at most, which takes any to the largest."""

_Gap = Annotated[float, Within(above=0.0, at_most=0.25)]


def hardest_duels(*, arms: TwoOrMore = 5, utilities: bool = False, seed: Natural = 0) -> Duels:
    """Return duels in which the best option beats every other one with 3/4, and the others tie.

    In instances other than the base that holds of option `seed`, which also beats option 0.
    Parameters: `arms`, the number of options and of instances; `utilities` for logistic ones between 0 and 1, with one
    feature an option, in place of the table: 1/2 for option 0, 1 for option `seed`; `seed`, the instance.
    Raises: ValueError: fewer than two options, or no such instance.
    Source: Saha and Asi (2024), Theorem 2.

    >>> hardest_duels(seed=2).best
    2
    """
    best = _instance(seed, "arms", arms)
    shares = _means(arms, best, 0.25)
    name = f"instance {best} of {arms} of the lower bound"
    if utilities:
        return Duels(
            name="hardest_duels", description=f"{name}, with utilities.", preferences=logistic(2 * shares),
            utilities=2 * shares, features=np.eye(arms), is_hardest=True,
        )  # fmt: skip
    table = np.full((arms, arms), 0.5)
    for option in dict.fromkeys((0, best)):  # the later of both wins against the earlier
        table[option], table[:, option], table[option, option] = 0.75, 0.25, 0.5
    return Duels(name="hardest_duels", description=f"{name}.", preferences=table, is_hardest=True)


def hardest_bandit(*, actions: TwoOrMore = 9, gap: _Gap = 0.15, seed: Natural = 0) -> KernelBandit:
    """Return one context in which action 0 has mean 2 gap and action `seed`, unless it is 0, has 4 gap; others 0.

    Every action has a feature of its own, for kernel = "features".
    Parameters: `actions`, the number of actions and of instances; `gap`, the excess D of a probability; `seed`, the
    instance.
    Raises: ValueError: fewer than two actions, a gap outside (0, 1/4], or no such instance.

    >>> hardest_bandit(seed=3).gaps.argmin()
    np.int64(3)
    """
    best = _instance(seed, "actions", actions)
    if not 0 < gap <= 0.25:
        raise ValueError(f"Expected gap={gap!r} above 0 and at most 1/4, where 1/2 + 2 gap is still a probability.")
    return KernelBandit(
        name="hardest_bandit",
        description=f"instance {best} of {actions} of the lower bound, gap {gap:g}.",
        contexts=np.zeros((1, 1)),
        actions=np.arange(float(actions))[:, None],
        context_probabilities=np.ones(1),
        mean_reward=2 * _means(actions, best, gap)[None, :],
        features=np.eye(actions),
        hardest_gap=gap,
    )


def hardest_linear(
    *,
    actions: TwoOrMore = 2,
    gap: _Gap = 0.15,
    users: Natural = 0,
    epsilon: Positive = 1.0,
    gaps: Count = 1,
    seed: Natural = 0,
) -> LinearBandit:
    """Return the instance of `hardest_bandit` as a linear bandit, whose dimension is the number of actions.

    Parameters: `actions`, the number of actions, of instances at one gap, and of features; `gap`, at most 0.2236, where
    the parameter has norm 1; `users`, where above 0, takes in place of `gap` the gap at which the bound is largest for
    so many users and local privacy of `epsilon`; with `gaps` above 1 there are instances at so many gaps, each 8 times
    the one before and 0.2236 at most; `seed`, the instance, those of the smallest gap first.
    Raises: ValueError: as for `hardest_bandit`, or a gap above 0.2236.

    >>> hardest_linear(seed=1).gaps.argmin()
    np.int64(1)
    >>> [round(gap, 5) for gap in hardest_linear(users=10**6, gaps=4).hardest_gaps]
    [0.00054, 0.00433, 0.03462, 0.2236]
    """
    options, many = count("actions", actions, at_least=2), count("gaps", gaps)
    fits_in_memory(actions=options, gaps=many, instances=many)
    privacy = Privacy(epsilon=positive("epsilon", epsilon), local=True)
    if count("users", users, at_least=0):
        gap = hardest_gap(options, users, privacy, largest_gap=LARGEST_GAP)
    if gap > LARGEST_GAP:
        raise ValueError(f"Expected gap={gap!r} at most {LARGEST_GAP}, where the parameter has norm 1.")
    family = tuple(min(gap * float(_APART) ** min(number, _FAR), LARGEST_GAP) for number in range(many))
    best = _instance(seed, "actions", options * many) % options
    cells = hardest_bandit(actions=options, gap=family[seed // options], seed=best)
    return LinearBandit(
        name="hardest_linear",
        description=cells.description,
        features=np.eye(options)[None, :, :],
        context_probabilities=np.ones(1),
        mean_reward=cells.mean_reward,
        hardest_gaps=family,
    )


def hardest_process(*, actions: TwoOrMore = 2, steps: TwoOrMore = 4, gap: _Gap = 0.15, seed: Natural = 0) -> LinearMdp:
    """Return a process whose first action decides how likely the state is that pays 1 in every later step.

    It is reached with 1/2, with 1/2 + gap by action 0, and with 1/2 + 2 gap by action `seed`, unless that is 0.
    Parameters: `actions`, the number of actions and of instances; `steps` of an episode; `gap`, the excess D of a
    probability; `seed`, the instance. The dimension is actions + 2.
    Raises: ValueError: as for `hardest_bandit`, or one step only.

    >>> hardest_process().mdp.shape
    (4, 3, 2)
    """
    best, d = _instance(seed, "actions", actions), actions + 2
    fits_in_memory(steps=count("steps", steps, at_least=2), dimension=d, actions=actions)
    wins = (1 + hardest_bandit(actions=actions, gap=gap, seed=seed).mean_reward[0]) / 2
    features = np.zeros((3, actions, d))
    features[0, :, :actions] = np.eye(actions)
    features[1, :, -2] = features[2, :, -1] = 1.0  # the state that pays, and the one that does not
    measures, weights = np.zeros((steps, d, 3)), np.zeros((steps, d))
    measures[:, :actions, 1], measures[:, :actions, 2] = wins, 1 - wins
    measures[:, -2, 1] = measures[:, -1, 2] = 1.0
    weights[1:, -2] = 1.0
    return LinearMdp(
        name="hardest_process",
        description=f"instance {best} of {actions} of the lower bound, gap {gap:g}.",
        features=features,
        measures=measures,
        reward_weights=weights,
        initial=first_state(3),
        hardest_gap=gap,
    )


def hardest_mixture(
    *, actions: TwoOrMore = 2, steps: TwoOrMore = 4, gap: _Gap = 0.15, seed: Natural = 0
) -> LinearMixture:
    """Return the instance of `hardest_process` as a linear mixture: one kernel an action, beside what is known.

    Parameters: `actions`, the number of actions and of instances; `steps` of an episode; `gap`, the excess D of a
    probability; `seed`, the instance. The dimension is actions + 1.
    Raises: ValueError: as for `hardest_process`.

    >>> hardest_mixture().dimension
    3
    """
    process = hardest_process(actions=actions, steps=steps, gap=gap, seed=seed)
    kernels = np.zeros((actions + 1, 3, actions, 3))
    kernels[0, 0, :, 1:] = 0.5
    kernels[0, 1, :, 1] = kernels[0, 2, :, 2] = 1.0
    for action in range(actions):
        kernels[action + 1, 0, action] = (0.0, 1.0, -1.0)
    wins = process.mdp.transitions[0, 0, :, 1]
    shares = np.tile(np.concatenate([[1.0], wins - 0.5]), (steps, 1))
    root = np.sqrt(2.0)
    return LinearMixture(
        name="hardest_mixture",
        description=process.description,
        features=kernels / root,
        weights=shares * root,
        rewards=process.mdp.rewards,
        initial=process.initial,
        hardest_gap=gap,
    )


def _instance(seed: int, name: str, options: int) -> int:
    """Return which option is the best one, of so many; `name` is the parameter that says how many there are.

    Raises: ValueError: there is no such option.
    """
    fits_in_memory(options=count(name, options, at_least=2), others=options, copies=options)
    if count("seed", seed, at_least=0) >= options:
        raise ValueError(f"Expected seed={seed} below {options}, the number of instances: it says which one is meant.")
    return seed


def _means(options: int, best: int, gap: float) -> Array:
    """Return gap for option 0, 2 gap for the best one unless it is option 0, and 0 for all others."""
    means = np.zeros(options)
    means[0] = gap
    if best:
        means[best] = 2 * gap
    return means
