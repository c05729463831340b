from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpaudit import Parallel, Release, Repeat, Sequential, Stated, Subsample, bracket_delta, bracket_epsilon, fold
from dpaudit.accounting.derivation.groups import chain
from dpaudit.engines import TILTED
from dpaudit.errors import DeclarationError
from dpaudit.model.claim import Neighbours
from dpaudit.model.declaration import Scheme
from dpaudit.model.losses import ApproximateLoss, Composition, GaussianLoss, LaplaceLoss, Loss
from mechanisms.gaussian import Gaussian

SIZES = st.floats(0.05, 1.5)
LOSSES = st.one_of(
    SIZES.map(lambda size: GaussianLoss(mu=size)),
    SIZES.map(lambda size: LaplaceLoss(shift=size)),
    SIZES.map(lambda size: ApproximateLoss(epsilon=size, delta=1e-9)),
)
FEW = settings(max_examples=10, deadline=None, derandomize=True)


def gaussian(stddev: float = 1.0, neighbours: Neighbours = "add_remove") -> Release:
    return Release(label="g", mechanism=Gaussian(stddev=stddev, l2_sensitivity=1, neighbours=neighbours))


@FEW
@given(LOSSES, st.integers(1, 9))
def test_repeat_equals_copies(loss: Loss, times: int) -> None:
    """A loss repeated is the same composition as its copies, and so is the answer."""
    assert Composition.of(loss) * times == Composition.of(*[loss] * times)
    assert fold(Repeat(part=gaussian(), times=times), "add_remove") == fold(
        Sequential(parts=(gaussian(),) * times), "add_remove"
    )


@FEW
@given(st.lists(LOSSES, min_size=2, max_size=4))
def test_order_does_not_matter(losses: list[Loss]) -> None:
    """Compositions in either order are equal objects."""
    assert Composition.of(*losses) == Composition.of(*reversed(losses))


def test_integer_and_float_parameters_agree() -> None:
    """B1's lesson: 1 and 1.0 are the same noise, under sampling, too."""
    forms = [
        fold(
            Repeat(part=Subsample(part=Repeat(part=gaussian(sigma), times=4), rate=0.01, scheme="poisson"), times=10),
            "add_remove",
        )
        for sigma in (1, 1.0)
    ]
    assert forms[0] == forms[1]


@FEW
@given(LOSSES, SIZES, SIZES, st.floats(-9, -3))
def test_brackets_grow_with_the_shift_and_fall_with_delta(
    loss: Loss, one: float, other: float, exponent: float
) -> None:
    """More shift never lowers the upper bound below the lower bound of less; likewise for delta."""
    small, large = sorted((one, other))
    low, high = (TILTED.epsilon(Composition.of(loss, LaplaceLoss(shift=s)), 10.0**exponent) for s in (small, large))
    assert low.lower <= high.upper
    assert TILTED.epsilon(Composition.of(loss, LaplaceLoss(shift=small)), 10.0 ** (exponent - 1)).upper >= low.lower


@settings(max_examples=4, deadline=None, derandomize=True)
@given(LOSSES, st.integers(1, 6), st.floats(-8, -3))
def test_epsilon_of_delta_of_epsilon_returns(loss: Loss, times: int, exponent: float) -> None:
    """delta at the returned epsilon meets the delta that was asked for: no absolute tolerance anywhere (B9)."""
    composition = Composition.of(loss, LaplaceLoss(shift=0.3)) * times
    delta = 10.0**exponent
    epsilon = TILTED.epsilon(composition, delta)
    assert TILTED.delta(composition, epsilon.upper).lower <= delta
    assert TILTED.delta(composition, epsilon.lower).upper >= delta or epsilon.lower == 0


def test_more_records_of_one_person_never_cost_less() -> None:
    """The bracket of a group of size k grows with k."""
    composition = Composition.of(GaussianLoss(mu=0.2), LaplaceLoss(shift=0.2))
    answers = [TILTED.epsilon(chain(composition, size), 1e-5) for size in (1, 2, 3)]
    assert answers[0].upper < answers[1].lower < answers[1].upper < answers[2].lower


def test_parallel_never_exceeds_sequential() -> None:
    """Touching one of two parts costs no more than touching both."""
    parts = (gaussian(1.0), gaussian(2.0))
    alone = bracket_epsilon(fold(Parallel(parts=parts, key="phase"), "add_remove"), 1e-5)
    both = bracket_epsilon(fold(Sequential(parts=parts), "add_remove"), 1e-5)
    assert alone.upper < both.lower


def test_sampled_gaussian_takes_the_worse_order() -> None:
    """The accountant answers 6.1877, the order in which the record is removed, through the whole path."""
    tree = Repeat(part=Subsample(part=gaussian(), rate=0.01, scheme="poisson"), times=10_000)
    bracket = bracket_epsilon(fold(tree, "add_remove"), 1e-5)
    assert bracket.lower <= 6.1877124 <= bracket.upper
    assert bracket.upper - bracket.lower <= 6.2e-4


def test_releases_inside_one_sample_are_composed_before_amplification() -> None:
    """Four releases of sigma 2 on one sample are one release of sigma 1 on it, not four samples."""
    inside = Subsample(part=Repeat(part=gaussian(2.0), times=4), rate=0.1, scheme="poisson")
    assert fold(inside, "add_remove") == fold(Subsample(part=gaussian(1.0), rate=0.1, scheme="poisson"), "add_remove")


def test_bounded_parts_are_amplified_as_black_boxes() -> None:
    """ln(1 + q (e^epsilon - 1)) at q delta, from above, for sampling without replacement."""
    form = fold(
        Subsample(part=Stated(epsilon=1, delta=1e-6, source="x"), rate=0.1, scheme="without_replacement"),
        "replace_one",
    )
    epsilon = bracket_epsilon(form, 1e-7)
    assert epsilon.lower == 0
    assert 0.1585650 <= epsilon.upper <= 0.158566
    assert 1e-7 <= bracket_delta(form, 0.2).upper <= 1.00001e-7


@pytest.mark.parametrize(("scheme", "neighbours"), [("poisson", "replace_one"), ("without_replacement", "add_remove")])
def test_a_part_for_other_neighbours_than_its_scheme_needs_is_refused(scheme: Scheme, neighbours: Neighbours) -> None:
    """A Poisson sample lacks a replaced record, a fixed set replaces a removed one: the part is stated for that."""
    sizes: dict[str, Any] = {"population": 10, "batch_size": 1} if scheme == "without_replacement" else {}
    tree = Subsample(part=gaussian(neighbours=neighbours), rate=0.1, scheme=scheme, **sizes)
    with pytest.raises(DeclarationError, match="states its sensitivity"):
        fold(tree, neighbours)


def test_a_gaussian_part_is_sampled_without_replacement() -> None:
    """An exact value: delta(.1) = .0184719307 at mu 1 and a rate of a tenth."""
    tree = Subsample(part=gaussian(neighbours="replace_one"), rate=0.1, scheme="without_replacement")
    bracket = bracket_delta(fold(tree, "replace_one"), 0.1)
    assert bracket.lower <= 0.0184719308
    assert 0.0184719306 <= bracket.upper <= 0.0184719307 * (1 + 5e-5)
