"""Tables of two laws that are not symmetric: which answer the record gives may differ from query to query."""

from itertools import product
from typing import Any

import numpy as np
import pytest

from dpaudit import Release, Repeat, Subsample, bracket_delta, fold
from dpaudit.model.claim import Neighbours
from dpaudit.model.declaration import Scheme
from dpaudit.model.losses import DiscreteLoss, larger_order, smaller_order
from mechanisms import Finite
from tests.accounting.amplification.named_pairs import NAMED
from tests.accounting.laws import Law, delta_of, together

FIRST, SECOND, RATE = (0.6, 0.2, 0.2), (0.2, 0.3, 0.5), 0.25
LAWS = np.array([FIRST, SECOND])
SCHEMES: list[tuple[Neighbours, Scheme, Neighbours]] = [
    ("add_remove", "poisson", "add_remove"),
    ("zero_out", "poisson", "zero_out"),
    ("replace_one", "poisson", "add_remove"),
    ("replace_one", "without_replacement", "replace_one"),
    ("add_remove", "without_replacement", "replace_one"),
]


def table(neighbours: Neighbours, label: str = "code") -> Release:
    """Return a release of a table of which a swap of outcomes makes no symmetry."""
    return Release(label=label, mechanism=Finite(first=FIRST, second=SECOND, neighbours=neighbours))


def sample(neighbours: Neighbours, scheme: Scheme = "poisson") -> Subsample:
    """Return a sample of the table."""
    sizes: dict[str, Any] = {} if scheme == "poisson" else {"population": 16, "batch_size": 4}
    return Subsample(part=table(neighbours), rate=RATE, scheme=scheme, **sizes)


def sampled(orders: tuple[int, ...]) -> tuple[Law, Law]:
    """Return the laws of all outputs with the record and without it, each step with the law that the record has."""
    absent = [LAWS[1 - order] for order in orders]
    present = [(1 - RATE) * LAWS[1 - order] + RATE * LAWS[order] for order in orders]
    return together(present), together(absent)


@pytest.mark.parametrize("times", [1, 4])
@pytest.mark.parametrize(("neighbours", "scheme", "inside"), SCHEMES)
def test_both_sides_of_a_sample_hold_every_order(
    neighbours: Neighbours, scheme: Scheme, inside: Neighbours, times: int
) -> None:
    """From above every choice of orders, step by step; from below the smaller of one order in all, or nearly."""
    form = fold(Repeat(part=sample(inside, scheme), times=times), neighbours, (NAMED,))
    for epsilon, share in ((0.05, 0.85), (0.2, 0.85), (0.5, 0.0)):
        found = bracket_delta(form, epsilon)
        deltas = {orders: delta_of(*sampled(orders), epsilon) for orders in product((0, 1), repeat=times)}
        assert max(deltas.values()) <= found.upper * (1 + 1e-12)
        if times == 1 and scheme == "without_replacement" and neighbours == "replace_one":
            assert found.upper == pytest.approx(max(deltas.values()), rel=1e-5)
        smaller = min(deltas[(0,) * times], deltas[(1,) * times])
        assert share * smaller <= found.lower <= smaller + 1e-12


def test_the_larger_order_is_the_larger_of_both_curves_and_the_smaller_one_below_both() -> None:
    """Random tables, outcomes of one law alone among them; twin: one order by itself exceeds the other somewhere."""
    rng = np.random.default_rng(3)
    exceeded = 0
    for _ in range(60):
        counts = rng.integers(0, 9, (2, int(rng.integers(2, 7)))) + 1 * (rng.random() < 0.5)
        counts[:, 0] += 1
        loss = Finite(first=tuple(map(float, counts[0])), second=tuple(map(float, counts[1])), neighbours="add_remove")
        both = (loss.attained_loss(), loss.attained_loss().reversed())
        least, largest = smaller_order(both[0]), larger_order(both[0])
        for epsilon in map(float, rng.uniform(-2, 2, 10)):
            heights = [order.hockey_stick(epsilon) for order in both]
            assert least.hockey_stick(epsilon) <= min(heights) + 1e-12
            assert largest.hockey_stick(epsilon) == pytest.approx(max(heights), abs=1e-12)
            exceeded += heights[0] > heights[1] + 1e-6
    assert exceeded > 50
    even = DiscreteLoss(atoms=((-1.0, 0.2689414213699951), (1.0, 0.7310585786300049)))
    assert smaller_order(even).hockey_stick(0.3) == pytest.approx(even.hockey_stick(0.3), rel=1e-12)
