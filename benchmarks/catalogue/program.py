"""A private program in exchangeable pieces, so that a bug is the exchange of one piece.

    prepare (clip, count, look up) -> query -> noise -> finish (choose, decode, round)

The function that is attacked and the function that is replayed on a tape consist of the same pieces.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np

from audits.checks.paired_replay import Tape
from dpaudit import Claim
from dpaudit.model.claim import Neighbours
from dpaudit.model.losses import ApproximateLoss
from dpaudit.model.mechanism import Array

Prepare = Callable[[Array], Array]
"""prepare(records) -> records, one a row, as the query may see them."""
Draw = Callable[[Array, int, np.random.Generator], Array]
"""draw(scales, n_runs, rng) -> noise. Shape: (n_runs, answers)."""


@dataclass(frozen=True, kw_only=True)
class ClaimedLaplace:
    """Noise on several answers that claims to be Laplace noise of these scales, whatever `draw` draws."""

    scales: tuple[float, ...]
    neighbours: Neighbours
    draw: Draw

    def release(self, value: Array, rng: np.random.Generator) -> Array:
        """Return one noisy answer."""
        return value + self.draw(np.array(self.scales), 1, rng)[0]

    def log_density(self, output: Array, value: Array) -> Array:
        """Return the log density of ideal Laplace noise, summed over the last axis."""
        widths = np.array(self.scales)
        return -(np.abs(output - value) / widths + np.log(2 * widths)).sum(axis=-1)

    def scaled(self, factor: float) -> Self:
        """Return the same query with `factor` times the noise."""
        return replace(self, scales=tuple(factor * scale for scale in self.scales))


@dataclass(frozen=True, kw_only=True)
class SumNoise(ClaimedLaplace):
    """Noise on answers of which one record moves the sum of distances by at most `l1_sensitivity`."""

    name: ClassVar[str] = "proving_sum_noise"
    l1_sensitivity: float

    def loss(self) -> ApproximateLoss:
        """Return the loss that the scales stand for."""
        return ApproximateLoss(epsilon=self.l1_sensitivity / min(self.scales))


@dataclass(frozen=True, kw_only=True)
class EachNoise(ClaimedLaplace):
    """Noise on answers of which one record moves each by at most `linf_sensitivity`; only a choice is published."""

    name: ClassVar[str] = "proving_each_noise"
    linf_sensitivity: float

    def loss(self) -> ApproximateLoss:
        """Return the loss of the choice."""
        return ApproximateLoss(epsilon=2 * self.linf_sensitivity / min(self.scales))


@dataclass(frozen=True, slots=True, kw_only=True)
class Program:
    """A private program. `weights` times sensitivity over epsilon are the scales of the noise, one an answer.

    `proved` is the sensitivity that the query has, `used` the one that its author calibrated for, by default the same.
    `pairs` are neighbours worth trying, of which the first `attacked` are attacked and all are replayed; `choice` says
    that only a function of the noisy answers is published whose proof needs each answer's own sensitivity.
    """

    name: str
    epsilon: float
    relation: Neighbours
    pairs: tuple[tuple[Array, Array], ...]
    prepare: Prepare
    query: Callable[[Array], Array]
    weights: tuple[float, ...]
    proved: float
    used: float
    draw: Draw
    finish: Callable[[Array], Array]
    choice: bool = False
    attacked: int = 5
    beside: Callable[[Array], float] | None = None

    @property
    def claim(self) -> Claim:
        """What the program promises."""
        return Claim(epsilon=self.epsilon, neighbours=self.relation)

    def scales(self) -> Array:
        """Return the scale of the noise of every answer."""
        return np.array(self.weights) * self.used / self.epsilon

    def run(self, data: Any, rng: np.random.Generator, n_runs: int) -> Array:
        """Return the outputs of `n_runs` runs."""
        answers = self.query(self.prepare(np.asarray(data)))
        shown = self.finish(answers + self.draw(self.scales(), n_runs, rng))
        return self._with_clear_column(shown, data)

    def replay(self, data: Any, tape: Tape, rng: np.random.Generator) -> Array:
        """Return one output, its noise drawn through `tape`; `rng` is not used."""
        answers = self.query(self.prepare(np.asarray(data)))
        scales = tuple(float(scale) for scale in self.scales())
        noise = (
            EachNoise(scales=scales, linf_sensitivity=self.used, neighbours=self.relation, draw=self.draw)
            if self.choice
            else SumNoise(scales=scales, l1_sensitivity=self.used, neighbours=self.relation, draw=self.draw)
        )
        return self._with_clear_column(self.finish(np.asarray(tape.release("answers", noise, answers))[None]), data)

    def _with_clear_column(self, shown: Array, data: Any) -> Array:
        """Return the outputs, with a column for the value that is published without noise, if there is one."""
        if self.beside is None:
            return shown
        column = np.full((len(shown), 1), self.beside(np.asarray(data)))
        return np.concatenate([shown.reshape(len(shown), -1), column], axis=1)


def laplace(scales: Array, n_runs: int, rng: np.random.Generator) -> Array:
    """Return Laplace noise."""
    return rng.laplace(size=(n_runs, len(scales))) * scales


def shown_whole(noisy: Array) -> Array:
    """Return everything."""
    return noisy
