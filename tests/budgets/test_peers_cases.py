"""Kinds that peers express and no other test counts out, with the number of a peer or of a search."""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import pytest

import dpaudit as dp
from dpaudit.model.bracket import Bracket
from dpaudit.model.claim import Neighbours
from dpaudit.model.losses import MixtureLoss
from dpaudit.model.mechanism import Array
from mechanisms import Gaussian


@dataclass(frozen=True, slots=True, kw_only=True)
class RandomMove:
    """A user's own mechanism: Gaussian noise on an answer that one record moves by one of several amounts at random."""

    name: ClassVar[str] = "random_move"
    stddev: float
    moves: tuple[float, ...]
    chances: tuple[float, ...]
    neighbours: Neighbours

    def loss(self) -> MixtureLoss:
        """Return the loss of the mixture against no move."""
        above = tuple((move / self.stddev, chance) for move, chance in zip(self.moves, self.chances, strict=True))
        return MixtureLoss(above=above, below=((0.0, 1.0),))

    def release(self, value: Array, rng: np.random.Generator) -> Array:
        """Return a noisy answer."""
        return np.asarray(value) + rng.normal(0.0, self.stddev, np.shape(value))

    def log_density(self, output: Array, value: Array) -> Array:
        """Return the log density of the noise alone."""
        distance = (np.asarray(output) - np.asarray(value)) / self.stddev
        return np.asarray(-distance * distance / 2 - math.log(self.stddev * math.sqrt(2 * math.pi)))

    def scaled(self, factor: float) -> "RandomMove":
        """Return the same with more noise."""
        return replace(self, stddev=self.stddev * factor)


def on_sample(mechanism: object, rate: float, times: int = 1, **scheme: object) -> dp.Declaration:
    """Return a mechanism on a sample, again and again."""
    part = dp.Subsample(part=dp.Release(label="sum", mechanism=mechanism), rate=rate, **scheme)  # type: ignore[arg-type]
    return dp.Repeat(part=part, times=times)


def normal(mu: float, neighbours: Neighbours = "add_remove") -> Gaussian:
    """Return Gaussian noise of a given mu."""
    return Gaussian(stddev=1 / mu, l2_sensitivity=1.0, neighbours=neighbours)


def epsilon(node: dp.Declaration, neighbours: Neighbours, delta: float) -> Bracket:
    """Return the smallest epsilon."""
    return dp.bracket_epsilon(dp.fold(node, neighbours), delta)


def delta(node: dp.Declaration, neighbours: Neighbours, at: float) -> Bracket:
    """Return delta at an epsilon."""
    return dp.bracket_delta(dp.fold(node, neighbours), at)


SKEWED = RandomMove(stddev=1.0, moves=(0.0, 1.0, 2.0), chances=(0.6, 0.3, 0.1), neighbours="add_remove")


def of_moves(at: float) -> float:
    """Return delta of the random moves by a search for the half line, in both orders."""
    outputs = np.linspace(-12, 14, 2_000_001)
    rows = zip(SKEWED.moves, SKEWED.chances, strict=True)
    density = sum(chance * np.exp(outputs * move - move * move / 2) for move, chance in rows)
    base = np.exp(-outputs * outputs / 2) / math.sqrt(2 * math.pi) * (outputs[1] - outputs[0])
    ratio = math.exp(at)
    sides = (np.maximum(density - ratio, 0) * base).sum(), (np.maximum(1 - ratio * density, 0) * base).sum()
    return float(max(sides))


KINDS: dict[str, tuple[Callable[[], Bracket], float]] = {
    "Poisson under replace-one": (lambda: epsilon(on_sample(normal(0.5), 0.1, 100), "replace_one", 1e-5), 4.36810),
    "mixture of Gaussians": (
        lambda: delta(dp.Release(label="sum", mechanism=SKEWED), "add_remove", 0.4),
        of_moves(0.4),
    ),
    "zero-out": (lambda: epsilon(on_sample(normal(1.0, "zero_out"), 0.01, 100), "zero_out", 1e-5), 0.7180357),
    "truncated Poisson": (
        lambda: epsilon(
            on_sample(normal(1.0), 0.05, 100, scheme="truncated_poisson", population=1000, batch_bound=70),
            "add_remove",
            1e-5,
        ),
        5.444527,
    ),
}
"""How each kind is asked for, and the number of a peer or of a search; to its last digit."""


@pytest.mark.parametrize("kind", KINDS)
def test_a_peers_case_is_expressed_and_its_number_is_not_below_the_truth(kind: str) -> None:
    """The upper end is near the number and not below it; where a pair is known the lower end is not above it."""
    ask, truth = KINDS[kind]
    found = ask()
    digit = 2e-5 if truth > 1 else 2e-6 * truth + 1e-9
    assert found.lower <= truth * (1 + 2e-5) + digit
    assert truth - digit - 2e-5 * truth <= found.upper <= truth * (1 + 3e-4) + digit


def test_a_wrong_number_would_be_seen() -> None:
    """The broken twin: a number 1 % off is outside of what the comparison accepts."""
    ask, truth = KINDS["mixture of Gaussians"]
    found = ask()
    assert not truth * 1.01 <= found.upper <= truth * 1.01 * (1 + 3e-4)
