"""A sampled law that is not symmetric has one order for a whole run where the relation has one."""

import math

import numpy as np
import pytest
from numpy.typing import NDArray

from dpaudit import Claim, Release, Repeat, Sequential, Subsample, bracket_delta, bracket_epsilon, certify, fold, verify
from dpaudit.accounting.adaptive_choice import join
from dpaudit.accounting.normal_form import NormalForm
from dpaudit.engines import QUICK
from dpaudit.model.claim import Neighbours
from dpaudit.model.declaration import Declaration, Scheme
from mechanisms import Finite

FIRST, SECOND, RATE = (0.6, 0.2, 0.2), (0.2, 0.3, 0.5), 0.25
Law = NDArray[np.float64]


def sample(neighbours: Neighbours, scheme: Scheme = "poisson", label: str = "code") -> Subsample:
    """A sampled table of two laws, of which a swap of outcomes makes no symmetry."""
    noise = Finite(first=FIRST, second=SECOND, neighbours=neighbours)
    return Subsample(part=Release(label=label, mechanism=noise), rate=RATE, scheme=scheme)


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


@pytest.mark.parametrize("neighbours", ["add_remove", "zero_out"])
def test_the_larger_of_both_orders_is_taken_after_composition(neighbours: Neighbours) -> None:
    """Six steps: the upper end is the larger sum over all outputs; a choice in every step, the twin, lies above it."""
    form = fold(Repeat(part=sample(neighbours), times=6), neighbours)
    for epsilon in (0.1, 0.5, 1.0):
        truth = max(delta(run(order, 6), epsilon) for order in (0, 1))
        found = bracket_delta(form, epsilon).upper
        assert truth * (1 - 1e-12) <= found <= truth * (1 + 2e-3)


def test_a_choice_in_every_step_is_looser() -> None:
    """The twin: forty steps, each with the order that is worse there, cost 1 % more."""
    fixed = fold(Repeat(part=sample("add_remove"), times=40), "add_remove")
    joined = join(fold(sample("add_remove"), "add_remove").upper) * 40
    chosen = NormalForm(upper=(joined,), lower=(joined,))
    assert bracket_epsilon(chosen, 1e-3, QUICK).upper > bracket_epsilon(fixed, 1e-3, QUICK).upper * 1.01


def test_two_queries_may_have_different_orders() -> None:
    """Two labels: the four combinations, of which the enumerated ones never exceed the upper end."""
    tree = Sequential(parts=(sample("add_remove", label="a"), Repeat(part=sample("add_remove", label="b"), times=2)))
    form = fold(tree, "add_remove")
    assert len(form.upper) == 4
    for epsilon in (0.1, 0.5):
        upper = bracket_delta(form, epsilon).upper
        for one in (0, 1):
            for two in (0, 1):
                pair = [np.outer(p, q).ravel() for p, q in zip(run(one, 1), run(two, 2), strict=True)]
                assert delta((pair[0], pair[1]), epsilon) <= upper * (1 + 1e-12)


@pytest.mark.parametrize("neighbours", ["replace_one", "add_remove"])
def test_a_sample_of_fixed_size_takes_the_larger_order(neighbours: Neighbours) -> None:
    """One step meets the larger order; which one a record and the others attain is not known, and nothing is below."""
    tree = Repeat(part=sample("replace_one", "without_replacement"), times=4)
    once, many = fold(tree.part, neighbours), fold(tree, neighbours)
    for epsilon in (0.1, 0.3):
        truth = max(delta(run(order, 1), epsilon) for order in (0, 1))
        assert bracket_delta(once, epsilon).upper == pytest.approx(truth, rel=1e-5)
    found = bracket_delta(many, 0.4)
    assert found.upper >= max(delta(run(order, 4), 0.4) for order in (0, 1)) * (1 - 1e-12)
    assert found.lower == 0


TREES: dict[str, tuple[Declaration, Neighbours]] = {
    "poisson": (sample("add_remove"), "add_remove"),
    "replaced": (sample("add_remove"), "replace_one"),
    "fixed size": (sample("replace_one", "without_replacement"), "replace_one"),
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
