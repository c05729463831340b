"""Discrete noise on a Poisson sample whose record is replaced: both sides meet the pair of opposite records."""

import math
from itertools import product
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from dpaudit import Claim, Release, Repeat, Subsample, bracket_delta, certify, fold, verify
from dpaudit.model.losses import DiscreteLoss, larger_order, opposed_loss
from mechanisms import DiscreteGaussian, DiscreteLaplace, Finite, TruncatedDiscreteGaussian
from tests.accounting.amplification.named_pairs import NAMED

REACH = 120
NOISES: list[Any] = [
    DiscreteLaplace(scale=2.0, l1_sensitivity=2, neighbours="add_remove"),
    DiscreteGaussian(stddev=2.0, l2_sensitivity=1, neighbours="add_remove"),
    TruncatedDiscreteGaussian(stddev=2.0, cut=8.0, l2_sensitivity=1, neighbours="add_remove"),
    TruncatedDiscreteGaussian(stddev=2.0, cut=1.0, l2_sensitivity=2, neighbours="add_remove"),
]
EPSILONS = (0.0, 0.05, 0.3, 1.0)


def moved(noise: Any) -> int:
    """How far a record moves the answer."""
    return int(getattr(noise, "l1_sensitivity", 0) or noise.l2_sensitivity)


def law(noise: Any, answer: int) -> NDArray[np.float64]:
    """The probabilities of all outputs for an answer, by the mechanism's own density."""
    return np.asarray(np.exp(noise.log_density(np.arange(-REACH, REACH + 1), np.asarray(answer))), np.float64)


def sampled(noise: Any, rate: float, answer: int) -> NDArray[np.float64]:
    """The same where a sample holds the record, which moves the answer from 0, with probability `rate`."""
    return np.asarray((1 - rate) * law(noise, 0) + rate * law(noise, answer), np.float64)


def delta(first: NDArray[np.float64], second: NDArray[np.float64], epsilon: float) -> float:
    """The sum of (P - e^epsilon Q)_+."""
    return math.fsum(np.maximum(first - math.exp(epsilon) * second, 0.0).ravel().tolist())


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
        exact, found = delta(twice[0], twice[1], epsilon), bracket_delta(form, epsilon)
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
        found = [delta(laws[a], laws[b], epsilon) for a, b in product(laws, repeat=2)]
        assert max(found) <= upper * (1 + 1e-12) + 1e-15
    assert delta(laws[reach], laws[-reach], 0.05) > delta(laws[reach], laws[0], 0.05) * 1.01


def test_no_mixture_of_other_answers_exceeds_the_upper_side() -> None:
    """Others that move the answer before the record is drawn: random mixtures over what they contribute."""
    noise, rate = NOISES[0], 0.3
    form = fold(tree(noise, rate), "replace_one")
    uppers = {epsilon: bracket_delta(form, epsilon).upper for epsilon in EPSILONS}
    rng = np.random.default_rng(5)
    for _ in range(40):
        weights = rng.dirichlet(np.ones(3))
        a, b = rng.integers(-2, 3, 2)
        first, second = (
            sum(
                w * ((1 - rate) * law(noise, c) + rate * law(noise, c + m))
                for w, c in zip(weights, (-1, 0, 2), strict=True)
            )
            for m in (int(a), int(b))
        )
        for epsilon, upper in uppers.items():
            assert delta(np.asarray(first), np.asarray(second), epsilon) <= upper + 1e-14


@pytest.mark.parametrize("noise", NOISES[:3], ids=lambda noise: noise.name)
@pytest.mark.parametrize("factor", [0.98, 1.3])
def test_the_checker_derives_both_sides_again(noise: Any, factor: float) -> None:
    """Refuted below the attained epsilon and certified above it, both accepted; another rate is not."""
    node = tree(noise, 0.25, 3)
    edge = certify(node, Claim(epsilon=1.0, delta=1e-3, neighbours="replace_one"), conditions=(NAMED,)).tight.epsilon
    assert edge.upper - edge.lower < 1e-5 * edge.upper
    claim = Claim(epsilon=round(edge.lower * factor, 4), delta=1e-3, neighbours="replace_one")
    certificate = certify(node, claim, conditions=(NAMED,))
    assert certificate.verdict == ("certified" if factor > 1 else "refuted")
    text = certificate.to_json()
    assert verify(text).accepted, verify(text)
    assert not verify(text.replace('"rate": 0.25', '"rate": 0.2')).accepted


@pytest.mark.parametrize(("first", "second"), [((0.6, 0.3, 0.1), (0.1, 0.3, 0.6)), ((0.6, 0.2, 0.2), (0.2, 0.3, 0.5))])
def test_a_table_of_two_laws_has_no_third_answer(first: tuple[float, ...], second: tuple[float, ...]) -> None:
    """Without the record one of both laws is drawn: four pairs, and no product of two moves."""
    rate = 0.3
    noise = Finite(first=first, second=second, neighbours="add_remove")
    laws = np.array([first, second])
    form = fold(tree(noise, rate), "replace_one", (NAMED,))
    for epsilon in EPSILONS:
        mixed = [(1 - rate) * laws[a] + rate * laws[1 - a] for a in (0, 1)]
        truth = max(delta(p, q, epsilon) for a in (0, 1) for p, q in ((mixed[a], laws[a]), (laws[a], mixed[a])))
        found = bracket_delta(form, epsilon)
        assert truth - 1e-12 <= found.upper <= truth + 1e-6
        assert found.lower <= truth + 1e-12
        assert found.lower >= truth * (1 - 1e-6) - 1e-9 or not noise.attained_loss().symmetric


def test_the_larger_order_is_the_larger_of_both_curves() -> None:
    """Random tables, outcomes of one law alone among them: the curve is the maximum at every epsilon."""
    rng = np.random.default_rng(7)
    for _ in range(40):
        counts = rng.integers(0, 9, (2, int(rng.integers(2, 7)))) + 1 * (rng.random() < 0.5)
        counts[:, 0] += 1
        laws = [tuple(map(float, row)) for row in counts]
        loss = Finite(first=laws[0], second=laws[1], neighbours="replace_one").loss()
        whole = larger_order(loss)
        for epsilon in rng.uniform(-2, 2, 10):
            curves = [order.hockey_stick(float(epsilon)) for order in (loss, loss.reversed())]
            assert whole.hockey_stick(float(epsilon)) == pytest.approx(max(curves), abs=1e-12)


def test_a_pair_in_one_direction_alone_is_caught() -> None:
    """The broken twin: the record against none, instead of its opposite, lies below the exact sum."""
    noise, rate = DiscreteGaussian(stddev=4.0, l2_sensitivity=1, neighbours="add_remove"), 0.3
    masses = law(noise, 0)
    right = opposed_loss(masses, np.log(law(noise, 1)) - np.log(masses), rate)
    broken = DiscreteLoss(
        atoms=tuple(
            (math.log(p / q), p)
            for p, q in zip(sampled(noise, rate, 1).tolist(), masses.tolist(), strict=True)
            if p > 0 and q > 0
        )
    )
    exact = delta(sampled(noise, rate, 1), sampled(noise, rate, -1), 0.05)
    assert right.hockey_stick(0.05) == pytest.approx(exact, rel=1e-12)
    assert broken.hockey_stick(0.05) < 0.9 * exact
