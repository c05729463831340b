"""A record at several secret steps of an epoch: both sides, against all sets of places and all outputs counted out."""

import math
from itertools import combinations, product

import pytest

from dpaudit import Release, bracket_delta, fold
from dpaudit.accounting.accountant import bracket_delta as bracket_of
from dpaudit.accounting.normal_form import NormalForm
from dpaudit.engines import QUICK
from dpaudit.model.declaration import Allocate, Repeat
from dpaudit.model.losses import AllocatedLoss, Composition
from mechanisms import Finite
from tests.accounting.amplification.named_pairs import NAMED

STEPS = 6
TABLE = Finite(first=(0.6, 0.3, 0.1), second=(0.1, 0.3, 0.6), neighbours="add_remove")


def truth(places: int, epsilon: float) -> float:
    """The larger delta of both orders: a mixture over all sets of places against all steps without the record."""
    sets = list(combinations(range(STEPS), places))
    found = [0.0, 0.0]
    for outputs in product(range(3), repeat=STEPS):
        without = math.prod(TABLE.second[said] for said in outputs)
        ratios = [TABLE.first[said] / TABLE.second[said] for said in outputs]
        present = without * math.fsum(math.prod(ratios[i] for i in chosen) for chosen in sets) / len(sets)
        found[0] += max(0.0, present - math.exp(epsilon) * without)
        found[1] += max(0.0, without - math.exp(epsilon) * present)
    return max(found)


@pytest.mark.parametrize("places", [2, 3, 5, 6])
def test_all_sets_of_places_lie_in_the_bracket(places: int) -> None:
    """Sums of labels attain at least nine tenths of the mixture over all sets; blocks dominate it."""
    part = Release(label="code", mechanism=TABLE)
    form = fold(Allocate(part=part, steps=STEPS, per_epoch=places), "add_remove", (NAMED,))
    for epsilon in (0.0, 0.5, 1.0):
        exact, found = truth(places, epsilon), bracket_delta(form, epsilon)
        assert 0.9 * exact <= found.lower <= exact * (1 + 1e-9)
        assert exact * (1 - 1e-9) <= found.upper


def test_a_place_too_many_is_caught() -> None:
    """The broken twin: the loss of three places exceeds what two of them attain."""
    broken = Composition.of(AllocatedLoss(inside=((TABLE.loss(), 1),), steps=STEPS, places=3))
    assert bracket_of(NormalForm(upper=(broken,), lower=(broken,)), 0.5).lower > truth(2, 0.5) * 1.01


def test_more_places_than_steps_are_refused() -> None:
    """One line that says both numbers."""
    with pytest.raises(ValueError, match="places=7 to be at most steps=6"):
        AllocatedLoss(inside=((TABLE.loss(), 1),), steps=6, places=7)


def test_the_same_place_in_every_epoch_is_one_place_of_all_its_releases() -> None:
    """Two epochs at the same secret step are one epoch with two releases a step; fresh steps cost less."""
    part = Release(label="code", mechanism=TABLE)
    again, fresh = Allocate(part=part, steps=3, epochs=2, positions="repeated"), Allocate(part=part, steps=3, epochs=2)
    together = Allocate(part=Repeat(part=part, times=2), steps=3)
    assert fold(again, "add_remove", (NAMED,)) == fold(together, "add_remove", (NAMED,))
    one, other = (bracket_delta(fold(tree, "add_remove", (NAMED,)), 0.5, QUICK) for tree in (fresh, again))
    assert one.upper < other.lower
