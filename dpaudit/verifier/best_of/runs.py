"""The law of a number of runs, by the slope of its generating function f at places among scores."""

import math

import numpy as np

from dpaudit.verifier.refusals import Array, Table, require

PARAMETERS = ("law", "runs", "gamma", "eta", "mean")
_NEAR_ZERO = 1e-12  # an eta up to it counts as 0
_DEEP = 30.0  # a fall of ln f' beyond which outputs are not split
_NEEDS = {"fixed": {"runs"}, "poisson": {"mean"}, "negative_binomial": {"gamma", "eta"}}


class Runs:
    """The law of the number of runs, by the slope of f where a share b of all scores is lower."""

    def __init__(self, node: Table) -> None:
        given = {key for key in PARAMETERS[1:] if key in node}
        require(given == _NEEDS.get(node["law"], {"gamma"}), "the parameters are not those of the law of runs")
        self.runs, self.mean = int(node.get("runs", 0)), float(node.get("mean", 0.0))
        self.gamma = float(node.get("gamma", 0.0))
        self.eta = {"geometric": 1.0, "logarithmic": 0.0}.get(node["law"], float(node.get("eta", 0.0)))
        require(self.runs != 1 and (self.runs or self.mean > 0 or self.gamma > 0), "a law of runs has no run to choose")

    def log_slope(self, b: Array) -> Array:
        """Return ln f'(b)."""
        if self.runs:
            with np.errstate(divide="ignore"):
                return np.asarray(math.log(self.runs) + (self.runs - 1) * np.log(b))
        if self.mean:
            return np.asarray(math.log(self.mean) - self.mean * (1 - b))
        minus_log_gamma = -math.log(self.gamma)
        scale = math.log(minus_log_gamma)
        if self.eta > _NEAR_ZERO:
            scale = self.eta * minus_log_gamma + math.log(-math.expm1(-self.eta * minus_log_gamma) / self.eta)
        return np.asarray(math.log1p(-self.gamma) - scale - (self.eta + 1) * np.log(self._rest(1 - b)))

    def slope(self, b: Array) -> Array:
        """Return f'(b)."""
        return np.asarray(np.exp(self.log_slope(b)))

    def curvature(self, b: Array) -> Array:
        """Return the third derivative of f, the curvature of its slope, which rises."""
        if self.runs:
            third = float(self.runs * (self.runs - 1) * (self.runs - 2))
            return np.asarray(third * b ** (self.runs - 3) if third else 0 * b)
        if self.mean:
            return self.mean**2 * self.slope(b)
        share = (1 - self.gamma) / self._rest(1 - b)
        return (self.eta + 1) * (self.eta + 2) * share**2 * self.slope(b)

    def places(self, apart: float) -> Array:
        """Return what is above places between which ln f' falls by so much."""
        best, worst = self.log_slope(np.array([1.0, 1e-300])).tolist()
        falls = np.arange(0.0, min(_DEEP, best - worst), apart)
        if self.runs:
            return -np.expm1(-falls / (self.runs - 1))
        if self.mean:
            return falls / self.mean
        return np.clip(self.gamma * np.expm1(falls / (self.eta + 1)) / (1 - self.gamma), 0.0, 1.0)

    def among(self, above: Array, below: Array, mass: Array) -> Array:
        """Return f(1 - above) - f(1 - above - mass), without a difference: that the best score is among so much."""
        if self.runs:
            share = np.minimum(1.0, mass / np.maximum(below, 1e-300))
            with np.errstate(divide="ignore"):
                logs = np.log1p(-share)
            return np.asarray(np.where(below > 0, -(below**self.runs) * np.expm1(self.runs * logs), 0.0))
        if self.mean:
            return np.asarray(-np.exp(-self.mean * above) * np.expm1(-self.mean * mass))
        complement = self._rest(above)
        logs, minus_log_gamma = np.log1p((1 - self.gamma) * mass / complement), -math.log(self.gamma)
        if self.eta <= _NEAR_ZERO:
            return np.asarray(logs / minus_log_gamma)
        outer = np.exp(-self.eta * (np.log(complement) + minus_log_gamma)) / math.expm1(-self.eta * minus_log_gamma)
        return np.asarray(outer * np.expm1(-self.eta * logs))

    def _rest(self, above: Array) -> Array:
        """Return gamma + (1 - gamma) above."""
        return np.asarray(self.gamma + (1 - self.gamma) * above)
