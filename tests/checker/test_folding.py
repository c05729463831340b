"""Folding: the laws of composition, on trees."""

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dpaudit as dp
from dpaudit.accounting.views import delivered_model
from dpaudit.checks import meant
from dpaudit.errors import DeclarationError
from dpaudit.model.claim import Neighbours
from dpaudit.model.condition import Condition
from dpaudit.model.losses import ApproximateLoss, ChoiceLoss, Composition, GaussianLoss, LaplaceLoss
from dpaudit.model.mechanism import Mechanism
from dpaudit.verifier import verify
from mechanisms import DiscreteGaussian, DiscreteLaplace, Exponential, Gaussian, TruncatedDiscreteGaussian


def gaussian(stddev: float, neighbours: Neighbours = "replace_one", label: str = "g") -> dp.Release:
    return dp.Release(label=label, mechanism=Gaussian(stddev=stddev, l2_sensitivity=1.0, neighbours=neighbours))


def epsilon(tree: dp.Declaration, delta: float = 1e-5) -> float:
    return dp.bracket_epsilon(dp.fold(tree, "replace_one"), delta).upper


noises = st.floats(min_value=0.3, max_value=300.0)


@given(stddev=noises, times=st.integers(min_value=1, max_value=50))
def test_repeat_equals_that_many_copies(stddev: float, times: int) -> None:
    part = gaussian(stddev)
    assert dp.fold(dp.Repeat(part=part, times=times), "replace_one") == dp.fold(
        dp.Sequential(parts=(part,) * times), "replace_one"
    )


@given(stddevs=st.lists(noises, min_size=2, max_size=6))
def test_the_order_of_a_sequence_does_not_matter(stddevs: list[float]) -> None:
    parts = tuple(gaussian(s) for s in stddevs)
    assert dp.fold(dp.Sequential(parts=parts), "replace_one") == dp.fold(
        dp.Sequential(parts=parts[::-1]), "replace_one"
    )


@given(stddevs=st.lists(noises, min_size=1, max_size=5))
def test_parallel_is_the_worst_part_and_never_exceeds_the_sequence(stddevs: list[float]) -> None:
    parts = tuple(gaussian(s) for s in stddevs)
    parallel = epsilon(dp.Parallel(parts=parts, key="arrival"))
    assert parallel == max(epsilon(part) for part in parts)
    assert parallel <= epsilon(dp.Sequential(parts=parts))


@given(stddev=noises, size=st.integers(min_value=1, max_value=20))
def test_a_gaussian_group_is_one_gaussian_with_the_sensitivity_times_its_size(stddev: float, size: int) -> None:
    grouped = dp.fold(dp.Group(part=gaussian(stddev), size=size), "replace_one")
    (alternative,) = grouped.upper
    assert alternative.parts[0][0] == GaussianLoss(mu=float(size / meant(stddev)))
    assert grouped.lower == dp.fold(gaussian(stddev), "replace_one").lower, (
        "one record of the group is known to move it"
    )
    checked = Condition(kind="attained", status="checked")
    together = dp.fold(dp.Group(part=gaussian(stddev), size=size), "replace_one", (checked,))
    assert together.lower == grouped.upper


@given(stddev=noises, delta=st.floats(min_value=1e-12, max_value=0.1))
def test_epsilon_of_delta_of_epsilon_comes_back(stddev: float, delta: float) -> None:
    form = dp.fold(gaussian(stddev), "replace_one")
    found = dp.bracket_epsilon(form, delta)
    assert found.lower <= found.upper
    assert dp.bracket_delta(form, found.upper).upper <= delta or found.upper == 0.0


def test_gaussian_composition_matches_fifty_digit_values() -> None:
    """sigma = 1, delta = 1e-5: 4.3771780957 once, 91.8172896247 a hundred times, 504263.892921 a million times."""
    for times, truth in ((1, 4.3771780957), (100, 91.8172896247), (10**4, 5425.50984615), (10**6, 504263.892921)):
        found = dp.bracket_epsilon(dp.fold(dp.Repeat(part=gaussian(1.0), times=times), "replace_one"), 1e-5)
        assert found.lower <= truth * (1 + 1e-11)
        assert found.upper >= truth * (1 - 1e-11)
        assert found.upper / found.lower - 1 < 1e-6


def test_a_sensitivity_for_other_neighbours_is_refused_by_label() -> None:
    with pytest.raises(DeclarationError, match=r"'sums'.*add_remove.*replace_one"):
        dp.fold(gaussian(1.0, "add_remove", "sums"), "replace_one")


def test_replacing_a_record_touches_two_cells_and_removing_it_one() -> None:
    tree = dp.Cells(inside=gaussian(2.0), touched=gaussian(1.0, "add_remove"))
    (replaced,) = dp.fold(tree, "replace_one").upper
    assert replaced == Composition.of(GaussianLoss(mu=1.0)) * 2
    (removed,) = dp.fold(tree, "add_remove").upper
    assert removed == Composition.of(GaussianLoss(mu=1.0))
    (shared,) = dp.fold(dp.Cells(inside=gaussian(0.5), touched=gaussian(1.0, "add_remove")), "replace_one").upper
    assert shared == Composition.of(GaussianLoss(mu=2.0))


def test_what_is_stated_bounds_from_above_only() -> None:
    form = dp.fold(dp.Stated(epsilon=0.3, delta=1e-6, source="vendor"), "replace_one")
    assert form.upper == (Composition.of(ApproximateLoss(epsilon=0.3, delta=1e-6)),)
    assert form.lower == (Composition(),)
    assert dp.bracket_epsilon(form, 1e-6).lower == 0
    assert dp.bracket_epsilon(form, 1e-6).upper == 0.3


def test_an_adaptive_choice_between_incomparable_parts_is_not_taken_for_the_worse_of_them() -> None:
    """Next to another release the choice may follow its output; the maximum over fixed choices is too small."""
    choice = dp.Parallel(
        parts=(dp.Stated(epsilon=1.0, source="a"), dp.Stated(epsilon=0.1, delta=0.01, source="b")), key="phase"
    )
    (joined,) = dp.fold(dp.Sequential(parts=(gaussian(1.0), choice)), "replace_one").upper
    options = ApproximateLoss(epsilon=1.0), ApproximateLoss(epsilon=0.1, delta=0.01)
    assert joined == Composition.of(GaussianLoss(mu=1.0), ChoiceLoss(options=options))


def test_a_group_over_parts_of_bounded_loss_uses_the_group_property_of_the_whole() -> None:
    tree = dp.Group(
        part=dp.Parallel(parts=(dp.Stated(epsilon=1.0, source="a"), dp.Stated(epsilon=0.5, source="b")), key="phase"),
        size=3,
    )
    assert dp.bracket_epsilon(dp.fold(tree, "replace_one"), 0.0).upper == 3.0


def test_a_group_over_parts_of_mixed_noise_is_refused() -> None:
    tree = dp.Group(part=dp.Parallel(parts=(dp.Stated(epsilon=1.0, source="a"), gaussian(1.0)), key="phase"), size=2)
    with pytest.raises(dp.UnsupportedError, match="group"):
        dp.fold(tree, "replace_one")


@pytest.mark.parametrize(
    ("tree", "model"),
    [
        (gaussian(1.0), "central"),
        (dp.Billboard(part=gaussian(1.0)), "joint"),
        (dp.Local(part=gaussian(1.0)), "local"),
        (dp.PostProcess(part=dp.Billboard(part=gaussian(1.0)), steps=("rounding",)), "joint"),
        (dp.Sequential(parts=(dp.Local(part=gaussian(1.0)), gaussian(1.0))), "central"),
        (dp.Sequential(parts=(dp.Billboard(part=gaussian(1.0)), gaussian(1.0))), "joint"),
    ],
)
def test_a_tree_protects_what_its_weakest_part_protects(tree: dp.Declaration, model: str) -> None:
    assert delivered_model(tree) == model


@pytest.mark.parametrize(
    "build",
    [
        lambda: dp.Sequential(parts=()),
        lambda: dp.Sequential(parts=[gaussian(1.0)]),  # type: ignore[arg-type]
        lambda: dp.Repeat(part=gaussian(1.0), times=2.5),  # type: ignore[arg-type]
        lambda: dp.Parallel(parts=(gaussian(1.0),), key=" "),
        lambda: dp.Stated(epsilon=math.nan, source="x"),
        lambda: dp.Stated(epsilon=1.0, source=""),
        lambda: dp.Release(label="x", mechanism="gaussian"),  # type: ignore[arg-type]
    ],
)
def test_a_bad_node_cannot_exist(build: Callable[..., Any]) -> None:
    with pytest.raises(ValueError, match="Expected"):
        build()


def test_pure_parts_add_up_exactly_at_delta_zero() -> None:
    form = dp.fold(dp.Sequential(parts=(dp.Stated(epsilon=0.1, source="a"),) * 10), "replace_one")
    assert dp.bracket_epsilon(form, 0.0).upper >= 1.0
    assert dp.bracket_epsilon(form, 0.0).upper == pytest.approx(1.0, abs=1e-15)


def test_dominance_prunes_within_a_family_only() -> None:
    from dpaudit.accounting.dominance import worst

    small, large, other = (Composition.of(x) for x in (LaplaceLoss(shift=1), LaplaceLoss(shift=2), GaussianLoss(mu=9)))
    assert worst((small, large)) == (large,)
    assert worst((large, other, small)) == (large, other)
    often, once = Composition.of(GaussianLoss(mu=0.5)) * 4, Composition.of(GaussianLoss(mu=0.9))
    assert worst((often, once)) == (often,)


CHAINED: list[Mechanism] = [
    DiscreteGaussian(stddev=3.0, l2_sensitivity=2, neighbours="add_remove"),
    TruncatedDiscreteGaussian(stddev=2.0, cut=3.0, l2_sensitivity=1, neighbours="add_remove"),
    DiscreteLaplace(scale=3.0, l1_sensitivity=2, neighbours="add_remove"),
]


def divergence(first: np.ndarray, second: np.ndarray, epsilon: float) -> float:
    """The hockey-stick divergence of two laws that are written out."""
    return float(np.maximum(first - math.exp(epsilon) * second, 0).sum())


@pytest.mark.parametrize("noise", CHAINED, ids=lambda noise: str(noise.name))
@pytest.mark.parametrize("epsilon", [0.0, 0.5, 1.0])
def test_whole_noise_of_two_records_is_that_of_twice_the_sensitivity(noise: Any, epsilon: float) -> None:
    """The law at twice the sensitivity is met by one coordinate, and covers two coordinates that move by one each."""
    name = "l1_sensitivity" if hasattr(noise, "l1_sensitivity") else "l2_sensitivity"
    move, at = getattr(noise, name), np.arange(-150, 151)
    still, once, twice = (np.exp(noise.log_density(at, np.asarray(answer))) for answer in (0, move, 2 * move))
    together = divergence(twice, still, epsilon)
    apart = divergence(np.outer(once, once), np.outer(still, still), epsilon)
    tree = dp.Group(part=dp.Release(label="n", mechanism=noise), size=2)
    proved = dp.bracket_delta(dp.fold(tree, "add_remove"), epsilon)
    assert proved.upper == pytest.approx(together, rel=1e-9, abs=1e-12)
    assert apart <= proved.upper * (1 + 1e-12)
    single = dp.bracket_delta(dp.fold(dp.Release(label="n", mechanism=noise), "add_remove"), epsilon)
    assert single.upper < together, "a rule that forgets the second record is caught"


@pytest.mark.parametrize("size", [1, 2, 5])
def test_rho_of_a_group_under_discrete_gaussian_noise_is_that_of_gaussian_noise(size: int) -> None:
    noise = DiscreteGaussian(stddev=2.0, l2_sensitivity=1, neighbours="add_remove")
    tree, rho = dp.Group(part=dp.Release(label="n", mechanism=noise), size=size), size**2 / 8
    certificate = dp.certify(tree, dp.Claim(rho=rho, neighbours="add_remove"))
    assert certificate.verdict == "certified"
    assert verify(certificate.to_json()).complaints == ()
    below = dp.certify(tree, dp.Claim(rho=0.999 * rho, neighbours="add_remove"))
    assert below.verdict != "certified"


def test_choices_of_two_records_have_twice_the_range() -> None:
    """Two candidates whose utilities cross in two steps reach it: they are four times epsilon / 4 apart either way."""
    choice = Exponential(epsilon=0.7, linf_sensitivity=2.0, neighbours="add_remove")
    (found,) = dp.fold(dp.Group(part=dp.Release(label="n", mechanism=choice), size=2), "add_remove").upper
    ((loss, times),) = found.parts
    assert (loss, times) == (replace(choice, epsilon=1.4).loss(), 1)
    first = np.array([1.0, -1.0]) * choice.linf_sensitivity
    laws = [np.exp(choice.log_density(np.arange(2), utilities)) for utilities in (first, -first)]
    assert np.log(laws[0] / laws[1]) == pytest.approx([0.7, -0.7])
    certificate = dp.certify(
        dp.Group(part=dp.Release(label="n", mechanism=choice), size=2), dp.Claim(epsilon=1.4, neighbours="add_remove")
    )
    assert certificate.verdict == "certified"
    assert verify(certificate.to_json()).complaints == ()


def test_a_group_beyond_the_range_of_its_noise_is_a_black_box() -> None:
    tree = dp.Group(part=dp.Release(label="n", mechanism=CHAINED[0]), size=1000)
    certificate = dp.certify(tree, dp.Claim(epsilon=1e5, delta=0.5, neighbours="add_remove"))
    assert verify(certificate.to_json()).complaints == ()
