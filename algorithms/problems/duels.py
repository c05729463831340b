"""Dueling problems: the probability that one option is preferred to another, and the regret of a duel."""

from dataclasses import dataclass

import numpy as np

from algorithms.lower_bounds import Privacy, duels_regret, logistic_utilities, preferences
from algorithms.problems.arrays import freeze
from dpaudit.checks import count
from dpaudit.model.constants import RegretLowerBound
from dpaudit.model.mechanism import Array

_FITTING_ROUNDS = 500


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Duels:
    """Options, and how often one is preferred to another.

    Shape: preferences (K, K), entry (i, j) the probability that i beats j, with i against j and j against i adding
    up to 1 and one half on the diagonal; names (K,); utilities (K,) or None where no scale fits; features
    (K, d) or None. Public: everything here but the answers that people give. Arrays are copied and made read-only.
    `votes_per_person` is the most answers that one person gives; each is a record of its own. `is_hardest` says that
    the problem is an instance of the lower bound's family; `beyond` is the utility that the best point of an infinite
    set has above that of the best option, where the options are a net of the set: regret is against that point.
    Raises: ValueError: shapes that do not fit, or preferences that are no probabilities of opposite events.
    """

    name: str
    description: str
    preferences: Array
    names: tuple[str, ...] = ()
    utilities: Array | None = None
    features: Array | None = None
    votes_per_person: int = 1
    is_hardest: bool = False
    beyond: float = 0.0

    @property
    def units_per_person(self) -> int:
        """The most units of one person: an answer is a unit."""
        return self.votes_per_person

    def __post_init__(self) -> None:
        freeze(self, "preferences", "utilities", "features")
        object.__setattr__(self, "votes_per_person", count("votes_per_person", self.votes_per_person))
        table = self.preferences
        if table.ndim != 2 or table.shape[0] != table.shape[1] or len(table) < 2:
            raise ValueError(f"Expected preferences as a square table of two options or more, got {table.shape}.")
        if not ((table >= 0) & (table <= 1)).all() or not np.allclose(table + table.T, 1, atol=1e-9):
            raise ValueError("Expected preferences[i][j] + preferences[j][i] = 1 with entries in [0, 1].")
        for field in ("utilities", "features", "names"):
            values = getattr(self, field)
            if values is not None and len(values) not in (len(table), 0 if field == "names" else len(table)):
                raise ValueError(f"Expected one entry of {field} for each of {len(table)} options, got {len(values)}.")

    @property
    def arms(self) -> int:
        """The number of options."""
        return len(self.preferences)

    @property
    def labels(self) -> tuple[str, ...]:
        """The options' names, or their numbers from 1."""
        return self.names or tuple(f"option {arm + 1}" for arm in range(self.arms))

    @property
    def best(self) -> int:
        """The option that beats every other one half of the time or more; else the one with the best average."""
        beats = (self.preferences >= 0.5).all(axis=1)
        average = np.where(beats, 2.0, 0.0) + self.preferences.mean(axis=1)
        return int(average.argmax())

    @property
    def uniform_regret(self) -> float:
        """The expected loss of a duel of two random options: in utility, or in preference without utilities."""
        return float(self.regret.mean())

    @property
    def largest_regret(self) -> float:
        """The most that a duel can lose."""
        return float(self.regret.max())

    @property
    def regret(self) -> Array:
        """What a duel of i and j costs, in utility, or in preference without utilities; shape (K, K)."""
        return self.preference_regret if self.utilities is None else self.utility_regret

    @property
    def utility_regret(self) -> Array:
        """What a duel of i and j costs in utility, 2 r(best) - r(i) - r(j); shape (K, K), NaN without utilities.

        The best is that of the set whose net the options are, where there is one.
        """
        if self.utilities is None:
            return np.full(self.preferences.shape, np.nan)
        lost = self.utilities.max() + self.beyond - self.utilities
        return lost[:, None] + lost[None, :]

    @property
    def preference_regret(self) -> Array:
        """What a duel costs in preference, P(best, i) + P(best, j) - 1; shape (K, K)."""
        lost = self.preferences[self.best] - 0.5
        return lost[:, None] + lost[None, :]

    def regret_lower_bound(self, *, horizon: int, epsilon: float, delta: float, model: str) -> RegretLowerBound | None:
        """Return what every private method loses on the worst of as many instances as there are options.

        Options with features count as their dimension at most, as no more of them can differ freely; None where fewer
        than two are left, or all utilities are equal.
        """
        free = self.arms if self.features is None else min(self.arms, self.features.shape[1])
        privacy = Privacy(epsilon=epsilon, delta=delta, local=model == "local")
        span = 0.0 if self.utilities is None else float(np.ptp(self.utilities))
        if free < 2 or (self.utilities is not None and span == 0):
            return None
        family = preferences() if self.utilities is None else logistic_utilities(span, in_utility=True)
        words = f"utilities between 0 and {span:.3g}" if span else "the best option beats every other one with 3/4"
        return RegretLowerBound(
            value=duels_regret(family, free, horizon, privacy),
            instances=free,
            family=f"{free} options, {words}",
            source="Theorem 2 with Remarks 2 and 4, computed",
            is_member=self.is_hardest,
        )


def luce(strengths: Array) -> Array:
    """Return the preferences of Luce's choice axiom, strength i over the sum of both. Shape: (K,) to (K, K)."""
    weights = np.asarray(strengths, dtype=np.float64)
    return weights[:, None] / (weights[:, None] + weights[None, :])


def logistic(utilities: Array) -> Array:
    """Return the Bradley-Terry preferences of utilities, 1 / (1 + e^-(r_i - r_j)). Shape: (K,) to (K, K)."""
    values = np.asarray(utilities, dtype=np.float64)
    return 1 / (1 + np.exp(values[None, :] - values[:, None]))


def win_rates(wins: Array, prior: float) -> Array:
    """Return preferences from counts of wins, each pair shrunk to one half as if it had `prior` duels more.

    Shape: wins (K, K), entry (i, j) how often i beat j.
    """
    table = (wins + prior / 2) / np.where((wins + wins.T + prior) > 0, wins + wins.T + prior, 1)
    table[wins + wins.T + prior == 0] = 0.5
    np.fill_diagonal(table, 0.5)
    return table


def fitted_utilities(wins: Array) -> Array:
    """Return the Bradley-Terry utilities that fit counts of wins best, with mean 0.

    Half a win is added to either side of every pair that met, so that a pure winner stays finite.
    Source: Hunter (2004), the MM iteration.
    """
    met = (wins + wins.T) > 0
    padded = np.where(met, wins + 0.5, 0.0)
    np.fill_diagonal(padded, 0.0)
    duels, total = padded + padded.T, padded.sum(axis=1)
    strength = np.ones(len(wins))
    for _ in range(_FITTING_ROUNDS):
        strength = total / np.maximum((duels / (strength[:, None] + strength[None, :])).sum(axis=1), 1e-300)
        strength /= np.exp(np.log(np.maximum(strength, 1e-300)).mean())
    utilities: Array = np.log(np.maximum(strength, 1e-300))
    return utilities - utilities.mean()
