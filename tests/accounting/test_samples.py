"""Samples through the whole accountant: both orders, several releases on one sample, and exact values."""

from typing import Any

import pytest

from dpaudit import Release, Stated, Subsample, bracket_delta, bracket_epsilon, fold
from dpaudit.errors import DeclarationError
from dpaudit.model.claim import Neighbours
from dpaudit.model.declaration import Scheme
from dpaudit.model.losses import Composition
from mechanisms.gaussian import Gaussian


def gaussian(stddev: float = 1.0, neighbours: Neighbours = "add_remove") -> Release:
    return Release(label="g", mechanism=Gaussian(stddev=stddev, l2_sensitivity=1, neighbours=neighbours))


def test_no_pair_is_known_from_below_where_a_sample_of_an_ordered_loss_is_sampled() -> None:
    inside = Subsample(part=gaussian(), rate=0.1)
    assert fold(Subsample(part=inside, rate=0.5), "add_remove").lower == (Composition(),)


def test_bounded_parts_are_amplified_as_black_boxes() -> None:
    """ln(1 + q (e^epsilon - 1)) at q delta, from above, for sampling without replacement."""
    form = fold(
        Subsample(part=Stated(epsilon=1, delta=1e-6, source="x"), rate=0.1, scheme="without_replacement"), "replace_one"
    )
    epsilon = bracket_epsilon(form, 1e-7)
    assert epsilon.lower == 0
    assert 0.1585650 <= epsilon.upper <= 0.158566
    assert 1e-7 <= bracket_delta(form, 0.2).upper <= 1.00001e-7
    assert bracket_epsilon(fold(Subsample(part=Stated(epsilon=1, source="x"), rate=0.5), "add_remove"), 0.0).lower == 0


@pytest.mark.parametrize(("scheme", "neighbours"), [("poisson", "replace_one"), ("without_replacement", "add_remove")])
def test_a_part_for_other_neighbours_than_its_scheme_needs_is_refused(scheme: Scheme, neighbours: Neighbours) -> None:
    """A Poisson sample lacks a replaced record, a fixed set replaces a removed one: the part is stated for that."""
    sizes: dict[str, Any] = {"population": 10, "batch_size": 1} if scheme == "without_replacement" else {}
    tree = Subsample(part=gaussian(neighbours=neighbours), rate=0.1, scheme=scheme, **sizes)
    with pytest.raises(DeclarationError, match="states its sensitivity"):
        fold(tree, neighbours)
