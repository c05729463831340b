"""The game of each node against a value that is worked out beside it."""

from fractions import Fraction
from itertools import product

import pytest

import dpaudit as dp
from dpaudit.semantics import Move, UndefinedInstanceError, pairs, value
from dpaudit.semantics.seeds import TABLES, both, leaf, parallel, sample, truncated

SHARP = leaf("sharp")
X = Fraction(3, 2)


def poisson(part: dp.Declaration, rate: float) -> dp.Subsample:
    """Return a part on a Poisson sample."""
    return dp.Subsample(part=part, rate=rate)


def cells(part: dp.Declaration) -> dp.Cells:
    """Return one part in each cell."""
    return dp.Cells(inside=part, touched=part)


def best(tree: dp.Declaration, move: Move, x: Fraction = X, *, persons: int = 1) -> Fraction:
    """Return the largest value over the pairs of a move of which the tree says something."""
    found = []
    for pair in pairs(move, size=persons):
        try:
            found.append(value(tree, TABLES, pair, x))
        except UndefinedInstanceError:
            continue
    return max(found)


def h(x: Fraction) -> Fraction:
    """Return the curve of the tables (.9, .1) and (.1, .9), in either order."""
    return max(Fraction(9, 10) - x * Fraction(1, 10), 1 - x, Fraction(0))


def rare(rate: Fraction, x: Fraction = X) -> Fraction:
    """Return the curve of a record that is there with probability `rate`, against none, at x of 1 or more."""
    return rate * h(1 + (x - 1) / rate)


@pytest.mark.parametrize(
    ("tree", "move", "truth"),
    [
        (SHARP, "remove", h(X)),
        (dp.PostProcess(part=SHARP), "zero", h(X)),
        (dp.Billboard(part=SHARP), "replace", h(X)),
        (
            both(SHARP, SHARP),
            "replace",
            Fraction(81, 100) - X * Fraction(1, 100),
        ),  # mixed outputs are as likely on both sides
        (dp.Repeat(part=SHARP, times=2), "remove", Fraction(81, 100) - X * Fraction(1, 100)),
        (dp.Group(part=SHARP, size=2), "remove", h(X)),  # there is no third answer
        (
            dp.Group(part=leaf("geometric"), size=2),
            "replace",
            Fraction(2, 3) - X * Fraction(1, 6),
        ),  # two steps, not one
        (parallel(leaf("two"), SHARP), "replace", h(X)),
        (
            dp.Parallel(parts=(leaf("two"), SHARP), key="an order", visibility="secret"),
            "remove",
            Fraction(29, 80),
        ),  # three of the four outputs are likelier
        (cells(SHARP), "remove", h(X)),
        (cells(SHARP), "replace", Fraction(81, 100) - X * Fraction(1, 100)),  # one cell is emptied, another one filled
        (cells(SHARP), "zero", h(X)),
        (dp.Local(part=SHARP), "replace", h(X)),
        (dp.Local(part=SHARP), "exchange", Fraction(81, 100) - X * Fraction(1, 100)),  # two messages
        (poisson(SHARP, 0.3), "remove", rare(Fraction(3, 10))),
        (poisson(SHARP, 0.3), "add", Fraction(0)),  # 1 - x (1 - q) < 0
        (poisson(dp.Group(part=SHARP, size=2), 0.3), "remove", rare(Fraction(3, 10))),
        (dp.Group(part=poisson(SHARP, 0.3), size=2), "remove", rare(1 - Fraction(7, 10) ** 2)),
        (sample(SHARP, 3, 1), "remove", rare(Fraction(1, 3))),
        (sample(SHARP, 3, 2), "remove", rare(Fraction(2, 3))),
        (dp.Group(part=sample(SHARP, 3, 1), size=2), "remove", Fraction(29, 60)),  # the hypergeometric rate is 2/3
        (sample(SHARP, 3, 3), "replace", h(X)),
        (sample(SHARP, 3, 2, "with_replacement"), "remove", rare(1 - Fraction(2, 3) ** 2)),
        (truncated(SHARP, 0.5, 1, 1), "remove", rare(Fraction(1, 2))),
        (
            dp.Allocate(part=SHARP, steps=2),
            "remove",
            Fraction(1, 100) * (9 - X) + Fraction(18, 100) * (Fraction(41, 9) - X),
        ),
        (dp.Allocate(part=SHARP, steps=2, per_epoch=2), "remove", Fraction(81, 100) - X * Fraction(1, 100)),
        (poisson(both(leaf("size"), leaf("two")), 0.3), "zero", Fraction(3, 10) * (Fraction(3, 4) - X / 4)),
        (poisson(leaf("size"), 0.3), "zero", Fraction(0)),
        (poisson(leaf("size"), 0.3), "remove", Fraction(3, 10)),
    ],
)
def test_the_value_is_the_one_by_hand(tree: dp.Declaration, move: Move, truth: Fraction) -> None:
    """Each node's game has the value that follows from its definition."""
    assert best(tree, move) == truth


def test_the_size_beside_a_sum_shows_that_a_record_was_drawn() -> None:
    """A zeroed record still counts: 19/400 at rate 1/10, where the map for an absent record says 10/400."""
    found = value(poisson(both(leaf("size"), leaf("two")), 0.1), TABLES, next(pairs("zero")), Fraction(11, 10))
    assert found == Fraction(19, 400)
    assert Fraction(1, 10) * max(
        Fraction(3, 4) - (1 + (Fraction(11, 10) - 1) / Fraction(1, 10)) / 4, Fraction(0)
    ) == Fraction(10, 400)


def test_shuffled_reports_are_counted() -> None:
    """Reports of two outputs against all orders of all reports, for every binary query on every pair."""
    for users in (2, 3):
        truth = Fraction(0)
        for ones in range(users):
            laws = [sharp_reports(first, users, ones) for first in (1, 0)]
            truth = max(truth, sum((max(laws[0][k] - X * laws[1][k], Fraction(0)) for k in laws[0]), start=Fraction(0)))
        found = best(dp.Shuffle(part=SHARP, users=users), "replace")
        assert found == truth


def sharp_reports(person: int, users: int, ones: int) -> dict[int, Fraction]:
    """Return the law of the number of ones where `ones` of the other users have the answer 1."""
    answers = [person, *(int(user < ones) for user in range(users - 1))]
    law = dict.fromkeys(range(users + 1), Fraction(0))
    for reports in product((0, 1), repeat=users):
        chance = Fraction(1)
        for answer, report in zip(answers, reports, strict=True):
            chance *= Fraction(9, 10) if answer == report else Fraction(1, 10)
        law[sum(reports)] += chance
    return law
