"""A record at several secret steps of an epoch: both sides, against all sets of places and all outputs counted out."""

import math
from itertools import combinations, product

import pytest

from dpaudit import Claim, Release, bracket_delta, bracket_epsilon, certify, fold, verify
from dpaudit.accounting.accountant import bracket_delta as bracket_of
from dpaudit.accounting.normal_form import NormalForm
from dpaudit.engines import QUICK
from dpaudit.model.declaration import Allocate, Repeat
from dpaudit.model.losses import AllocatedLoss, Composition
from mechanisms import Finite, Gaussian
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


def test_three_places_of_a_hundred_are_known_within_five_hundredths() -> None:
    """mu 1 at delta 1e-5: 1.74 is attained (a sum of outputs shows 1.13), and 1.82 is proved."""
    noise = Gaussian(stddev=1.0, l2_sensitivity=1.0, neighbours="add_remove")
    tree = Allocate(part=Release(label="sum", mechanism=noise), steps=100, per_epoch=3)
    found = bracket_epsilon(fold(tree, "add_remove"), 1e-5)
    assert found.lower == pytest.approx(1.7414, abs=2e-3)
    assert found.upper == pytest.approx(1.8153, abs=2e-3)
    text = certify(tree, Claim(epsilon=1.7, delta=1e-5, neighbours="add_remove")).to_json()
    assert verify(text).accepted, verify(text)
    assert not verify(text.replace('"per_epoch": 3', '"per_epoch": 2')).accepted


def test_more_places_than_steps_are_refused() -> None:
    """One line that says both numbers."""
    with pytest.raises(ValueError, match="places=7 to be at most steps=6"):
        AllocatedLoss(inside=((TABLE.loss(), 1),), steps=6, places=7)


def test_one_place_has_a_quick_effort_and_costs_no_more_than_in_public() -> None:
    """Quick brackets hold the truth of the page and are narrow; mu 2, ten steps: the public step."""

    def once(deviation: float, steps: int) -> NormalForm:
        noise = Gaussian(stddev=deviation, l2_sensitivity=1.0, neighbours="add_remove")
        return fold(Allocate(part=Release(label="sum", mechanism=noise), steps=steps), "add_remove")

    for steps, known, width in ((10, 2.18885, 2e-4), (100, 0.62094, 2e-3)):
        found = bracket_epsilon(once(1.0, steps), 1e-5, QUICK)
        assert found.lower - 1e-5 <= known <= found.upper + 1e-5
        assert found.upper - found.lower <= width * found.upper
    public = bracket_epsilon(fold(Release(label="sum", mechanism=_loud()), "add_remove"), 1e-5)
    assert bracket_epsilon(once(0.5, 10), 1e-5, QUICK).upper <= public.upper * (1 + 1e-9)


def _loud() -> Gaussian:
    """Little noise."""
    return Gaussian(stddev=0.5, l2_sensitivity=1.0, neighbours="add_remove")


def test_the_same_place_in_every_epoch_is_one_place_of_all_its_releases() -> None:
    """Two epochs at the same secret step are one epoch with two releases a step; fresh steps cost less."""
    part = Release(label="code", mechanism=TABLE)
    again, fresh = Allocate(part=part, steps=3, epochs=2, positions="repeated"), Allocate(part=part, steps=3, epochs=2)
    together = Allocate(part=Repeat(part=part, times=2), steps=3)
    assert fold(again, "add_remove", (NAMED,)) == fold(together, "add_remove", (NAMED,))
    one, other = (bracket_delta(fold(tree, "add_remove", (NAMED,)), 0.5, QUICK) for tree in (fresh, again))
    assert one.upper < other.lower
