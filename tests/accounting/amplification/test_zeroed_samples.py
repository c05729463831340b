"""A record of a sample of fixed size against its zero: enumerated populations, both sides and both orders."""

import math
from itertools import combinations

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import norm

from dpaudit import Claim, Release, Repeat, Subsample, bracket_delta, bracket_epsilon, certify, fold, verify
from dpaudit.accounting.zeroed import zeroed_above, zeroed_attained
from dpaudit.engines import ENGINES, QUICK
from dpaudit.model.bracket import Bracket
from dpaudit.model.losses import Composition
from mechanisms import Gaussian, Laplace
from tests.accounting.amplification.named_pairs import NAMED

GRID = np.linspace(-12, 12, 20001)
MU, RATE = 0.5, 0.4


def sample(mu: float, rate: float) -> Subsample:
    """A noisy sum of a uniform set, whose records move it by at most mu against their zeros."""
    noise = Gaussian(stddev=1 / mu, l2_sensitivity=1.0, neighbours="zero_out")
    return Subsample(part=Release(label="sum", mechanism=noise), rate=rate, scheme="without_replacement")


def law(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """The density of the noisy sum of a uniform set of 2 out of 5 records, on the grid."""
    means = np.array([sum(chosen) for chosen in combinations(values, 2)])
    return np.asarray(norm.pdf(GRID[None, :] - means[:, None]).mean(axis=0))


def delta(first: NDArray[np.float64], second: NDArray[np.float64], epsilon: float) -> float:
    """The larger delta of both orders, by the trapezoidal rule, which errs by 1e-7 at a kink."""
    pairs = ((first, second), (second, first))
    return max(float(np.trapezoid(np.maximum(p - math.exp(epsilon) * q, 0.0), GRID)) for p, q in pairs)


def zeroed(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """The same records with the first one set to zero."""
    return np.where(np.arange(len(values)) == 0, 0.0, values)


@pytest.fixture(name="brackets", scope="module")
def _brackets() -> dict[float, Bracket]:
    """The bracket of delta at two epsilons."""
    form = fold(sample(MU, RATE), "zero_out", (NAMED,))
    return {epsilon: bracket_delta(form, epsilon) for epsilon in (0.1, 0.5)}


def test_no_population_exceeds_the_upper_side(brackets: dict[float, Bracket]) -> None:
    """Random records within [-mu, mu], and the worst data sets: all others alike, and all others opposite."""
    rng = np.random.default_rng(1)
    drawn = [rng.uniform(-MU, MU, size=5) for _ in range(30)] + [rng.choice([-MU, 0, MU], size=5) for _ in range(30)]
    drawn += [np.full(5, MU), np.array([MU, *[-MU] * 4])]
    for epsilon, found in brackets.items():
        assert max(delta(law(v), law(zeroed(v)), epsilon) for v in drawn) <= found.upper + 1e-7


def test_the_lower_side_is_attained_where_all_others_are_opposite(brackets: dict[float, Bracket]) -> None:
    """The record moves twice as far from the others as its zero; once, both sides meet this data set."""
    opposite = np.array([MU, *[-MU] * 4])
    for epsilon, found in brackets.items():
        attained = delta(law(opposite), law(zeroed(opposite)), epsilon)
        assert found.lower == pytest.approx(attained, abs=3e-7)
        assert found.upper == pytest.approx(attained, abs=3e-7)


def test_the_known_delta_lies_between_both_sides() -> None:
    """mu .5, rate .1, epsilon .1: others opposite give .0072798396; a rule that moves zero and record once is below."""
    found = bracket_delta(fold(sample(0.5, 0.1), "zero_out", (NAMED,)), 0.1)
    assert found.lower <= 0.0072798396 + 1e-10
    assert found.upper >= 0.0072798396 - 1e-10
    assert found.upper - found.lower < 1e-7
    noise = Gaussian(stddev=2.0, l2_sensitivity=1.0, neighbours="add_remove")
    broken = Subsample(part=Release(label="sum", mechanism=noise), rate=0.1)
    assert bracket_delta(fold(broken, "add_remove"), 0.1).upper < 0.0072798396


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
