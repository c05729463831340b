"""One case of each kind that peers express, through the public API, with the peer's number or an enumerated truth."""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import ClassVar

import numpy as np
import pytest

import dpaudit as dp
from dpaudit.model.bracket import Bracket
from dpaudit.model.claim import Neighbours
from dpaudit.model.losses import MixtureLoss
from dpaudit.model.mechanism import Array
from mechanisms import DiscreteGaussian, DiscreteLaplace, Finite, Gaussian, Laplace, TruncatedDiscreteGaussian


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


def enumerated(first: dict[int, Fraction], second: dict[int, Fraction], at: float) -> float:
    """Return the larger delta of both orders of two laws on whole numbers."""
    ratio = math.exp(at)
    gone = Fraction(0)
    sides = [(first, second), (second, first)]
    return max(math.fsum(max(0.0, float(p.get(k, gone)) - ratio * float(q.get(k, gone))) for k in p) for p, q in sides)


def lattice(log_weight: Callable[[int], float], reach: int) -> dict[int, Fraction]:
    """Return a law on whole numbers, proportional to weights."""
    weights = {k: Fraction(math.exp(log_weight(k))) for k in range(-reach, reach + 1)}
    whole = sum(weights.values())
    return {k: weight / whole for k, weight in weights.items()}


def moved(law: dict[int, Fraction], by: int) -> dict[int, Fraction]:
    """Return the law of a moved answer."""
    return {k + by: p for k, p in law.items()}


def mixed(law: dict[int, Fraction], by: int, rate: float) -> dict[int, Fraction]:
    """Return the law where the record is in the sample with probability `rate`."""
    other, share = moved(law, by), Fraction(str(rate))
    keys = {*law, *other}
    return {k: (1 - share) * law.get(k, Fraction(0)) + share * other.get(k, Fraction(0)) for k in keys}


GAUSS = lattice(lambda k: -k * k / (2 * 2.0**2), 60)
GEOMETRIC = lattice(lambda k: -abs(k) / 2.0, 200)
CUT = lattice(lambda k: -k * k / (2 * 2.0**2), 8)
INTEGER = DiscreteGaussian(stddev=2.0, l2_sensitivity=1, neighbours="add_remove")
WHOLE = DiscreteLaplace(scale=2.0, l1_sensitivity=1, neighbours="add_remove")
CLIPPED = TruncatedDiscreteGaussian(stddev=2.0, cut=4.0, l2_sensitivity=1, neighbours="add_remove")
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
    "truncated discrete Gaussian": (
        lambda: delta(dp.Release(label="count", mechanism=CLIPPED), "add_remove", 0.5),
        enumerated(moved(CUT, 1), CUT, 0.5),
    ),
    "mixture of Gaussians": (
        lambda: delta(dp.Release(label="sum", mechanism=SKEWED), "add_remove", 0.4),
        of_moves(0.4),
    ),
    "sampled discrete Gaussian": (
        lambda: delta(on_sample(INTEGER, 0.2), "add_remove", 0.05),
        enumerated(mixed(GAUSS, 1, 0.2), GAUSS, 0.05),
    ),
    "sampled Laplace": (
        lambda: epsilon(
            on_sample(Laplace(scale=1.0, l1_sensitivity=1.0, neighbours="add_remove"), 0.1), "add_remove", 1e-5
        ),
        math.log1p(0.1 * math.expm1(1 + 2 * math.log1p(-1e-4))),
    ),
    "sampled discrete Laplace": (
        lambda: delta(on_sample(WHOLE, 0.2), "add_remove", 0.05),
        enumerated(mixed(GEOMETRIC, 1, 0.2), GEOMETRIC, 0.05),
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
"""How each kind is asked for, and the number of a peer or of an enumeration; to its last digit."""


@pytest.mark.parametrize("kind", KINDS)
def test_a_peers_case_is_expressed_and_its_number_is_not_below_the_truth(kind: str) -> None:
    """The upper end is near the number and not below it; where a pair is known the lower end is not above it."""
    ask, truth = KINDS[kind]
    found = ask()
    digit = 2e-5 if truth > 1 else 2e-6 * truth + 1e-9
    assert found.lower <= truth * (1 + 2e-5) + digit
    assert truth - digit - 2e-5 * truth <= found.upper <= truth * (1 + 3e-4) + digit


def test_a_renyi_curve_has_the_closed_form_of_a_sample() -> None:
    """Order 3 of one sampled Gaussian step: Mironov, Talwar and Zhang (2019), Section 3.3."""
    certificate = dp.certify(on_sample(normal(1.0), 0.1), dp.Claim(epsilon=2.0, delta=1e-3, neighbours="add_remove"))
    rows = {row[0]: row[1:] for row in certificate.curve("renyi").rows}
    low, high = rows[3.0]
    assert low <= 0.0317123003 * (1 + 1e-8)
    assert high == pytest.approx(0.0317123003, rel=1e-7)


def test_an_infinite_epsilon_is_expressed_as_what_is_stated_and_as_a_claim() -> None:
    """A part may promise nothing, and a release without noise loses everything; a claim of that is always kept."""
    node = dp.Stated(epsilon=math.inf, source="a vendor")
    assert epsilon(node, "add_remove", 1e-5).upper == math.inf
    bare = dp.Release(label="count", mechanism=Finite(first=(1.0, 0.0), second=(0.0, 1.0), neighbours="add_remove"))
    assert epsilon(bare, "add_remove", 1e-5).lower == math.inf
    claim = dp.Claim(epsilon=math.inf, neighbours="add_remove")
    assert [dp.certify(part, claim).verdict for part in (node, bare)] == ["certified"] * 2


def test_a_wrong_number_would_be_seen() -> None:
    """The broken twin: a number 1 % off is outside of what the comparison accepts."""
    ask, truth = KINDS["sampled Laplace"]
    found = ask()
    assert not truth * 1.01 <= found.upper <= truth * 1.01 * (1 + 3e-4)
