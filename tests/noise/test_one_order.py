"""Plug-in mechanisms whose loss differs between both orders: every query may choose which law the record has."""

import math
from dataclasses import dataclass, replace
from itertools import product
from typing import ClassVar, Self

import numpy as np
import pytest

from dpaudit import Claim, Release, Repeat, Sequential, bracket_delta, certify, fold, verify
from dpaudit.model.claim import Neighbours
from dpaudit.model.declaration import Declaration
from dpaudit.model.losses import DiscreteLoss
from dpaudit.model.mechanism import Array
from mechanisms import Exponential, OneSidedWishart, TreeAggregation
from tests.accounting.laws import one_way, together

LAWS = np.array([[0.6, 0.2, 0.2], [0.2, 0.3, 0.5]])


@dataclass(frozen=True, slots=True, kw_only=True)
class Coded:
    """A code of three outcomes for an answer of 0 or 1, as an author of a plug-in writes it."""

    name: ClassVar[str] = "coded"
    item_axes: ClassVar[int] = 0

    neighbours: Neighbours = "replace_one"
    one_order: bool = False

    def loss(self) -> DiscreteLoss:
        """Return the loss of the first law against the second one."""
        atoms = zip(np.log(LAWS[0] / LAWS[1]).tolist(), LAWS[0].tolist(), strict=True)
        return DiscreteLoss(atoms=tuple(atoms), one_order=self.one_order)

    def release(self, value: Array, rng: np.random.Generator) -> Array:
        """Return the answer itself, as no test draws."""
        return np.asarray(value)

    def log_density(self, output: Array, value: Array) -> Array:
        """Return nothing of use."""
        return np.zeros(np.shape(output))

    def scaled(self, factor: float) -> Self:
        """Return the same code."""
        return replace(self)


def delta_by(orders: tuple[int, ...], epsilon: float) -> float:
    """The sum of (P - e^epsilon Q)_+ of an adversary who picks an order in every query."""
    return one_way(together(LAWS[list(orders)]), together(LAWS[[1 - k for k in orders]]), epsilon)


def adaptive(rounds: int, epsilon: float) -> float:
    """The largest delta of adversaries whose next order follows from all outputs so far: the value of the game.

    It is sup sum (P - e^epsilon Q)_+, and P and Q grow by one factor each in every round, whatever was seen.
    """

    def best(p: float, q: float, left: int) -> float:
        if left == 0:
            return max(0.0, p - math.exp(epsilon) * q)
        sums = (sum(best(p * LAWS[k][i], q * LAWS[1 - k][i], left - 1) for i in range(len(LAWS[0]))) for k in (0, 1))
        return max(sums)

    return best(1.0, 1.0, rounds)


def tree(times: int, **fields: bool) -> Declaration:
    """So many releases of the code."""
    return Repeat(part=Release(label="code", mechanism=Coded(**fields)), times=times)  # type: ignore[arg-type]  # flags


@pytest.mark.parametrize("rounds", [1, 2, 4, 6])
def test_no_adaptive_adversary_exceeds_the_upper_side(rounds: int) -> None:
    """Orders picked by outputs are below. One order in all rounds, the broken twin, is exceeded by two and more."""
    beaten = 0
    for epsilon in (0.0, 0.4, 1.0, 1.5):
        game, upper = adaptive(rounds, epsilon), bracket_delta(fold(tree(rounds), "replace_one"), epsilon).upper
        assert game <= upper * (1 + 1e-12)
        assert game >= max(delta_by(orders, epsilon) for orders in product((0, 1), repeat=rounds)) - 1e-15
        beaten += game > bracket_delta(fold(tree(rounds, one_order=True), "replace_one"), epsilon).upper * (1 + 1e-9)
    assert (beaten > 0) == (rounds > 1)


def test_one_order_is_the_authors_word() -> None:
    """With it both sides meet the larger of both orders, each kept in all rounds."""
    form = fold(tree(4, one_order=True), "replace_one")
    for epsilon in (0.4, 1.0):
        truth = max(delta_by((k,) * 4, epsilon) for k in (0, 1))
        found = bracket_delta(form, epsilon)
        assert truth * (1 - 1e-6) <= found.lower <= truth * (1 + 1e-12)
        assert truth * (1 - 1e-12) <= found.upper <= truth * (1 + 1e-6)


@pytest.mark.parametrize("one_order", [False, True])
def test_the_checker_reads_the_law_of_both_orders_or_the_authors_word(one_order: bool) -> None:
    """Accepted both ways; a certificate without the author's word is rejected, sealed as it may be."""
    claim = Claim(epsilon=5.0, delta=1e-4, neighbours="replace_one")
    certificate = certify(tree(4, one_order=one_order), claim)
    assert verify(certificate.to_json()).accepted, verify(certificate.to_json())
    (row,) = certificate.to_dict()["declaration"]["part"]["mechanism"]["stated"]["upper"]
    assert row.get("one_order", False) == one_order
    assert verify(certificate.to_json().replace('"one_order": true', '"one_order": false')).accepted != one_order


def test_a_tree_and_a_sequence_of_a_plug_in_take_both_orders() -> None:
    """The leaf of a tree is met in many nodes."""
    leaf = Coded(neighbours="replace_one")
    nodes = TreeAggregation(horizon=8, leaf=leaf)
    both = Sequential(parts=(Release(label="a", mechanism=leaf), Release(label="b", mechanism=leaf)))
    for declared, rounds in ((Release(label="stream", mechanism=nodes), 4), (both, 2)):
        upper = bracket_delta(fold(declared, "replace_one"), 1.0).upper
        assert upper == pytest.approx(bracket_delta(fold(tree(rounds), "replace_one"), 1.0).upper, rel=1e-9)


def test_shipped_mechanisms_say_which_they_are() -> None:
    """Rounding hides the symmetry of a bounded range, which loses nothing at delta 0; one-sided noise has one order."""
    ranged = Exponential(epsilon=1.0, linf_sensitivity=1.0, neighbours="replace_one")
    assert ranged.loss().symmetric
    assert fold(Release(label="best", mechanism=ranged), "replace_one").upper[0].parts[0][0].infinite_mass == 0
    sided = OneSidedWishart(dimension=2, scale=1.0, trace_sensitivity=1.0, neighbours="add_remove").loss()
    assert sided.one_order
    assert not sided.symmetric
    even = DiscreteLoss(atoms=((0.7, 1 / (1 + math.exp(-0.7))), (-0.7, 1 / (1 + math.exp(0.7)))))
    assert even.symmetric
