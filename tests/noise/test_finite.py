"""Tables of two laws, and integer noise that is cut: obvious answers, exact curves, what the checker derives again."""

import math
from fractions import Fraction

import numpy as np
import pytest

from dpaudit import Claim, Release, Repeat, bracket_delta, bracket_epsilon, certify, fold, verify
from dpaudit.errors import ConfigError
from dpaudit.model.codec import REFUSED, decode_declaration, decode_mechanism
from mechanisms import DiscreteGaussian, Finite, RandomisedResponse, TruncatedDiscreteGaussian


def table(first: tuple[float, ...], second: tuple[float, ...], dilution: float = 1.0) -> Release:
    """Return one release of a table."""
    mechanism = Finite(first=first, second=second, neighbours="replace_one", dilution=dilution)
    return Release(label="outcome", mechanism=mechanism)


def test_a_table_of_randomised_response_is_randomised_response() -> None:
    """(3, 1) against (1, 3) in counts has the curve of randomised response with epsilon ln 3."""
    known = RandomisedResponse(epsilon=math.log(3))
    for epsilon in (0.0, 0.4, 1.0):
        ours = bracket_delta(fold(Repeat(part=table((3, 1), (1, 3)), times=5), "replace_one"), epsilon)
        other = Repeat(part=Release(label="bit", mechanism=known), times=5)
        theirs = bracket_delta(fold(other, "replace_one"), epsilon)
        assert ours.lower == pytest.approx(theirs.lower, rel=1e-5)
        assert ours.upper == pytest.approx(theirs.upper, rel=1e-5)


def test_without_noise_everything_is_lost() -> None:
    """(1, 0) against (0, 1): no epsilon at any delta below 1, from both sides, and the claim is refuted."""
    bracket = bracket_epsilon(fold(table((1, 0), (0, 1)), "replace_one"), 0.5)
    assert (bracket.lower, bracket.upper) == (math.inf, math.inf)
    certificate = certify(table((1, 0), (0, 1)), Claim(epsilon=100.0, delta=0.1, neighbours="replace_one"))
    assert certificate.verdict == "refuted"
    assert verify(certificate.to_json()).accepted


def test_equal_laws_cost_nothing() -> None:
    """The same law twice has epsilon 0 at delta 0: a part at rate 0."""
    bracket = bracket_epsilon(fold(table((0.5, 0.5), (0.5, 0.5)), "replace_one"), 0.0)
    assert bracket.upper == 0.0


def test_dilution_draws_both_laws_to_their_mean() -> None:
    """Dilution 2 of (1, 0) against (0, 1) is (3, 1) / 4 against (1, 3) / 4."""
    one, two = (
        bracket_delta(fold(node, "replace_one"), 0.3) for node in (table((1, 0), (0, 1), 2), table((3, 1), (1, 3)))
    )
    assert one == two
    with pytest.raises(ValueError, match="Expected dilution="):
        table((3, 1), (1, 3), 0.4)


@pytest.mark.parametrize("times", [1, 6])
def test_the_checker_reads_tables_anew(times: int) -> None:
    """An asymmetric table with an outcome that one law lacks; a changed entry is found."""
    node = Repeat(part=table((0.7, 0.299, 0.001), (0.2, 0.8, 0.0)), times=times)
    certificate = certify(node, Claim(epsilon=4.0, delta=0.02, neighbours="replace_one"))
    assert verify(certificate.to_json()).accepted
    text = certificate.to_json()
    assert not verify(text.replace("0.299", "0.298").replace("0.7,", "0.701,")).accepted


@pytest.mark.parametrize(
    ("first", "second"), [((0.5, 0.6), (0.5, 0.5)), ((1, 2), (1,)), ((-1, 2), (0, 1)), ((), ()), ((0, 0), (1, 1))]
)
def test_a_table_that_is_no_law_is_refused(first: tuple[float, ...], second: tuple[float, ...]) -> None:
    """Sums other than 1, unequal length, negative entries, nothing at all."""
    with pytest.raises(ValueError, match=r"Expected (first|second)"):
        table(first, second)


def test_decimals_sum_as_decimals() -> None:
    """Ten times 0.1 is 1, although the floats do not add up to it."""
    mechanism = Finite(first=(0.1,) * 10, second=(0.1,) * 10, neighbours="replace_one")
    assert mechanism.first == (0.1,) * 10
    assert sum(map(Fraction, mechanism.first), start=Fraction(0)) != 1


def test_cut_noise_gives_its_ends_away() -> None:
    """stddev 2 cut at 6, moved by 1: delta at any epsilon is at least the probability of the noise 6."""
    mechanism = TruncatedDiscreteGaussian(stddev=2.0, cut=3.0, l2_sensitivity=1, neighbours="replace_one")
    weights = np.exp(-(np.arange(-6, 7) ** 2) / 8.0)
    form = fold(Release(label="count", mechanism=mechanism), "replace_one")
    assert bracket_delta(form, 50.0).lower == pytest.approx(weights[-1] / weights.sum(), rel=1e-9)
    assert bracket_epsilon(form, 1e-4).lower == math.inf
    values = np.arange(-6, 8)
    p = np.where(values >= -5, np.exp(-((values - 1.0) ** 2) / 8.0), 0.0) / weights.sum()
    q = np.where(values <= 6, np.exp(-(values**2.0) / 8.0), 0.0) / weights.sum()
    for epsilon in (0.0, 0.3, 0.8):
        truth = float(np.maximum(p - math.exp(epsilon) * q, 0.0).sum())
        bracket = bracket_delta(form, epsilon)
        assert bracket.lower <= truth * (1 + 1e-12)
        assert truth * (1 - 1e-12) <= bracket.upper


def test_a_far_cut_is_no_cut() -> None:
    """Cut at 20 deviations the curve is that of discrete Gaussian noise."""
    cut = TruncatedDiscreteGaussian(stddev=3.0, cut=20.0, l2_sensitivity=1, neighbours="replace_one")
    whole = DiscreteGaussian(stddev=3.0, l2_sensitivity=1, neighbours="replace_one")
    one, two = (bracket_delta(fold(Release(label="count", mechanism=m), "replace_one"), 0.5) for m in (cut, whole))
    assert one.upper == pytest.approx(two.upper, rel=1e-9)


def test_a_certificate_of_cut_noise_is_verified() -> None:
    """The checker knows the law; another cut is found."""
    mechanism = TruncatedDiscreteGaussian(stddev=4.0, cut=5.0, l2_sensitivity=1, neighbours="replace_one")
    node = Repeat(part=Release(label="count", mechanism=mechanism), times=8)
    text = certify(node, Claim(epsilon=3.0, delta=1e-3, neighbours="replace_one")).to_json()
    assert verify(text).accepted
    assert not verify(text.replace('"cut": 5.0', '"cut": 3.0')).accepted


@pytest.mark.parametrize("name", [*sorted(REFUSED), "propose-test-release", "Sparse Vector", "PATE"])
def test_what_is_not_covered_is_refused_by_name(name: str) -> None:
    """One line with the reason and what to declare instead, for a mechanism and for a node."""
    said = f"{name}.*is not covered: .*(state|declare)"
    with pytest.raises(ConfigError, match=said) as mechanism:
        decode_mechanism({"name": name}, "replace_one", ("mechanism",))
    with pytest.raises(ConfigError, match=said) as node:
        decode_declaration({"node": "repeat", "times": 2, "part": {"node": name}}, "replace_one")
    assert str(node.value).startswith("declaration.part: ")
    assert "\n" not in f"{mechanism.value}{node.value}"


def test_a_name_that_nobody_refuses_is_unknown() -> None:
    """The broken twin: a misspelt node has the nearest known one, and no reason."""
    with pytest.raises(ConfigError, match="unknown node='subsampel'; did you mean 'subsample'"):
        decode_declaration({"node": "subsampel"}, "replace_one")
