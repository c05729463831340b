"""The checker leaves out an alternative only where another one has a loss above each of its losses."""

from collections import Counter
from itertools import combinations_with_replacement, islice, permutations, product

import pytest

import dpaudit as dp
from dpaudit.verifier import losses, verify
from dpaudit.verifier.losses import Loss, Multiset
from mechanisms import DiscreteLaplace, Laplace, PermuteAndFlip

KINDS: tuple[Loss, ...] = (
    *(("laplace", size) for size in (1.0, 2.0, 3.0)),
    *(("laplace", size, "threshold") for size in (1.0, 2.0, 3.0)),
    *(losses.black_box(size) for size in (1.0, 2.0)),
)
SETS = [
    *(chosen for n in (1, 2) for chosen in combinations_with_replacement(KINDS, n)),
    *islice(combinations_with_replacement(KINDS, 3), 0, None, 5),
]


def matched(above: tuple[Loss, ...], below: tuple[Loss, ...]) -> bool:
    """Return the same by trying every assignment."""
    return any(all(map(losses._exceeds, chosen, below)) for chosen in permutations(above, len(below)))


def above_each_loss_alone(a: Multiset, b: Multiset) -> bool:
    """The broken twin: it counts above each loss alone, as if Laplace noise and choices were one family."""

    def exceeding(found: Multiset, least: Loss) -> int:
        return sum(n for loss, n in found.items() if losses._exceeds(loss, least))

    return all(exceeding(b, loss) <= exceeding(a, loss) for loss in b)


def test_every_small_multiset_is_dominated_as_an_assignment_shows() -> None:
    for above, below in product(SETS, SETS):
        assert losses._dominates(Counter(above), Counter(below)) == matched(above, below), (above, below)
    one, two = (KINDS[1],), (KINDS[0], KINDS[4])
    assert above_each_loss_alone(Counter(one), Counter(two))
    assert not matched(one, two)


def released(label: str, scale: float) -> dp.Release:
    choice = PermuteAndFlip(scale=scale, linf_sensitivity=1.0, neighbours="replace_one")
    return dp.Release(label=label, mechanism=choice)


def unlike() -> dp.Repeat:
    """A choice, or in the other part a choice of less loss and noise of more, many times over."""
    noise = dp.Release(label="noise", mechanism=Laplace(scale=10.0, l1_sensitivity=1.0, neighbours="replace_one"))
    parts = (released("first", 48.0), dp.Sequential(parts=(released("second", 68.0), noise)))
    return dp.Repeat(part=dp.Parallel(parts=parts, key="the region"), times=20)


def persons() -> dp.Group:
    """An array of cells of which a person fills three, and one record moves inside a cell no further than out of it."""
    inside, touched = (
        dp.Release(label="bins", mechanism=DiscreteLaplace(scale=0.5, l1_sensitivity=2, neighbours=neighbours))
        for neighbours in ("replace_one", "add_remove")
    )
    return dp.Group(part=dp.Cells(inside=inside, touched=touched), size=3)


@pytest.mark.parametrize("declaration", [unlike(), persons()], ids=["a choice beside noise", "three records in cells"])
def test_what_a_dominated_alternative_adds_is_not_asked_for(
    declaration: dp.Repeat | dp.Group, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of both declarations one alternative counts: with all of them the checker did not confirm the certificate."""
    found = dp.certify(declaration, dp.Claim(epsilon=1.0, delta=1e-5, neighbours="replace_one")).to_json()
    assert verify(found).accepted
    monkeypatch.setattr(losses, "_dominates", lambda a, b: a == b)
    assert verify(found).unconfirmed
