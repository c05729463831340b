"""Classes of near sizes: what stands for them lies below and above the truth, by other means, and narrowly."""

import math
from collections.abc import Callable
from itertools import product
from math import comb
from typing import TypeAlias

import numpy as np
import pytest
from numpy.typing import NDArray

from dpaudit.engines import BY_EFFORT, TILTED
from dpaudit.engines.tilted.classes import Class, few_kinds
from dpaudit.model.bracket import Bracket
from dpaudit.model.losses import (
    ApproximateLoss,
    AverageLoss,
    Composition,
    GaussianLoss,
    LaplaceLoss,
    SampledGaussianLoss,
    SimpleLoss,
)
from tests.accounting import oracle
from tests.narrowing import as_a

Floats: TypeAlias = NDArray[np.float64]
KINDS: dict[str, Callable[[float], SimpleLoss]] = {
    "laplace": lambda size: LaplaceLoss(shift=size),
    "response": lambda size: ApproximateLoss(epsilon=size, delta=1e-3),
}
SIZES = {
    "near": (0.5, 0.52, 0.55, 0.56, 0.6),
    "far": (0.01, 0.1, 0.4, 1.0, 2.0),
    "large": (2.0, 2.5, 3.0, 6.0),
    "one apart": (0.3, 0.3000001),
    "tiny": (1e-100, 2e-100, 3e-100),
}
EPSILONS = np.linspace(0.0, 12.0, 241)


def classed(kind: str, sizes: tuple[float, ...], times: int = 1) -> Class:
    """Return a class of sizes that occur equally often."""
    losses = [KINDS[kind](size) for size in sizes]
    counts = np.full(len(sizes), float(times))
    return Class(first=losses[0], last=losses[-1], sizes=np.array(sizes), times=counts, events=times * len(sizes))


def curve(losses: list[SimpleLoss]) -> Floats:
    """Return delta of responses together at all epsilons, outcome by outcome."""
    values, masses = np.zeros(1), np.ones(1)
    for loss in losses:
        size = as_a(ApproximateLoss, loss).epsilon
        odds = 1 / (1 + math.exp(-size))
        values = np.add.outer(values, [size, -size]).ravel()
        masses = np.multiply.outer(masses, [odds, 1 - odds]).ravel()
    return np.array([float(masses @ np.maximum(0.0, -np.expm1(epsilon - values))) for epsilon in EPSILONS])


@pytest.mark.parametrize("sizes", ["near", "far", "large"])
def test_copies_of_one_response_lie_below_the_class_and_coins_above_it(sizes: str) -> None:
    """All outcomes counted, at every epsilon: responses have two outcomes, so that the counts are exact."""
    members = classed("response", SIZES[sizes])
    truth = curve([KINDS["response"](size) for size in SIZES[sizes]])
    (below, _), (above, _) = members.below(), members.above()
    assert (curve([below] * len(SIZES[sizes])) <= truth + 1e-15).all()
    assert (_coined(above, len(SIZES[sizes])) >= truth - 1e-15).all()


def _coined(loss: SimpleLoss, number: int) -> Floats:
    """Return delta of copies of a coin between two responses: the average over how many fell on the larger one."""
    if not isinstance(loss, AverageLoss):
        return curve([loss] * number)
    ((_, low), (chance, high)) = loss.options
    return sum(
        (
            comb(number, k) * chance**k * (1 - chance) ** (number - k) * curve([high] * k + [low] * (number - k))
            for k in range(number + 1)
        ),
        start=np.zeros(len(EPSILONS)),
    )


@pytest.mark.parametrize(("kind", "sizes"), list(product(KINDS, SIZES)))
def test_a_coin_dominates_each_member_and_a_shown_outcome_is_dominated(kind: str, sizes: str) -> None:
    """One member beside itself: the same size twice is itself; the larger size of the coin is no smaller than any."""
    members = classed(kind, SIZES[sizes])
    (below, less), (above, more) = members.below(), members.above()
    square = math.sqrt(float(np.mean(np.square(SIZES[sizes]))))
    assert SIZES[sizes][0] * (1 - 1e-11) <= less <= square * (1 + 1e-12)
    assert square * (1 - 1e-12) <= more <= SIZES[sizes][-1]
    assert above.supremum >= SIZES[sizes][-1]
    assert below.infinite_mass == pytest.approx(above.infinite_mass)


def test_the_mean_square_in_place_of_the_geometric_means_is_caught() -> None:
    """The twins: copies of the root of the mean square are neither below responses of unlike sizes nor above them."""
    sizes = SIZES["far"]
    truth = curve([KINDS["response"](size) for size in sizes])
    mean = curve([KINDS["response"](math.sqrt(float(np.mean(np.square(sizes)))))] * len(sizes))
    assert (mean > truth + 1e-6).any()
    assert (mean < truth - 1e-6).any()


@pytest.mark.parametrize("sizes", ["near", "far"])
def test_one_laplace_loss_lies_below_the_class(sizes: str) -> None:
    """By the contour integral, beside Gaussian noise, over deltas from a half to tiny ones."""
    beside = GaussianLoss(mu=1.0)
    members = Composition.of(beside, *(LaplaceLoss(shift=size) for size in SIZES[sizes]))
    below, _ = classed("laplace", SIZES[sizes]).below()
    copies = Composition.of(beside) + Composition.of(as_a(LaplaceLoss, below)) * len(SIZES[sizes])
    for epsilon in (0.01, 2.0, 9.0):
        assert oracle.true_delta(copies, epsilon, 20) <= oracle.true_delta(members, epsilon, 20) * (1 + 1e-12)


@pytest.mark.parametrize("sizes", ["near"])
def test_coins_between_two_laplace_losses_lie_above_the_class(sizes: str) -> None:
    """By the contour integral, averaged over how many coins fell on the larger size."""
    beside, number = GaussianLoss(mu=1.0), len(SIZES[sizes])
    members = Composition.of(beside, *(LaplaceLoss(shift=size) for size in SIZES[sizes]))
    above, _ = classed("laplace", SIZES[sizes]).above()
    ((_, low), (chance, high)) = as_a(AverageLoss, above).options
    for epsilon in (0.01, 6.0):
        total = 0.0
        for k in range(number + 1):
            held = Composition.of(beside) + Composition.of(low) * (number - k) + Composition.of(high) * k
            weight = comb(number, k) * chance**k * (1 - chance) ** (number - k)
            total += weight * float(oracle.true_delta(held, epsilon, 20))
        assert total >= float(oracle.true_delta(members, epsilon, 20)) * (1 - 1e-12)


def _width(found: Bracket) -> float:
    """Return the relative width."""
    return (found.upper - found.lower) / found.upper


def test_every_member_is_counted_once_on_both_sides() -> None:
    """Of all families; Gaussian losses become one, and sampled ones keep their smallest and largest of each class."""
    sizes = [float(size) for size in np.geomspace(0.001, 0.01, 400)]
    losses: list[SimpleLoss] = [LaplaceLoss(shift=size) for size in sizes]
    losses += [ApproximateLoss(epsilon=size) for size in sizes] + [GaussianLoss(mu=size) for size in sizes]
    losses += [SampledGaussianLoss(mu=200 * size, rate=0.01) for size in sizes]
    for side in few_kinds(Composition(parts=tuple((loss, 2) for loss in losses)), 1 << 19):
        counts = {
            family: sum(times for loss, times in side if _family(loss) is family)
            for family in (LaplaceLoss, ApproximateLoss, SampledGaussianLoss, GaussianLoss)
        }
        assert counts == {LaplaceLoss: 800, ApproximateLoss: 800, SampledGaussianLoss: 800, GaussianLoss: 1}
        assert len(side) < 400


def _family(loss: SimpleLoss) -> type:
    return type(loss.options[0][1]) if isinstance(loss, AverageLoss) else type(loss)


@pytest.mark.parametrize(("number", "width"), [(300, 5e-5), (10_000, 1e-3)])
def test_distinct_laplace_losses_are_bracketed_narrowly(number: int, width: float) -> None:
    """Before, the smallest and the largest of each class left ten times as much; every effort agrees."""
    whole = Composition(parts=tuple((LaplaceLoss(shift=1 / (1000.0 + i)), 1) for i in range(number)))
    found = TILTED.epsilon(whole, 1e-6)
    assert _width(found) < width
    quick = TILTED.epsilon(whole, 1e-6, BY_EFFORT["quick"])
    assert quick.lower <= found.upper
    assert quick.upper >= found.lower


def test_large_sizes_and_very_many_copies_count_as_the_ends_of_their_class() -> None:
    """Where exponentials or the rounding of a coin's masses would say more than is known."""
    large = classed("laplace", (200.0, 400.0))
    assert large.above()[0] == LaplaceLoss(shift=400.0)
    assert classed("laplace", (0.1, 0.2), 10**7).above()[0] == LaplaceLoss(shift=0.2)
    assert 200.0 * (1 - 1e-11) <= large.below()[1] <= 400.0
