"""Linear-mixture decision processes: unknown weights on known features of (next state, state, action)."""

import math
from dataclasses import dataclass, field, replace
from typing import ClassVar

import numpy as np

from algorithms.problems.arrays import fits_in_memory, freeze
from algorithms.problems.finite_mdp import FiniteMdp, OnFiniteMdp
from dpaudit.checks import Count, Natural, OpenProbability, Positive, TwoOrMore, count, open_probability, positive
from dpaudit.model.mechanism import Array


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class LinearMixture(OnFiniteMdp):
    """A process with p_h(s' | s, a) = <features(s' | s, a), weights_h>, and rewards that everybody knows.

    Shape: features (d, S, A, S), weights (H, d), rewards (H, S, A), initial (S,). `units_per_person` is the most
    episodes of one person, None where that is not known. `hardest_gap` is the gap D of an instance of the lower bound's
    family, 0 of any other problem.
    Guarantee: ||sum_s' features(s' | s, a) v(s')|| <= max |v| for every v >= 0, which is what the noise is calibrated
    for; it is checked by `largest_feature_norm`, a bound that is attained where no feature is negative.
    Raises: ValueError: shapes that do not fit, features that are too large, weights that make no law.
    """

    _known_features: ClassVar[int] = 1
    name: str
    description: str
    features: Array
    weights: Array
    rewards: Array
    initial: Array
    units_per_person: int | None = None
    hardest_gap: float = 0.0
    mdp: FiniteMdp = field(init=False, repr=False)

    def __post_init__(self) -> None:
        freeze(self, "features", "weights")
        if self.features.ndim != 4 or self.weights.ndim != 2 or len(self.features) != self.weights.shape[1]:
            raise ValueError(
                f"Expected features of shape (d, S, A, S) and weights of shape (H, d), got {self.features.shape} and "
                f"{self.weights.shape}."
            )
        largest = largest_feature_norm(self.features)
        if largest > 1 + 1e-9:
            raise ValueError(
                f"Expected features of values in [0, 1] to have norm at most 1, got up to {largest:.6g}; divide the "
                "features by it, and multiply the weights."
            )
        transitions = np.tensordot(self.weights, self.features, axes=(1, 0))
        object.__setattr__(
            self,
            "mdp",
            FiniteMdp(transitions=np.maximum(transitions, 0.0), rewards=self.rewards, initial=self.initial),
        )

    @property
    def dimension(self) -> int:
        """The number of features, d."""
        return len(self.features)

    @property
    def weight_bound(self) -> float:
        """The largest norm of a step's weights, the paper's C_w."""
        return float(np.linalg.norm(self.weights, axis=1).max())

    def with_gap_factor(self, factor: float) -> "LinearMixture":
        """Return the same process with every reward multiplied by `factor`, and so every gap.

        Raises: ValueError: a factor that takes a reward beyond 1.
        """
        return replace(self, rewards=factor * self.rewards)


def largest_feature_norm(features: Array) -> float:
    """Return a bound on ||sum_s' features(s' | s, a) v(s')|| over v with values in [0, 1] and over (s, a).

    It is the norm over features of the larger of their positive and negative parts' sums; attained at v = 1 where
    features are not negative and have support on all of S together.
    """
    positive_part = np.maximum(features, 0).sum(axis=3)
    negative_part = np.maximum(-features, 0).sum(axis=3)
    return float(np.linalg.norm(np.maximum(positive_part, negative_part), axis=0).max())


def random_mixture(
    *,
    states: TwoOrMore = 5,
    actions: Count = 4,
    steps: Count = 4,
    dimension: Count = 3,
    concentration: Positive = 0.15,
    weight_concentration: Positive = 0.25,
    seed: Natural = 0,
) -> LinearMixture:
    """Return a mixture of drawn kernels: rows from a Dirichlet law, weights too; reward 1 at the last state only.

    Elsewhere rewards are uniform below 0.1. Features are the kernels over sqrt(d), and weights sqrt(d) times the
    shares.
    Parameters: `states`, their number; `actions`, their number; `steps` of an episode; `dimension`, the number of
    kernels; `concentration` of the Dirichlet law of the rows; `weight_concentration` of that of the weights; `seed` of
    the draw, which fixes the problem.
    Raises: ValueError: a count below 1 or a concentration that is not positive.

    >>> random_mixture().mdp.shape
    (4, 5, 4)
    """
    S, A = count("states", states, at_least=2), count("actions", actions)  # noqa: N806  # the field's letters
    H, d = count("steps", steps), count("dimension", dimension)  # noqa: N806
    fits_in_memory(states=S, others=S, actions=A, dimension_or_steps=max(H, d))
    rng = np.random.default_rng(count("seed", seed, at_least=0))
    kernels = rng.dirichlet(np.full(S, positive("concentration", concentration)), size=(d, S, A))
    shares = rng.dirichlet(np.full(d, positive("weight_concentration", weight_concentration)), size=H)
    rewards = 0.1 * rng.random((H, S, A))
    rewards[:, -1] = 1.0
    return of_kernels(
        "random_mixture", f"a mixture of {d} drawn kernels on {S} states", kernels, shares, rewards, first_state(S)
    )


def river_swim(
    *,
    states: TwoOrMore = 6,
    steps: Count = 10,
    advance: OpenProbability = 0.35,
    stay: OpenProbability = 0.6,
) -> LinearMixture:
    """Return RiverSwim as a mixture of three kernels: swimming up succeeds, stalls, or is swept back.

    Action 0 always drifts down. Rewards: 0.005 for drifting at the first state, 1 for swimming at the last.
    Parameters: `states`, their number; `steps` of an episode; `advance`, the probability that swimming up succeeds;
    `stay`, the probability that it stalls.
    Raises: ValueError: fewer than 2 states, or shares that leave nothing for being swept back.

    >>> river_swim().mdp.shape
    (10, 6, 2)
    """
    S, H = count("states", states, at_least=2), count("steps", steps)  # noqa: N806  # the field's letters
    fits_in_memory(states=S, others=S, actions=2, steps=max(H, 3))
    shares = np.array([open_probability("advance", advance), open_probability("stay", stay), 1 - advance - stay])
    if shares[2] < 0:
        raise ValueError(f"Expected stay={stay!r} to leave something beside advance={advance!r}.")
    kernels = np.zeros((3, S, 2, S))
    for s in range(S):
        kernels[:, s, 0, max(s - 1, 0)] = 1.0
        for kernel, target in enumerate((min(s + 1, S - 1), s, max(s - 1, 0))):
            kernels[kernel, s, 1, target] = 1.0
    return of_kernels(
        "river_swim",
        f"RiverSwim with {S} states, as a mixture of three kernels",
        kernels,
        np.tile(shares, (H, 1)),
        _river_rewards(H, S),
        first_state(S),
    )


def tabular_mixture(*, states: TwoOrMore = 3, actions: Count = 2, steps: Count = 3, seed: Natural = 0) -> LinearMixture:
    """Return a drawn tabular process as a linear mixture: one feature for each (state, action, next state).

    Indicators have norm up to sqrt(S) together, so they are divided by it and the weights multiplied.
    Parameters: `states`, their number; `actions`, their number; `steps` of an episode; `seed` of the draw, which fixes
    the problem.
    Raises: ValueError: a count below 1.

    >>> tabular_mixture().mdp.shape
    (3, 3, 2)
    """
    S, A, H = count("states", states, at_least=2), count("actions", actions), count("steps", steps)  # noqa: N806
    fits_in_memory(states=S, others=S, actions=A, features_or_steps=max(H, S * A * S))
    rng = np.random.default_rng(count("seed", seed, at_least=0))
    transitions = rng.dirichlet(np.full(S, 0.5), size=(H, S, A))
    rewards = 0.1 * rng.random((H, S, A))
    rewards[:, -1] = 1.0
    features = np.eye(S * A * S).reshape(S * A * S, S, A, S) / math.sqrt(S)
    return LinearMixture(
        name="tabular_mixture",
        description=f"a drawn tabular process with {S} states, as a linear mixture of dimension {S * A * S}",
        features=features,
        weights=transitions.reshape(H, -1) * math.sqrt(S),
        rewards=rewards,
        initial=first_state(S),
    )


def of_kernels(
    name: str, description: str, kernels: Array, shares: Array, rewards: Array, initial: Array
) -> LinearMixture:
    """Return a mixture of kernels (d, S, A, S) with shares (H, d), normalised: kernels over sqrt(d)."""
    root = math.sqrt(len(kernels))
    return LinearMixture(
        name=name,
        description=description,
        features=kernels / root,
        weights=shares * root,
        rewards=rewards,
        initial=initial,
    )


def first_state(states: int) -> Array:
    """Return the law that always starts in state 0."""
    return np.eye(states)[0]


def _river_rewards(steps: int, states: int) -> Array:
    """Return RiverSwim's rewards at every step."""
    rewards = np.zeros((steps, states, 2))
    rewards[:, 0, 0], rewards[:, -1, 1] = 0.005, 1.0
    return rewards
