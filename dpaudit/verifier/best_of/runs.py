"""The law of a number of runs, by the slope of its generating function f at places among scores."""

import math

import numpy as np

from dpaudit.verifier.refusals import Table, require
from dpaudit.verifier.shifts import Array

PARAMETERS = ("law", "runs", "gamma", "eta", "mean")
_NEAR_ZERO = 1e-12  # an eta up to it counts as 0
_PLACES = 30_000
_NEEDS = {"fixed": {"runs"}, "poisson": {"mean"}, "negative_binomial": {"gamma", "eta"}}
Places = tuple[Array, Array]
"""What is above each place among scores, and what is below: both add up to 1, and neither is found from the other."""


class Runs:
    """The law of the number of runs."""

    def __init__(self, node: Table) -> None:
        given = {key for key in PARAMETERS[1:] if key in node}
        require(given == _NEEDS.get(node["law"], {"gamma"}), "the parameters are not those of the law of runs")
        self.runs, self.mean = int(node.get("runs", 0)), float(node.get("mean", 0.0))
        self.gamma = float(node.get("gamma", 0.0))
        self.eta = {"geometric": 1.0, "logarithmic": 0.0}.get(node["law"], float(node.get("eta", 0.0)))
        require(self.runs != 1 and (self.runs or self.mean > 0 or self.gamma > 0), "a law of runs has no run to choose")

    def log_slope(self, at: Places) -> Array:
        """Return ln f'(1 - a)."""
        if self.runs:
            return np.asarray(math.log(self.runs) + (self.runs - 1) * np.log(np.maximum(at[1], 1e-300)))
        if self.mean:
            return np.asarray(math.log(self.mean) - self.mean * at[0])
        whole = -math.log(self.gamma)
        scale = math.log(whole)
        if self.eta > _NEAR_ZERO:
            scale = self.eta * whole + math.log(-math.expm1(-self.eta * whole) / self.eta)
        rest = np.log(self.gamma + (1 - self.gamma) * at[0])
        return np.asarray(math.log1p(-self.gamma) - scale - (self.eta + 1) * rest)

    def places(self) -> Places:
        """Return places between which the slope falls by equal shares."""
        if self.runs:
            under = np.append(np.geomspace(1.0, 1e-18, _PLACES), 0.0)
            return 1 - under, under
        over = np.linspace(0.0, 1.0, _PLACES)
        if self.gamma:
            over = np.clip((self.gamma ** (1 - over) - self.gamma) / (1 - self.gamma), 0.0, 1.0)
        return over, 1 - over
