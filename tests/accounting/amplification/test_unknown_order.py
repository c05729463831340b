"""Tables that are not symmetric, from below: what is attained whichever law the record has."""

import math
from functools import reduce
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from dpaudit import Allocate, Claim, Release, Repeat, Sequential, Subsample, bracket_delta, certify, fold, verify
from dpaudit.model.claim import Neighbours
from dpaudit.model.declaration import Declaration, Scheme
from dpaudit.model.losses import DiscreteLoss, smaller_order
from mechanisms import Finite
from tests.accounting.amplification.named_pairs import NAMED

FIRST, SECOND, RATE = (0.6, 0.2, 0.2), (0.2, 0.3, 0.5), 0.25
Law = NDArray[np.float64]
SCHEMES: list[tuple[Neighbours, Scheme, Neighbours]] = [
    ("add_remove", "poisson", "add_remove"),
    ("zero_out", "poisson", "zero_out"),
    ("replace_one", "poisson", "add_remove"),
    ("replace_one", "without_replacement", "replace_one"),
    ("add_remove", "without_replacement", "replace_one"),
]


def delta(first: Law, second: Law, epsilon: float) -> float:
    """The larger sum of (P - e^epsilon Q)_+ of both orders."""
    return max(float(np.maximum(p - math.exp(epsilon) * q, 0.0).sum()) for p, q in ((first, second), (second, first)))


def product_of(laws: list[Law]) -> Law:
    """The law of independent outputs."""
    return reduce(lambda one, two: np.outer(one, two).ravel(), laws)


def attained(times: int, epsilon: float) -> list[float]:
    """Delta of the sampled record against a sample without it, where it has the first law, and the second."""
    found = []
    for one, other in ((FIRST, SECOND), (SECOND, FIRST)):
        present, absent = (1 - RATE) * np.array(other) + RATE * np.array(one), np.array(other)
        found.append(delta(product_of([present] * times), product_of([absent] * times), epsilon))
    return found


@pytest.mark.parametrize("times", [1, 4])
@pytest.mark.parametrize(("neighbours", "scheme", "inside"), SCHEMES)
def test_samples_have_a_lower_side_in_either_order(
    neighbours: Neighbours, scheme: Scheme, inside: Neighbours, times: int
) -> None:
    """The lower end is at most what either order attains, and at least 85 % of the smaller one; before, it was 0."""
    noise = Finite(first=FIRST, second=SECOND, neighbours=inside)
    sizes: dict[str, Any] = {"population": 16, "batch_size": 4} if scheme == "without_replacement" else {}
    step = Subsample(part=Release(label="code", mechanism=noise), rate=RATE, scheme=scheme, **sizes)
    form = fold(Repeat(part=step, times=times), neighbours, (NAMED,))
    for epsilon in (0.05, 0.2):
        found = bracket_delta(form, epsilon)
        assert 0.85 * min(attained(times, epsilon)) <= found.lower <= min(attained(times, epsilon)) + 1e-12
        assert max(attained(times, epsilon)) <= found.upper + 1e-12


def test_the_smaller_order_lies_below_both_curves() -> None:
    """Random tables, outcomes of one law alone among them; twin: one order by itself exceeds the other somewhere."""
    rng = np.random.default_rng(3)
    exceeded = 0
    for _ in range(60):
        counts = rng.integers(0, 9, (2, int(rng.integers(2, 7)))) + 1 * (rng.random() < 0.5)
        counts[:, 0] += 1
        loss = Finite(first=tuple(map(float, counts[0])), second=tuple(map(float, counts[1])), neighbours="add_remove")
        both = (loss.attained_loss(), loss.attained_loss().reversed())
        least = smaller_order(both[0])
        for epsilon in map(float, rng.uniform(-2, 2, 10)):
            heights = [order.hockey_stick(epsilon) for order in both]
            assert least.hockey_stick(epsilon) <= min(heights) + 1e-12
            exceeded += heights[0] > heights[1] + 1e-6
    assert exceeded > 50
    even = DiscreteLoss(atoms=((-1.0, 0.2689414213699951), (1.0, 0.7310585786300049)))
    assert smaller_order(even).hockey_stick(0.3) == pytest.approx(even.hockey_stick(0.3), rel=1e-12)


def test_two_tables_may_have_opposite_orders() -> None:
    """A pair moves both queries, nobody said in which direction: the lower end holds for every choice of orders."""
    tables = (FIRST, SECOND), (FIRST, (0.3, 0.3, 0.4))
    parts = (
        Release(label=f"t{i}", mechanism=Finite(first=one, second=two, neighbours="add_remove"))
        for i, (one, two) in enumerate(tables)
    )
    form = fold(Sequential(parts=tuple(parts)), "add_remove", (NAMED,))
    for epsilon in (0.05, 0.5):
        turned = []
        for flip in (0, 1):
            first, second = (
                product_of([np.array(tables[0][side]), np.array(tables[1][abs(side - flip)])]) for side in (0, 1)
            )
            turned.append(delta(first, second, epsilon))
        assert 0 < bracket_delta(form, epsilon).lower <= min(turned) + 1e-12
        assert turned[0] > turned[1] * 1.02


def trees() -> dict[str, Declaration]:
    """A sample, secret steps, and two tables of a pair that a run names."""
    noise = Finite(first=FIRST, second=SECOND, neighbours="add_remove")
    release = Release(label="code", mechanism=noise)
    return {
        "sample": Subsample(part=release, rate=RATE),
        "secret steps": Allocate(part=release, steps=4),
        "two tables": Sequential(parts=(release, Release(label="other", mechanism=noise))),
    }


@pytest.mark.parametrize("case", trees())
def test_the_checker_follows_both_orders(case: str) -> None:
    """A false claim is refuted, the checker agrees, and does not accept a larger lower end."""
    certificate = certify(trees()[case], Claim(epsilon=0.1, delta=1e-3, neighbours="add_remove"), conditions=(NAMED,))
    assert certificate.verdict == "refuted"
    text = certificate.to_json()
    assert verify(text).accepted, verify(text)
    raised = certificate.tight.delta.lower * 1.4
    assert not verify(text.replace(repr(certificate.tight.delta.lower), repr(raised))).accepted
