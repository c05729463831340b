"""The law of a secret number of runs, by the slope of its generating function.

With f(z) = E z^K the best of K runs has its score in the top part a of one run's scores with probability 1 - f(1 - a).
So one run that has a share a of all above it is weighted by the slope f'(1 - a).
Source: Papernot and Steinke (2022), Definition 1 (truncated negative binomial law) and Theorem 6 (Poisson law).
"""

import math
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from dpaudit.model.declaration import BestOf

Floats: TypeAlias = NDArray[np.float64]
_LARGEST = 700.0  # of an exponent
_LEAST = 1e-16  # of what is below a score, for a fixed number of runs: the grid ends there
_ETA = {"geometric": 1.0, "logarithmic": 0.0}
_NO_POWER = 1e-12  # an eta below counts as 0


@dataclass(frozen=True, slots=True, kw_only=True)
class RunCount:
    """A law of K: of `runs` for certain, Poisson of a `mean`, or negative binomial with `gamma` and `eta`.

    Two numbers describe a place among scores: what is `above` it and what is `below`, which add up to 1; each law reads
    the one that it depends on smoothly.
    """

    runs: int = 0
    mean: float = 0.0
    gamma: float = 0.0
    eta: float = 0.0

    @classmethod
    def of(cls, node: BestOf) -> "RunCount":
        """Return the law that a node declares."""
        if node.runs is not None:
            return cls(runs=node.runs)
        if node.mean is not None:
            return cls(mean=node.mean)
        return cls(gamma=node.gamma or 0.0, eta=_ETA.get(node.law, node.eta or 0.0))

    @property
    def expected(self) -> float:
        """E K, the slope at the best score."""
        return float(np.exp(np.minimum(self.log_slope(np.zeros(1), np.ones(1))[0], _LARGEST)))

    def log_slope(self, above: Floats, below: Floats) -> Floats:
        """Return ln f'(1 - above)."""
        if self.runs:
            with np.errstate(divide="ignore"):
                return np.asarray(math.log(self.runs) + (self.runs - 1) * np.log(below))
        if self.mean:
            return np.asarray(math.log(self.mean) - self.mean * above)
        rest = self.gamma + (1 - self.gamma) * above
        return np.asarray(math.log1p(-self.gamma) - self._log_whole - (self.eta + 1) * np.log(rest))

    def places(self, steps: int) -> tuple[Floats, Floats]:
        """Return places, from the best score on, between which the logarithm of the slope falls by equal steps."""
        if self.runs:
            below = np.append(np.geomspace(1.0, _LEAST, steps), 0.0)
            return 1 - below, below
        if self.mean:
            above = np.linspace(0.0, 1.0, steps + 1)
        else:
            above = (np.geomspace(self.gamma, 1.0, steps + 1) - self.gamma) / (1 - self.gamma)
            above = np.clip(above, 0.0, 1.0)
        return above, 1 - above

    @property
    def _log_whole(self) -> float:
        """ln((gamma^-eta - 1) / eta), which is ln ln(1 / gamma) where eta is 0."""
        logs = -math.log(self.gamma)
        if self.eta < _NO_POWER:
            return math.log(logs)
        return self.eta * logs + math.log(-math.expm1(-self.eta * logs) / self.eta)
