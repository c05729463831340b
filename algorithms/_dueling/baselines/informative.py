"""MaxInP: among options that may be best, the pair that tells most about the direction of utility."""

from dataclasses import dataclass, field

import numpy as np

from algorithms._dueling.regression import constrained_logistic
from dpaudit.model.mechanism import Array

_REFIT_GROWTH = 1.05


@dataclass(slots=True, kw_only=True)
class MaximumInformativePair:
    """MaxInP: logistic regression on all answers; the widest pair of options that no other one surely beats.

    `width` is the confidence multiplier eta; its theoretical value,
    (1 / 2 kappa) sqrt(d ln(1 + 2 t / d) / 2 + ln(1 / delta)),
    keeps everybody for long, and 0.5 to 1 is what is used in practice. The estimate is refitted whenever the
    number of answers has grown by a twentieth; answers are kept as counts of pairs.
    Source: Saha (2021), "Optimal Algorithms for Stochastic Contextual Preference Bandits", Algorithm 1.
    """

    features: Array
    width: float = 0.75
    random_rounds: int = 20
    plays: Array = field(init=False)
    wins: Array = field(init=False)
    spread: Array = field(init=False)
    pair: tuple[int, int] | None = field(default=None, init=False)
    refit_at: int = field(default=0, init=False)
    estimate: Array = field(init=False)

    def __post_init__(self) -> None:
        arms, dimension = self.features.shape
        self.plays, self.wins = np.zeros((arms, arms)), np.zeros((arms, arms))
        self.spread, self.estimate = np.eye(dimension), np.zeros(dimension)

    def choose(self, number: int, rng: np.random.Generator) -> tuple[int, int]:
        """Return the most informative pair of candidates."""
        arms = len(self.features)
        if number <= self.random_rounds:
            left, right = rng.choice(arms, size=2, replace=False)
            return int(left), int(right)
        if number >= self.refit_at:
            self._fit()
            self.refit_at = max(number + 1, int(number * _REFIT_GROWTH))
        inverse = np.linalg.inv(self.spread)
        whitened = self.features @ np.linalg.cholesky(inverse)
        squares = (whitened**2).sum(axis=1)
        lengths = np.sqrt(np.maximum(squares[:, None] + squares[None, :] - 2 * whitened @ whitened.T, 0.0))
        scores = self.features @ self.estimate
        may_win = scores[:, None] - scores[None, :] + self.width * lengths > 0
        np.fill_diagonal(may_win, True)  # noqa: FBT003  # nobody beats oneself
        candidates = np.flatnonzero(may_win.all(axis=1))
        among = lengths[np.ix_(candidates, candidates)]
        left, right = np.unravel_index(int(among.argmax()), among.shape)
        return int(candidates[left]), int(candidates[right])

    def learn(self, left: int, right: int, *, won: bool) -> None:
        """Count the answer and the information of its pair."""
        self.plays[left, right] += 1
        self.wins[left, right] += won
        direction = self.features[left] - self.features[right]
        self.spread += np.outer(direction, direction)

    def repeats(self, number: int) -> int:
        """Return 1: the count of answers decides when the next fit is due."""
        del number
        return 1

    def _fit(self) -> None:
        """Fit the logistic model to all counts."""
        first, second = np.nonzero(self.plays)
        vectors = self.features[first] - self.features[second]
        sums = self.wins[first, second][None, :]
        self.estimate = constrained_logistic(vectors, self.plays[first, second], sums, 4.0, 1.0)[0]
