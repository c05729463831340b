"""Linear decision processes: transitions and rewards are linear in known features of (state, action)."""

import math
from dataclasses import dataclass, field, replace
from typing import Annotated, ClassVar

import numpy as np

from algorithms.problems.arrays import fits_in_memory, freeze
from algorithms.problems.finite_mdp import FiniteMdp, OnFiniteMdp
from algorithms.problems.linear_mixture import first_state, river_swim, tabular_mixture
from dpaudit.checks import Count, Natural, Positive, TwoOrMore, Within, count, positive
from dpaudit.model.mechanism import Array


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class LinearMdp(OnFiniteMdp):
    """A process with p_h(s' | s, a) = <features(s, a), measures_h(s')> and rewards <features(s, a), reward_weights_h>.

    Shape: features (S, A, d), measures (H, d, S), reward_weights (H, d), initial (S,). `units_per_person` is the most
    episodes of one person, None where that is not known. `hardest_gap` is the gap D of an instance of the lower bound's
    family, 0 of any other problem.
    Guarantee: features have norm at most 1, which is what the noise is calibrated for; reward weights, and measures
    of any value in [0, 1], at most sqrt(d).
    Raises: ValueError: shapes that do not fit, or one of these bounds broken.
    """

    _known_features: ClassVar[int] = 2
    name: str
    description: str
    features: Array
    measures: Array
    reward_weights: Array
    initial: Array
    units_per_person: int | None = None
    hardest_gap: float = 0.0
    mdp: FiniteMdp = field(init=False, repr=False)

    def __post_init__(self) -> None:
        freeze(self, "features", "measures", "reward_weights")
        root = math.sqrt(self.dimension)
        sizes = {
            "features": (float(np.linalg.norm(self.features, axis=2).max()), 1.0),
            "reward_weights": (float(np.linalg.norm(self.reward_weights, axis=1).max()), root),
            "measures": (float(np.linalg.norm(np.abs(self.measures).sum(axis=2), axis=1).max()), root),
        }
        for field_, (size, allowed) in sizes.items():
            if size > allowed + 1e-9:
                raise ValueError(f"Expected {field_} of norm at most {allowed:.6g}, got up to {size:.6g}.")
        transitions = np.einsum("sad,hdt->hsat", self.features, self.measures)
        rewards = np.einsum("sad,hd->hsa", self.features, self.reward_weights)
        object.__setattr__(
            self, "mdp", FiniteMdp(transitions=transitions, rewards=np.clip(rewards, 0, 1), initial=self.initial)
        )

    @property
    def dimension(self) -> int:
        """The number of features, d."""
        return int(self.features.shape[2])

    def with_gap_factor(self, factor: float) -> "LinearMdp":
        """Return the same process with every reward multiplied by `factor`, and so every gap.

        Raises: ValueError: a factor that takes a reward beyond 1.
        """
        return replace(self, reward_weights=factor * self.reward_weights)


def low_rank(
    *,
    states: TwoOrMore = 10,
    actions: Count = 4,
    steps: Count = 4,
    dimension: Count = 4,
    concentration: Positive = 0.3,
    seed: Natural = 0,
) -> LinearMdp:
    """Return a drawn low-rank process: features in the simplex, measures that are laws, rewards that favour one factor.

    Parameters: `states`, their number; `actions`, their number; `steps` of an episode; `dimension`, the number of
    factors; `concentration` of the Dirichlet laws that are drawn from; `seed` of the draw, which fixes the problem.
    Raises: ValueError: a count below 1 or a concentration that is not positive.

    >>> low_rank().mdp.shape
    (4, 10, 4)
    """
    S, A = count("states", states, at_least=2), count("actions", actions)  # noqa: N806  # the field's letters
    H, d = count("steps", steps), count("dimension", dimension)  # noqa: N806
    fits_in_memory(states=S, actions=A, others=max(d, H * S))
    fits_in_memory(steps=H, dimension=d, states=S)
    rng = np.random.default_rng(count("seed", seed, at_least=0))
    spread = positive("concentration", concentration)
    weights = 0.2 * rng.random((H, d))
    weights[:, 0] = 1.0
    return LinearMdp(
        name="low_rank",
        description=f"a drawn process of rank {d} on {S} states",
        features=rng.dirichlet(np.full(d, spread), size=(S, A)),
        measures=rng.dirichlet(np.full(S, spread), size=(H, d)),
        reward_weights=weights,
        initial=first_state(S),
    )


def delayed_low_rank(
    *,
    states: TwoOrMore = 10,
    actions: Count = 4,
    steps: Count = 4,
    dimension: Annotated[int, Within(at_least=3)] = 4,
    concentration: Positive = 0.3,
    seed: Natural = 0,
) -> LinearMdp:
    """Return a drawn low-rank process in which play for the immediate reward never reaches the reward that counts.

    The last state is the goal: there every action has feature 0, whose reward is 1, and 0.9 of whose law stays there.
    In all other states features are drawn in the simplex of the other factors. At every step one of these, drawn, is
    the door and leads to the goal with 0.6; another one, drawn, is the bait and pays 0.1. Nothing else pays.
    Parameters: `states`, their number; `actions`, their number; `steps` of an episode; `dimension`, the number of
    factors; `concentration` of the Dirichlet laws that are drawn from; `seed` of the draw, which fixes the problem.
    Raises: ValueError: fewer than 2 states or 3 dimensions, a count below 1, or a concentration that is not positive.

    >>> problem = delayed_low_rank()
    >>> problem.myopic_regret > 0.5 * problem.uniform_regret
    True
    """
    S, A = count("states", states, at_least=2), count("actions", actions)  # noqa: N806  # the field's letters
    H, d = count("steps", steps), count("dimension", dimension, at_least=3)  # noqa: N806
    fits_in_memory(states=S, actions=A, others=max(d, H * S))
    fits_in_memory(steps=H, dimension=d, states=S)
    rng = np.random.default_rng(count("seed", seed, at_least=0))
    spread = positive("concentration", concentration)
    features = np.zeros((S, A, d))
    features[:-1, :, 1:] = rng.dirichlet(np.full(d - 1, spread), size=(S - 1, A))
    features[-1, :, 0] = 1.0
    measures = np.zeros((H, d, S))
    measures[:, :, :-1] = rng.dirichlet(np.full(S - 1, spread), size=(H, d))
    weights = _doors_and_baits(measures, rng)
    return LinearMdp(
        name="delayed_low_rank",
        description=f"a drawn process of rank {d} on {S} states with a bait and a goal",
        features=features,
        measures=measures,
        reward_weights=weights,
        initial=first_state(S),
    )


def _doors_and_baits(measures: Array, rng: np.random.Generator) -> Array:
    """Let a factor of each step, the door, lead to the goal, and the goal stay; return the rewards of goal and bait.

    Shape: `measures` (H, d, S), which are changed, to (H, d).
    """
    steps, dimension, _ = measures.shape
    weights = np.zeros((steps, dimension))
    weights[:, 0] = 1.0
    for h in range(steps):
        door, bait = 1 + rng.permutation(dimension - 1)[:2]
        for factor, share in ((0, 0.9), (int(door), 0.6)):
            measures[h, factor] *= 1 - share
            measures[h, factor, -1] = share
        weights[h, bait] = 0.1
    return weights


def river_swim_table(*, states: TwoOrMore = 4, steps: Count = 6) -> LinearMdp:
    """Return RiverSwim as a linear process with one feature for each (state, action).

    Parameters: `states`, their number; `steps` of an episode.
    Raises: ValueError: fewer than 2 states, or a count below 1.

    >>> river_swim_table().mdp.shape
    (6, 4, 2)
    """
    return of_table(river_swim(states=states, steps=steps).mdp, "river_swim_table", "RiverSwim, as a table")


def tabular_mdp(*, states: TwoOrMore = 3, actions: Count = 2, steps: Count = 3, seed: Natural = 0) -> LinearMdp:
    """Return the process of `tabular_mixture` as a linear one, with one feature for each (state, action).

    Parameters: `states`, their number; `actions`, their number; `steps` of an episode; `seed` of the draw, which fixes
    the problem.

    >>> tabular_mdp().mdp.shape
    (3, 3, 2)
    """
    mixture = tabular_mixture(states=states, actions=actions, steps=steps, seed=seed)
    return of_table(mixture.mdp, "tabular_mdp", "a drawn tabular process, as a linear one")


def of_table(mdp: FiniteMdp, name: str, description: str) -> LinearMdp:
    """Return any finite process as a linear one of dimension S A; the features are unit vectors."""
    steps, states, actions = mdp.shape
    cells = states * actions
    fits_in_memory(states=states, actions=actions, cells=cells)
    return LinearMdp(
        name=name,
        description=description,
        features=np.eye(cells).reshape(states, actions, cells),
        measures=mdp.transitions.reshape(steps, cells, states),
        reward_weights=mdp.rewards.reshape(steps, cells),
        initial=mdp.initial,
    )
