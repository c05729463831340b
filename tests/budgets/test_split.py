"""The budget split: certified, cheapest by brute force and by a dual bound, refused where nothing is shared."""

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpaudit import (
    Billboard,
    Claim,
    Condition,
    Parallel,
    Release,
    Repeat,
    Sequential,
    UnsupportedError,
    bracket_delta,
    certify,
    fold,
    smallest_noise,
)
from dpaudit.accounting.noise_split import rescaled, split_noise
from dpaudit.model.declaration import scaled
from mechanisms import Gaussian, Laplace

CLAIM = Claim(epsilon=1.0, delta=1e-5, neighbours="replace_one")
TOGETHER = (Condition(kind="attained", status="checked"),)
"""One pair of neighbours moves all releases by their whole sensitivities at once."""
NEEDED = 3.7306316351  # noise over sensitivity of one release at CLAIM; Balle and Wang (2018), Theorem 8


def normal(label: str, stddev: float, l2_sensitivity: float = 1.0) -> Release:
    noise = Gaussian(stddev=stddev, l2_sensitivity=l2_sensitivity, neighbours="replace_one")
    return Release(label=label, mechanism=noise)


def tree(*parts: tuple[str, float, float, int]) -> Sequential:
    return Sequential(parts=tuple(Repeat(part=normal(name, s, d), times=n) for name, s, d, n in parts))


PARTS = st.lists(
    st.tuples(st.floats(0.5, 200.0), st.floats(0.1, 30.0), st.integers(1, 50), st.floats(1e-3, 1e3)),
    min_size=1,
    max_size=5,
    unique_by=lambda part: part[:2],
)


@settings(max_examples=40, deadline=None)
@given(PARTS)
def test_the_cost_meets_the_dual_bound_and_the_claim_is_certified(parts: Any) -> None:
    """By Cauchy and Schwarz no factors cost less than (sum sqrt(a c))^2 / mu^2, whatever they are."""
    declared = tree(*((f"part {i}", s, d, n) for i, (s, d, n, _) in enumerate(parts)))
    costs = {f"part {i}": cost for i, (*_, cost) in enumerate(parts)}
    split = split_noise(declared, CLAIM, costs)
    assert certify(split.declaration, CLAIM).verdict == "certified"
    roots = sum(math.sqrt(n * (d / s) ** 2 * cost) for s, d, n, cost in parts)
    bound = (roots * NEEDED) ** 2
    assert bound * (1 - 1e-8) <= split.cost <= bound * (1 + 1e-8)


def brute_force(claim: Claim, declared: Sequential, costs: list[float], least: list[float]) -> float:
    """The least cost over a grid of directions: factors e^t, then one common factor by the accountant itself.

    Where a floor binds, a common factor cannot be found by scaling: directions that undercut one are lifted to it.
    """
    best = math.inf
    exponents = np.linspace(-3, 3, 601)
    mechanisms = [part.part.mechanism for part in declared.parts]
    squares = np.array([part.times * part.part.mechanism.loss().mu ** 2 for part in declared.parts])
    budget = NEEDED**-2
    for t in exponents:
        direction = np.exp(np.array([t, -t]) / 2)
        common = math.sqrt(float((squares / direction**2).sum()) / budget)
        factors = direction * common
        for i, floor in enumerate(least):
            if factors[i] < floor:
                factors[i] = floor
                rest = budget - squares[i] / floor**2
                if rest > 0:
                    factors[1 - i] = max(least[1 - i], math.sqrt(squares[1 - i] / rest))
        chosen = dict(zip(mechanisms, factors.tolist(), strict=True))
        form = fold(rescaled(declared, chosen.__getitem__), claim.neighbours)
        if bracket_delta(form, claim.epsilon).upper <= claim.delta * (1 + 1e-6):
            best = min(best, float((np.array(costs) * factors**2).sum()))
    return best


@pytest.mark.parametrize(
    ("first", "second", "costs", "least"),
    [
        ((30.0, 1.0, 4), (5.0, 0.5, 9), [1.0, 1.0], [0.0, 0.0]),
        ((2.0, 1.0, 1), (90.0, 3.0, 20), [7.0, 0.02], [0.0, 0.0]),
        ((2.0, 1.0, 1), (90.0, 3.0, 20), [7.0, 0.02], [6.0, 0.0]),
        ((30.0, 1.0, 4), (5.0, 0.5, 9), [1.0, 1.0], [0.4, 2.0]),
    ],
)
def test_brute_force_finds_nothing_cheaper_and_nothing_much_dearer(
    first: tuple[float, float, int], second: tuple[float, float, int], costs: list[float], least: list[float]
) -> None:
    declared = tree(("first", *first), ("second", *second))
    named = dict(zip(("first", "second"), costs, strict=True))
    floors = dict(zip(("first", "second"), least, strict=True))
    split = split_noise(declared, CLAIM, named, floors)
    best = brute_force(CLAIM, declared, costs, least)
    assert split.cost <= best * (1 + 1e-6)
    assert split.cost >= best * (1 - 1e-4)
    assert all(share.factor >= floors[share.labels[0]] for share in split.shares)


def test_one_common_factor_or_an_even_split_costs_more() -> None:
    """The twins: all noise scaled alike, and mu^2 shared equally. Both certify; both are at least a tenth dearer."""
    declared = tree(("wide", 100.0, 1.0, 1), ("narrow", 1.0, 1.0, 30))
    costs = {"wide": 100.0**2 * 500, "narrow": 1.0}
    split = split_noise(declared, CLAIM, costs)
    uniform = smallest_noise(declared, CLAIM)
    assert uniform**2 * sum(costs.values()) > 1.1 * split.cost
    even = [math.sqrt(n * (d / s) ** 2 * 2) * NEEDED for s, d, n in ((100.0, 1.0, 1), (1.0, 1.0, 30))]
    assert sum(c * f**2 for c, f in zip(costs.values(), even, strict=True)) > 1.1 * split.cost


def test_equal_parts_at_equal_cost_get_what_one_factor_gives_them() -> None:
    declared = tree(("left", 9.0, 1.0, 3), ("right", 18.0, 2.0, 3))
    split = split_noise(declared, CLAIM, {"left": 1.0, "right": 1.0})
    assert [share.factor for share in split.shares] == pytest.approx([smallest_noise(declared, CLAIM)] * 2, rel=1e-9)
    assert sum(share.budget for share in split.shares) == pytest.approx(NEEDED**-2, rel=1e-8)


def test_one_part_in_a_million_less_noise_is_refuted() -> None:
    declared = tree(("wide", 100.0, 1.0, 2), ("narrow", 1.0, 1.0, 30))
    split = split_noise(declared, CLAIM, {"wide": 2.0, "narrow": 1.0})
    assert certify(scaled(split.declaration, 1 - 1e-6), CLAIM, conditions=TOGETHER).verdict == "refuted"


def test_releases_that_share_a_mechanism_share_a_factor_through_parallel_parts() -> None:
    gram, target = normal("gram", 10.0), normal("target", 3.0)
    epoch = Sequential(parts=(gram, target))
    declared = Billboard(part=Parallel(parts=(epoch,) * 5, key="the arrival time"))
    claim = Claim(epsilon=1.0, delta=1e-5, neighbours="replace_one", model="joint")
    split = split_noise(declared, claim, {"gram": 4.0, "target": 1.0})
    assert [share.labels for share in split.shares] == [("gram",), ("target",)]
    assert certify(split.declaration, claim).verdict == "certified"


def test_parts_that_share_no_budget_or_no_mu_are_refused() -> None:
    apart = Parallel(parts=(normal("left", 9.0), normal("right", 5.0)), key="the day")
    with pytest.raises(UnsupportedError, match="do not share"):
        split_noise(apart, CLAIM, {"left": 1.0, "right": 1.0})
    laplace = Release(label="count", mechanism=Laplace(scale=9.0, l1_sensitivity=1.0, neighbours="replace_one"))
    with pytest.raises(UnsupportedError, match="not all Gaussian"):
        split_noise(Sequential(parts=(normal("sum", 9.0), laplace)), CLAIM, {"sum": 1.0, "count": 1.0})
    with pytest.raises(UnsupportedError, match="No amount of noise"):
        split_noise(normal("sum", 9.0), Claim(epsilon=1.0, neighbours="replace_one"), {"sum": 1.0})


def test_costs_must_name_every_release_and_nothing_else() -> None:
    declared = tree(("left", 9.0, 1.0, 3), ("right", 18.0, 1.0, 3))
    with pytest.raises(ValueError, match="right has none"):
        split_noise(declared, CLAIM, {"left": 1.0})
    with pytest.raises(ValueError, match="called middle"):
        split_noise(declared, CLAIM, {"left": 1.0, "right": 1.0, "middle": 1.0})
    with pytest.raises(ValueError, match="left"):
        split_noise(declared, CLAIM, {"left": 0.0, "right": 1.0})
