"""Numbers by independent programs: samples, secret steps and persons with several records, in both orders."""

from functools import reduce
from typing import Literal

import pytest

from dpaudit import Allocate, Group, Release, Repeat, Subsample, bracket_epsilon, fold
from dpaudit.accounting.accountant import narrowest
from dpaudit.engines import BY_EFFORT
from dpaudit.model.bracket import Bracket
from dpaudit.model.declaration import Declaration
from mechanisms import Gaussian


def release(mu: float) -> Release:
    """A noisy sum that a record moves by so many deviations."""
    return Release(label="sum", mechanism=Gaussian(stddev=1 / mu, l2_sensitivity=1.0, neighbours="add_remove"))


Direction = Literal["remove", "add"]


def one_way(tree: Declaration, direction: Direction, delta: float) -> Bracket:
    """A bracket on epsilon for one order of the neighbours: the accountant's, before it takes the larger order."""
    found = [
        narrowest(
            composition if direction == "remove" else composition.reversed(),
            BY_EFFORT["default"],
            lambda engine, held, precision: engine.epsilon(held, delta, precision),
        )
        for composition in fold(tree, "add_remove").upper
    ]
    return reduce(Bracket.largest, found)


CASES: list[tuple[str, Declaration, float, Direction, float, float]] = [
    ("secret step", Allocate(part=release(0.5), steps=100), 1e-5, "remove", 0.17319, 2e-5),
    ("secret step", Allocate(part=release(0.5), steps=100), 1e-5, "add", 0.17014, 2e-5),
    ("samples", Repeat(part=Subsample(part=release(0.5), rate=0.01), times=100), 1e-5, "remove", 0.18979, 2e-5),
    ("samples", Repeat(part=Subsample(part=release(0.5), rate=0.01), times=100), 1e-5, "add", 0.15523, 2e-5),
    ("10,000 of mu 1", Repeat(part=Subsample(part=release(1.0), rate=0.01), times=10_000), 1e-5, "add", 5.6115, 2e-4),
    ("100 of .1", Repeat(part=Subsample(part=release(0.5), rate=0.1), times=100), 1e-5, "remove", 2.33740, 5e-5),
]


@pytest.mark.parametrize(("name", "tree", "delta", "direction", "known", "near"), CASES)
def test_known_epsilons(
    name: str, tree: Declaration, delta: float, direction: Direction, known: float, near: float
) -> None:
    """The bracket meets the independent number to two units of its last digit."""
    found = one_way(tree, direction, delta)
    assert found.lower - near <= known <= found.upper + near, name
    assert found.upper - found.lower <= 10 * near


def test_ten_records_of_a_person() -> None:
    """Ten records, mu .5, 1,000 samples of rate .01, delta 1e-6: 9.3705 in the order that costs more."""
    tree = Group(part=Repeat(part=Subsample(part=release(0.5), rate=0.01), times=1000), size=10)
    assert bracket_epsilon(fold(tree, "add_remove"), 1e-6).upper == pytest.approx(9.3705, abs=5e-4)
