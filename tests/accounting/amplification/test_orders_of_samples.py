"""Tables of two laws that are not symmetric: which answer the record gives may differ from query to query."""

import math
from collections.abc import Sequence
from dataclasses import replace
from functools import reduce
from itertools import product
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from dpaudit import Claim, Release, Repeat, Subsample, bracket_delta, bracket_epsilon, certify, fold, verify
from dpaudit.model.claim import Neighbours
from dpaudit.model.declaration import Declaration, Scheme
from mechanisms import Finite
from tests.accounting.amplification.named_pairs import NAMED

FIRST, SECOND, RATE = (0.6, 0.2, 0.2), (0.2, 0.3, 0.5), 0.25
Law = NDArray[np.float64]


def sample(neighbours: Neighbours, scheme: Scheme = "poisson", label: str = "code") -> Subsample:
    """A sampled table of two laws, of which a swap of outcomes makes no symmetry."""
    noise = Finite(first=FIRST, second=SECOND, neighbours=neighbours)
    known: dict[str, Any] = {"population": 16, "batch_size": 4} if scheme == "without_replacement" else {}
    return Subsample(part=Release(label=label, mechanism=noise), rate=RATE, scheme=scheme, **known)


def run(order: int, times: int) -> tuple[Law, Law]:
    """The laws of all outputs with the record and without it, the record having either the first law or the second."""
    laws = np.array([FIRST, SECOND])
    absent = laws[1 - order]
    present = (1 - RATE) * absent + RATE * laws[order]
    return outputs_of(present, times), outputs_of(absent, times)


def outputs_of(law: Law, times: int) -> Law:
    """The law of so many independent outputs."""
    whole: Law = np.ones(1)
    for _ in range(times):
        whole = np.asarray(np.outer(whole, law).ravel(), np.float64)
    return whole


def delta(pair: tuple[Law, Law], epsilon: float) -> float:
    """The larger sum of (P - e^epsilon Q)_+ of both orders of the neighbours."""
    return max(math.fsum(np.maximum(p - math.exp(epsilon) * q, 0.0).tolist()) for p, q in (pair, pair[::-1]))


def mixed(orders: tuple[int, ...]) -> tuple[Law, Law]:
    """The laws of all outputs where each step has its own order."""
    steps = [run(order, 1) for order in orders]
    return product_of([present for present, _ in steps]), product_of([absent for _, absent in steps])


def product_of(laws: Sequence[Law]) -> Law:
    """The law of independent outputs."""
    return reduce(lambda a, b: np.asarray(np.outer(a, b).ravel(), np.float64), laws, np.ones(1))


@pytest.mark.parametrize("neighbours", ["add_remove", "zero_out"])
def test_queries_may_change_the_order_in_every_step(neighbours: Neighbours) -> None:
    """Five steps: which answer the record gives may differ from step to step; no such run exceeds the upper end."""
    form = fold(Repeat(part=sample(neighbours), times=5), neighbours)
    for epsilon in (0.1, 0.3, 0.5):
        upper = bracket_delta(form, epsilon).upper
        found = max(delta(mixed(orders), epsilon) for orders in product((0, 1), repeat=5))
        assert found <= upper * (1 + 1e-12)


@pytest.mark.parametrize("neighbours", ["replace_one", "add_remove"])
def test_unsampled_queries_may_change_the_order(neighbours: Neighbours) -> None:
    """Two and four releases of a table: one order in each exceeds both orders for all, the broken twin."""
    noise = Finite(first=FIRST, second=SECOND, neighbours=neighbours)
    laws = np.array([FIRST, SECOND])
    for times, epsilon in ((2, 1.0), (4, 1.0), (4, 1.5)):
        form = fold(Repeat(part=Release(label="code", mechanism=noise), times=times), neighbours)
        found = {
            orders: delta(
                (product_of(list(laws[list(orders)])), product_of(list(laws[[1 - k for k in orders]]))), epsilon
            )
            for orders in product((0, 1), repeat=times)
        }
        assert max(found.values()) <= bracket_delta(form, epsilon).upper * (1 + 1e-12)
        assert max(found.values()) > max(found[(0,) * times], found[(1,) * times]) * 1.0005


@pytest.mark.parametrize("neighbours", ["replace_one", "add_remove"])
def test_a_sample_of_fixed_size_takes_the_larger_order(neighbours: Neighbours) -> None:
    """One step meets the larger order; which one a record attains is not known, so that the smaller one is below."""
    tree = Repeat(part=sample("replace_one", "without_replacement"), times=4)
    once, many = fold(tree.part, neighbours), fold(tree, neighbours, (NAMED,))
    for epsilon in (0.1, 0.3):
        truth = max(delta(run(order, 1), epsilon) for order in (0, 1))
        assert bracket_delta(once, epsilon).upper == pytest.approx(truth, rel=1e-5)
    found = bracket_delta(many, 0.4)
    assert found.upper >= max(delta(run(order, 4), 0.4) for order in (0, 1)) * (1 - 1e-12)
    assert 0 < found.lower <= min(delta(run(order, 4), 0.4) for order in (0, 1)) * (1 + 1e-12)


TREES: dict[str, tuple[Declaration, Neighbours]] = {
    "poisson": (sample("add_remove"), "add_remove"),
    "replaced": (sample("add_remove"), "replace_one"),
    "fixed size": (sample("replace_one", "without_replacement"), "replace_one"),
    "drawn with replacement": (
        replace(sample("replace_one"), scheme="with_replacement", population=16, batch_size=4),
        "replace_one",
    ),
    "fixed size, removed": (sample("replace_one", "without_replacement"), "add_remove"),
}


@pytest.mark.parametrize("case", TREES)
def test_the_checker_follows_every_order(case: str) -> None:
    """Certificates just above the upper end are accepted, those of another rate are not."""
    part, neighbours = TREES[case]
    tree = Repeat(part=part, times=5)
    edge = bracket_epsilon(fold(tree, neighbours), 1e-3).upper
    text = certify(tree, Claim(epsilon=round(edge * 1.02, 4), delta=1e-3, neighbours=neighbours)).to_json()
    assert verify(text).accepted, verify(text)
    assert not verify(text.replace('"rate": 0.25', '"rate": 0.2')).accepted
