"""What stands at the ends of a declaration: no noise, no bound, no sample, one direction only."""

import math

import pytest

from dpaudit import Claim, Release, Stated, Subsample, bracket_delta, bracket_epsilon, certify, fold
from dpaudit.model.claim import Neighbours
from mechanisms import DiscreteGaussian, DiscreteLaplace, Finite, Gaussian, Laplace

OPEN = Finite(first=(1, 0), second=(0, 1), neighbours="add_remove")
TOLD = Stated(epsilon=1.0, source="a vendor")


def test_a_release_without_noise_has_no_epsilon() -> None:
    """Infinity on both sides below delta 1, delta 1 at every epsilon, and every claim refuted."""
    form = fold(Release(label="table", mechanism=OPEN), "add_remove")
    found = bracket_epsilon(form, 0.5)
    assert found.lower == found.upper == math.inf
    assert bracket_delta(form, 50.0).lower == pytest.approx(1.0)
    claim = Claim(epsilon=50.0, delta=0.5, neighbours="add_remove")
    assert certify(Release(label="table", mechanism=OPEN), claim).verdict == "refuted"


def test_a_rate_of_one_is_the_part_itself() -> None:
    """The other end of a sample, which is expressible."""
    assert bracket_epsilon(fold(Subsample(part=TOLD, rate=1.0), "add_remove"), 0.0).upper == 1.0


def test_no_noise_names_the_mechanism_that_says_it() -> None:
    """Each scale of noise refuses 0 with its own name."""
    related: Neighbours = "add_remove"
    with pytest.raises(ValueError, match=r"stddev=0.*'finite'"):
        Gaussian(stddev=0, l2_sensitivity=1, neighbours=related)
    with pytest.raises(ValueError, match=r"stddev=0.*'finite'"):
        DiscreteGaussian(stddev=0, l2_sensitivity=1, neighbours=related)
    with pytest.raises(ValueError, match=r"scale=0.*'finite'"):
        Laplace(scale=0, l1_sensitivity=1, neighbours=related)
    with pytest.raises(ValueError, match=r"scale=0.*'finite'"):
        DiscreteLaplace(scale=0, l1_sensitivity=1, neighbours=related)


def test_a_stated_epsilon_of_infinity_names_the_mechanism_that_says_it() -> None:
    """It states nothing; NaN and negative numbers keep their own messages."""
    with pytest.raises(ValueError, match=r"epsilon=inf.*'finite'"):
        Stated(epsilon=math.inf, source="a vendor")
    with pytest.raises(ValueError, match="nan"):
        Stated(epsilon=math.nan, source="a vendor")
    with pytest.raises(ValueError, match="epsilon=-1"):
        Stated(epsilon=-1, source="a vendor")


def test_a_sample_of_nobody_is_left_out() -> None:
    """Rate 0 releases nothing about the record."""
    with pytest.raises(ValueError, match=r"rate=0.*leave it out"):
        Subsample(part=TOLD, rate=0)


@pytest.mark.parametrize("order", ["add", "remove"])
def test_one_direction_names_the_relation_of_both(order: Neighbours) -> None:
    """A claim holds for both orders."""
    with pytest.raises(ValueError, match=r"'add_remove'.*both orders"):
        Claim(epsilon=1.0, neighbours=order)


def test_zeroed_records_of_a_sample_of_fixed_size_are_refused_by_name() -> None:
    """With the remedy, a claim for replaced records."""
    noise = Gaussian(stddev=2.0, l2_sensitivity=1.0, neighbours="zero_out")
    sample = Subsample(part=Release(label="sum", mechanism=noise), rate=0.1, scheme="without_replacement")
    with pytest.raises(Exception, match=r"'without_replacement' is not covered for neighbours='zero_out'; claim"):
        fold(sample, "zero_out")
