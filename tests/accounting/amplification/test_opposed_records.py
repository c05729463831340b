"""Discrete noise on a Poisson sample whose record is replaced: both sides meet the pair of opposite records."""

import math
from itertools import product
from typing import Any

import numpy as np
import pytest

from dpaudit import Release, Repeat, Subsample, bracket_delta, fold
from dpaudit.model.losses import DiscreteLoss, opposed_loss
from mechanisms import DiscreteGaussian, DiscreteLaplace, TruncatedDiscreteGaussian
from tests.accounting.amplification.named_pairs import NAMED
from tests.accounting.laws import Law, law_of, moved, one_way

REACH = 120
NOISES: list[Any] = [
    DiscreteLaplace(scale=2.0, l1_sensitivity=2, neighbours="add_remove"),
    DiscreteGaussian(stddev=2.0, l2_sensitivity=1, neighbours="add_remove"),
    TruncatedDiscreteGaussian(stddev=2.0, cut=8.0, l2_sensitivity=1, neighbours="add_remove"),
    TruncatedDiscreteGaussian(stddev=2.0, cut=1.0, l2_sensitivity=2, neighbours="add_remove"),
]
EPSILONS = (0.0, 0.05, 0.3, 1.0)


def sampled(noise: Any, rate: float, answer: int) -> Law:
    """The same where a sample holds the record, which moves the answer from 0, with probability `rate`."""
    return np.asarray((1 - rate) * law_of(noise, 0, REACH) + rate * law_of(noise, answer, REACH), np.float64)


def tree(noise: Any, rate: float, times: int = 1) -> Repeat:
    """Samples of one release."""
    return Repeat(part=Subsample(part=Release(label="count", mechanism=noise), rate=rate), times=times)


@pytest.mark.parametrize("rate", [0.1, 0.8, 1.0])
@pytest.mark.parametrize("noise", NOISES, ids=lambda noise: f"{noise.name} {moved(noise)}")
def test_two_samples_meet_the_sum_over_all_pairs_of_outputs(noise: Any, rate: float) -> None:
    """Opposite records, two steps: the bracket holds the exact sum and is narrow."""
    laws = [sampled(noise, rate, side * moved(noise)) for side in (1, -1)]
    twice = [np.outer(one, one) for one in laws]
    form = fold(tree(noise, rate, 2), "replace_one", (NAMED,))
    for epsilon in EPSILONS:
        exact, found = one_way(twice[0], twice[1], epsilon), bracket_delta(form, epsilon)
        assert found.lower <= exact * (1 + 1e-12) + 1e-15
        assert exact * (1 - 1e-12) <= found.upper + 1e-15
        assert found.upper - found.lower <= 2e-4 * exact + 1e-12


@pytest.mark.parametrize("noise", NOISES, ids=lambda noise: f"{noise.name} {moved(noise)}")
def test_no_other_records_exceed_the_opposite_ones(noise: Any) -> None:
    """All pairs of moves up to the sensitivity, in both orders; the twin, one record against none, is exceeded."""
    rate, reach = 0.3, moved(noise)
    uppers = {epsilon: bracket_delta(fold(tree(noise, rate), "replace_one"), epsilon).upper for epsilon in EPSILONS}
    laws = {answer: sampled(noise, rate, answer) for answer in range(-reach, reach + 1)}
    for epsilon, upper in uppers.items():
        found = [one_way(laws[a], laws[b], epsilon) for a, b in product(laws, repeat=2)]
        assert max(found) <= upper * (1 + 1e-12) + 1e-15
    assert one_way(laws[reach], laws[-reach], 0.05) > one_way(laws[reach], laws[0], 0.05) * 1.01


def test_a_pair_in_one_direction_alone_is_caught() -> None:
    """The broken twin: the record against none, instead of its opposite, lies below the exact sum."""
    noise, rate = DiscreteGaussian(stddev=4.0, l2_sensitivity=1, neighbours="add_remove"), 0.3
    masses = law_of(noise, 0, REACH)
    right = opposed_loss(masses, np.log(law_of(noise, 1, REACH)) - np.log(masses), rate)
    broken = DiscreteLoss(
        atoms=tuple(
            (math.log(p / q), p)
            for p, q in zip(sampled(noise, rate, 1).tolist(), masses.tolist(), strict=True)
            if p > 0 and q > 0
        )
    )
    exact = one_way(sampled(noise, rate, 1), sampled(noise, rate, -1), 0.05)
    assert right.hockey_stick(0.05) == pytest.approx(exact, rel=1e-12)
    assert broken.hockey_stick(0.05) < 0.9 * exact
