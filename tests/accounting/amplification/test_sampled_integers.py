"""Samples of integer noise: the law is symmetric, whatever rounding makes of it, so that both ends meet the truth."""

import math
from typing import Any

import pytest

from dpaudit import Claim, Release, Repeat, Subsample, certify, verify
from dpaudit.model.losses import DiscreteLoss
from mechanisms import DiscreteGaussian, DiscreteLaplace, Finite, TruncatedDiscreteGaussian
from tests.accounting.laws import delta_of, law_of, moved, together

RATE = 0.1
REACH = 400
NOISES: list[Any] = [
    DiscreteLaplace(scale=3.0, l1_sensitivity=1, neighbours="add_remove"),
    DiscreteLaplace(scale=3.0, l1_sensitivity=2, neighbours="add_remove"),
    DiscreteGaussian(stddev=3.0, l2_sensitivity=1, neighbours="add_remove"),
    TruncatedDiscreteGaussian(stddev=3.0, cut=8.0, l2_sensitivity=1, neighbours="add_remove"),
]


def truth(noise: Any, epsilon: float) -> float:
    """Return delta of two sampled releases, the larger of both orders, summed over all pairs of outputs."""
    still, away = (law_of(noise, answer, REACH) for answer in (0, moved(noise)))
    return delta_of(together([(1 - RATE) * still + RATE * away] * 2), together([still] * 2), epsilon)


@pytest.mark.parametrize("noise", NOISES, ids=lambda noise: f"{noise.name}")
@pytest.mark.parametrize("epsilon", [0.05, 0.3])
def test_two_samples_are_bracketed_and_verified(noise: Any, epsilon: float) -> None:
    """The sum over all pairs of outputs lies in the bracket, which is narrow; the independent checker agrees."""
    node = Repeat(part=Subsample(part=Release(label="count", mechanism=noise), rate=RATE), times=2)
    certificate = certify(node, Claim(epsilon=epsilon, delta=0.01, neighbours="add_remove"))
    bracket, exact = certificate.tight.delta, truth(noise, epsilon)
    assert bracket.lower <= exact * (1 + 1e-12) + 1e-15
    assert exact * (1 - 1e-12) <= bracket.upper + 1e-15
    assert bracket.upper - bracket.lower <= 1e-4 * exact + 1e-12
    assert verify(certificate.to_json()).accepted


def test_a_symmetric_law_is_its_own_reverse() -> None:
    """Twin: the same atoms without the word differ from their reverse in the last digits."""
    loss = DiscreteGaussian(stddev=3.0, l2_sensitivity=1, neighbours="add_remove").loss()
    assert loss.reversed() == loss
    plain = DiscreteLoss(
        atoms=loss.atoms, infinite_mass=loss.infinite_mass, reverse_infinite_mass=loss.reverse_infinite_mass
    )
    assert plain.reversed() != plain
    for (value, mass), (back, other) in zip(loss.atoms, plain.reversed().atoms, strict=True):
        assert value == back
        assert mass == pytest.approx(other, rel=1e-11)


def test_a_law_that_is_not_symmetric_cannot_be_called_so() -> None:
    """A loss without its negative, or unequal infinite masses, is refused."""
    with pytest.raises(ValueError, match="symmetric law"):
        DiscreteLoss(atoms=((0.0, 0.5), (math.log(2), 0.5)), reverse_infinite_mass=0.25, symmetric=True)


@pytest.mark.parametrize(("first", "even"), [((0.6, 0.3, 0.1), True), ((0.6, 0.2, 0.2), False)])
def test_a_table_of_two_laws_is_symmetric_where_a_swap_of_outcomes_swaps_them(
    first: tuple[float, ...], even: bool
) -> None:
    """The samples of a table are verified, whether it is symmetric or its two orders differ."""
    noise = Finite(first=first, second=first[::-1] if even else (0.2, 0.3, 0.5), neighbours="add_remove")
    assert noise.attained_loss().symmetric is even
    node = Repeat(part=Subsample(part=Release(label="code", mechanism=noise), rate=RATE), times=3)
    outcome = verify(certify(node, Claim(epsilon=2.0, delta=1e-5, neighbours="add_remove")).to_json())
    assert outcome.complaints == ()
    assert outcome.unconfirmed == ()
