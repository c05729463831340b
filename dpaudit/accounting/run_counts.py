"""The law of a secret number of runs, by the slope of its generating function.

With f(z) = E z^K the best of K runs has its score in the top part a of one run's scores with probability 1 - f(1 - a).
So one run that has a share a of all above it is weighted by the slope f'(1 - a).
Source: Papernot and Steinke (2022), Definition 1 (truncated negative binomial law) and Theorem 6 (Poisson law).
"""

import math
from dataclasses import dataclass

import numpy as np

from dpaudit.engines.transform import Floats
from dpaudit.model.declaration import BestOf

_LARGEST, _NONE = 700.0, 1e-300  # of an exponent; in place of 0
_DEEPEST = 30.0  # a fall of a slope, in logarithms, beyond which outputs are no longer split
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
        base = self.gamma + (1 - self.gamma) * above
        return np.asarray(math.log1p(-self.gamma) - self._log_whole - (self.eta + 1) * np.log(base))

    def slope(self, below: Floats) -> Floats:
        """Return f' where a share of all scores is below."""
        return np.asarray(np.exp(self.log_slope(1 - below, below)))

    def curvature(self, below: Floats) -> Floats:
        """Return the second derivative of the slope, which rises with what is below."""
        if self.runs:
            factor = self.runs * (self.runs - 1) * (self.runs - 2)
            return np.asarray(factor * below ** max(0, self.runs - 3))
        if self.mean:
            return self.mean**2 * self.slope(below)
        share = (1 - self.gamma) / (self.gamma + (1 - self.gamma) * (1 - below))
        return (self.eta + 1) * (self.eta + 2) * share**2 * self.slope(below)

    def places(self, step: float) -> Floats:
        """Return places, from the best score on, between which the slope falls by a step in logarithms."""
        total_fall = self.log_slope(np.zeros(1), np.ones(1)) - self.log_slope(np.ones(1), np.full(1, _NONE))
        falls = np.arange(0.0, min(_DEEPEST, float(total_fall[0])), step)
        if self.runs:
            return -np.expm1(-falls / (self.runs - 1))
        if self.mean:
            return falls / self.mean
        return np.clip(self.gamma * np.expm1(falls / (self.eta + 1)) / (1 - self.gamma), 0.0, 1.0)

    def reached(self, above: Floats, below: Floats, mass: Floats) -> Floats:
        """Return f(1 - above) - f(1 - above - mass): the probability that the best score is among so much of all."""
        if self.runs:
            with np.errstate(divide="ignore", invalid="ignore"):
                share = np.where(below > 0, np.minimum(1.0, mass / below), 0.0)
                return np.asarray(below**self.runs * -np.expm1(self.runs * np.log1p(-share)))
        if self.mean:
            return np.asarray(np.exp(-self.mean * above) * -np.expm1(-self.mean * mass))
        base = self.gamma + (1 - self.gamma) * above
        logs = np.log1p((1 - self.gamma) * mass / base)
        if self.eta < _NO_POWER:
            return np.asarray(logs / -math.log(self.gamma))
        power = self.eta * math.log(self.gamma)
        return np.asarray(np.exp(power - self.eta * np.log(base)) * np.expm1(-self.eta * logs) / math.expm1(power))

    @property
    def _log_whole(self) -> float:
        """ln((gamma^-eta - 1) / eta), which is ln ln(1 / gamma) where eta is 0."""
        logs = -math.log(self.gamma)
        if self.eta < _NO_POWER:
            return math.log(logs)
        return self.eta * logs + math.log(-math.expm1(-self.eta * logs) / self.eta)
