"""One composition dominates another one if and only if each loss finds one of its own that exceeds it."""

from itertools import combinations_with_replacement, islice, permutations, product

import pytest

import dpaudit as dp
from dpaudit.accounting import dominance
from dpaudit.accounting.dominance import dominates, exceeds
from dpaudit.model.losses import ApproximateLoss, Composition, LaplaceLoss, SimpleLoss, ThresholdLoss
from dpaudit.verifier import verify
from mechanisms import Laplace, PermuteAndFlip

KINDS: tuple[SimpleLoss, ...] = (
    *(LaplaceLoss(shift=size) for size in (1.0, 2.0, 3.0)),
    *(ThresholdLoss(shift=size) for size in (1.0, 2.0, 3.0)),
    *(ApproximateLoss(epsilon=size) for size in (1.0, 2.0)),
)
SETS = [
    *(losses for n in (1, 2) for losses in combinations_with_replacement(KINDS, n)),
    *islice(combinations_with_replacement(KINDS, 3), 0, None, 5),
]

NOISE = Laplace(scale=0.5, l1_sensitivity=1.0, neighbours="replace_one")
BESIDE = (
    Laplace(scale=1.0, l1_sensitivity=1.0, neighbours="replace_one"),
    PermuteAndFlip(scale=1.0, linf_sensitivity=1.0, neighbours="replace_one"),
)
UNLIKE_PARTS = dp.Parallel(
    parts=(
        dp.Release(label="noise", mechanism=NOISE),
        dp.Sequential(parts=tuple(dp.Release(label=each.name, mechanism=each) for each in BESIDE)),
    ),
    key="the region",
)
"""A record meets Laplace noise of loss 2, or Laplace noise of loss 1 and then a choice of loss 2."""


def matched(above: tuple[SimpleLoss, ...], below: tuple[SimpleLoss, ...]) -> bool:
    """Return the same by trying every assignment."""
    return any(all(map(exceeds, chosen, below)) for chosen in permutations(above, len(below)))


def composed(losses: tuple[SimpleLoss, ...]) -> Composition:
    return sum((Composition.of(loss) for loss in losses[1:]), start=Composition.of(losses[0]))


def above_each_loss_alone(above: Composition, below: Composition) -> bool:
    """The broken twin: no loss of `below` has more of its own kind above it, as if all kinds were one."""
    return all(
        dominance._exceeding(below.parts, (loss,)) <= dominance._exceeding(above.parts, (loss,))
        for loss, _ in below.parts
    )


def test_every_small_composition_is_dominated_as_an_assignment_shows() -> None:
    for above, below in product(SETS, SETS):
        assert dominates(composed(above), composed(below)) == matched(above, below), (above, below)


def test_a_part_of_two_losses_is_no_cheaper_than_the_sum_of_its_losses() -> None:
    """It was certified at epsilon 2: the noise of loss 2 exceeds either loss of the other part, and not both."""
    found = dp.certify(UNLIKE_PARTS, dp.Claim(epsilon=2.9, neighbours="replace_one"))
    assert found.verdict == "not_proved"
    assert found.tight.epsilon.upper == 3
    held = dp.certify(UNLIKE_PARTS, dp.Claim(epsilon=3.0, neighbours="replace_one"))
    assert held.verdict == "certified"
    assert verify(held.to_json()).accepted


def test_counting_above_single_losses_certifies_what_is_false(monkeypatch: pytest.MonkeyPatch) -> None:
    assert above_each_loss_alone(composed((KINDS[1],)), composed((KINDS[0], KINDS[4])))
    assert not matched((KINDS[1],), (KINDS[0], KINDS[4]))
    monkeypatch.setattr(dominance, "dominates", above_each_loss_alone)
    assert dp.certify(UNLIKE_PARTS, dp.Claim(epsilon=2.0, neighbours="replace_one")).verdict == "certified"
