"""A record at secret steps: several places of an epoch against all outcomes, and one place of a replaced record."""

import math
from itertools import combinations, product

import numpy as np
import pytest
from scipy.special import ndtr

from dpaudit import Allocate, Release, Repeat, bracket_delta, bracket_epsilon, fold
from dpaudit.accounting.accountant import bracket_delta as bracket_of
from dpaudit.accounting.normal_form import NormalForm
from dpaudit.engines import QUICK
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


def one_secret_step(stddev: float, steps: int, epochs: int = 1) -> Allocate:
    """One secret step of a noisy sum, the same one in every epoch."""
    noise = Gaussian(stddev=stddev, l2_sensitivity=1.0, neighbours="add_remove")
    return Allocate(part=Release(label="sum", mechanism=noise), steps=steps, epochs=epochs, positions="repeated")


def truth_of_opposites(move: float, epsilon: float) -> float:
    """Delta of two opposite records at one of two steps, by a fine sum over both outputs."""
    z = (np.arange(-900, 900) + 0.5) / 100
    edges = np.append(z - 0.005, z[-1] + 0.005)
    still, up, down = (np.diff(ndtr(edges - shift)) for shift in (0.0, move, -move))
    first = (np.outer(up, still) + np.outer(still, up)) / 2
    second = (np.outer(down, still) + np.outer(still, down)) / 2
    return float(np.maximum(first - math.exp(epsilon) * second, 0.0).sum())


@pytest.mark.parametrize("move", [0.5, 1.0])
def test_opposite_records_lie_in_the_bracket(move: float) -> None:
    """Two steps; twin: one removed record alone, which the upper end must exceed."""
    form = fold(one_secret_step(1 / move, 2), "replace_one", (NAMED,))
    removed = fold(one_secret_step(1 / move, 2), "add_remove")
    for epsilon in (0.1, 0.5, 1.0):
        exact, found = truth_of_opposites(move, epsilon), bracket_delta(form, epsilon)
        assert found.lower <= exact * (1 + 1e-4)
        assert exact <= found.upper * (1 + 1e-4)
        assert bracket_delta(removed, epsilon).upper < exact


def test_secret_steps_help_a_replaced_record() -> None:
    """One of 100 steps, mu 1, delta 1e-5: 9.9973 where steps are known, 1.1264 where they are secret."""
    found = bracket_epsilon(fold(one_secret_step(1.0, 100), "replace_one", (NAMED,)), 1e-5)
    assert found.upper == pytest.approx(1.1264, abs=2e-3)
    assert found.lower == pytest.approx(0.7255, abs=2e-3)
    again = bracket_epsilon(fold(one_secret_step(2.0, 100, epochs=4), "replace_one", (NAMED,)), 1e-5)
    assert again.upper == pytest.approx(found.upper, abs=1e-6)
