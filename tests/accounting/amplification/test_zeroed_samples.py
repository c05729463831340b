"""A record of a sample of fixed size against its zero: enumerated populations, both sides and both orders."""

import math

import pytest

from dpaudit import Claim, Release, Repeat, Subsample, bracket_epsilon, certify, fold, verify
from dpaudit.accounting.zeroed import zeroed_above, zeroed_attained
from dpaudit.engines import ENGINES, QUICK
from dpaudit.model.losses import Composition
from mechanisms import Gaussian, Laplace
from tests.accounting.amplification.named_pairs import NAMED

MU, RATE = 0.5, 0.4


def sample(mu: float, rate: float) -> Subsample:
    """A noisy sum of a uniform set, whose records move it by at most mu against their zeros."""
    noise = Gaussian(stddev=1 / mu, l2_sensitivity=1.0, neighbours="zero_out")
    return Subsample(part=Release(label="sum", mechanism=noise), rate=rate, scheme="without_replacement")


def test_many_rounds_have_their_known_epsilon_in_both_orders() -> None:
    """100 rounds at 1e-5: 4.30469 and 2.84208 from above by order; all others opposite attain 4.1022."""
    found = bracket_epsilon(fold(Repeat(part=sample(0.5, 0.1), times=100), "zero_out", (NAMED,)), 1e-5)
    assert 4.30469 - 1e-5 <= found.upper <= 4.30469 * (1 + 2e-5)
    assert found.lower == pytest.approx(4.1022, abs=2e-4)
    back = Composition.of(zeroed_above(0.5, 0.1).reversed()) * 100
    other = min(engine.epsilon(back, 1e-5, QUICK).upper for engine in ENGINES if engine.covers(back))
    assert 2.84208 - 1e-5 <= other <= 2.84208 * 1.005


@pytest.mark.parametrize("epsilon", [0.5, 4.2, 4.5])
def test_the_checker_derives_both_sides_again(epsilon: float) -> None:
    """Refuted and open claims are accepted; with another rate the certificate is not."""
    claim = Claim(epsilon=epsilon, delta=1e-5, neighbours="zero_out")
    text = certify(Repeat(part=sample(0.5, 0.1), times=100), claim, conditions=(NAMED,)).to_json()
    assert verify(text).accepted, verify(text)
    assert not verify(text.replace('"rate": 0.1', '"rate": 0.05')).accepted


def test_of_other_noise_a_record_among_its_like_is_attained() -> None:
    """Laplace noise: by definition all others are copies of the record, and the upper side lets them be opposite."""
    noise = Laplace(scale=2.0, l1_sensitivity=1.0, neighbours="zero_out")
    part = Release(label="count", mechanism=noise)
    tree = Subsample(part=part, rate=0.1, scheme="without_replacement")
    certificate = certify(tree, Claim(epsilon=0.01, neighbours="zero_out"))
    assert certificate.verdict == "refuted"
    assert certificate.tight.epsilon.lower == pytest.approx(math.log1p(0.1 * math.expm1(0.5)), rel=1e-9)
    assert certificate.tight.epsilon.upper == pytest.approx(math.log1p(0.1 * math.expm1(1.0)), rel=1e-9)
    assert verify(certificate.to_json()).accepted


@pytest.mark.parametrize("mu", [0.5, 8.0, 16.0])
def test_what_a_zeroed_record_attains_is_a_law_for_far_moves_too(mu: float) -> None:
    """Far out between two shifts a tail of the mixture does not change by a float; its cells do not vanish there."""
    low, high = zeroed_attained(mu, 2 / 3), zeroed_above(mu, 2 / 3)
    assert math.fsum(p for _, p in low.atoms) == pytest.approx(1.0, abs=1e-12)
    for below, above in ((low, high), (low.reversed(), high.reversed())):
        for at in (0.0, 0.5, 2.0):
            assert below.hockey_stick(at) <= above.hockey_stick(at) * (1 + 1e-9)
