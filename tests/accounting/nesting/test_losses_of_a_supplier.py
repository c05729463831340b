"""What a supplier's loss must be: that of one release, as records of one person change one after another."""

import json
import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
import pytest

import dpaudit as dp
from dpaudit.accounting.derivation.groups import chain
from dpaudit.accounting.normal_form import NormalForm
from dpaudit.errors import UnsupportedError
from dpaudit.model.claim import NEIGHBOURS, Neighbours
from dpaudit.model.losses import (
    ApproximateLoss,
    ChoiceLoss,
    ComposedLoss,
    Composition,
    GaussianLoss,
    LaplaceLoss,
    Loss,
)
from dpaudit.model.measures.claims import RenyiClaim, RhoClaim
from dpaudit.model.mechanism import Array
from mechanisms import DiscreteGaussian, Exponential, Finite, Gaussian, PermuteAndFlip, TreeAggregation
from tests.checker.forging import resealed

ODDS = 0.3
TWO = ComposedLoss(parts=((ApproximateLoss(epsilon=ODDS), 2),))
"""The loss of each pair of neighbours, as that of two coins; the mechanism has no coins."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Supplied:
    """A supplier's mechanism with a stated loss."""

    name: ClassVar[str] = "supplied"
    neighbours: Neighbours
    stated: Loss

    def loss(self) -> Loss:
        """Return what the supplier states."""
        return self.stated

    def release(self, value: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Return nothing new."""
        return value

    def log_density(self, output: np.ndarray, value: np.ndarray) -> np.ndarray:
        """Return nothing new."""
        return np.asarray(output - value)

    def scaled(self, factor: float) -> "Supplied":
        """Return the same."""
        return self


def declared(loss: Loss, relation: Neighbours) -> dp.Release:
    """Return a release of the supplier's mechanism."""
    return dp.Release(label="a", mechanism=Supplied(neighbours=relation, stated=loss))


def power(event: float) -> float:
    """Return the largest probability under the first law of an event of this probability under the second one."""
    odds = math.exp(ODDS)
    first = (odds / (1 + odds)) ** 2, 2 * odds / (1 + odds) ** 2
    ends = (0.0, first[0] / odds**2, first[0] / odds**2 + first[1], 1.0)
    return float(np.interp(event, ends, (0.0, first[0], sum(first), 1.0)))


def shown_by_two_records() -> float:
    """Return the total variation of three laws, of which each is as far from the next one as two coins allow."""
    events = (part / 10_000 for part in range(10_001))
    return max(power(power(event)) - event for event in events)


def test_two_records_show_more_than_two_coins_each_of_twice_the_odds() -> None:
    """A pair's loss as that of two coins says nothing of two records: .2977 is reached. Twin: each coin twice."""
    composed = chain(Composition.of(TWO), 2)
    twin = dp.bracket_delta(NormalForm(upper=(composed,), lower=(composed,)), 0.0).upper
    assert twin < 0.2914 < 0.2977 < shown_by_two_records()


@pytest.mark.parametrize("relation", NEIGHBOURS)
@pytest.mark.parametrize("loss", [TWO, ChoiceLoss(options=(GaussianLoss(mu=0.4), LaplaceLoss(shift=0.5)))])
def test_a_loss_of_several_parts_is_refused(loss: Loss, relation: Neighbours) -> None:
    """A plug-in states one loss. Gaussian parts are one shift, and two records shift twice as far."""
    with pytest.raises(UnsupportedError, match="a release of its own"):
        dp.fold(declared(loss, relation), relation)
    shifts = declared(ComposedLoss(parts=((GaussianLoss(mu=0.5), 4),)), relation)
    twice = dp.bracket_delta(dp.fold(dp.Group(part=shifts, size=2), relation), 1.0)
    assert twice.upper == pytest.approx(GaussianLoss(mu=2.0).hockey_stick(1.0))


Row = dict[str, Any]


def twice(row: Row) -> list[Row]:
    """Return a loss that is met twice."""
    return [row | {"times": 2}]


def in_two_rows(row: Row) -> list[Row]:
    """Return a loss in two rows."""
    return [row, row]


def as_an_option(row: Row) -> list[Row]:
    """Return a choice, of which an option is met twice."""
    return [{"loss": "choice", "times": 1, "options": twice(row)}]


@pytest.mark.parametrize("several", [twice, in_two_rows, as_an_option])
def test_the_checker_refuses_a_stated_loss_of_several_parts(several: Callable[[Row], list[Row]]) -> None:
    """A certificate whose plug-in states one coin is confirmed, and one whose plug-in states two coins is rejected."""
    claim = dp.Claim(epsilon=2.0, neighbours="replace_one")
    tree = dp.Group(part=declared(ApproximateLoss(epsilon=ODDS), "replace_one"), size=2)
    document = json.loads(dp.certify(tree, claim).to_json())
    assert dp.verify(json.dumps(document)).accepted
    stated = document["declaration"]["part"]["mechanism"]["stated"]
    stated["upper"] = several(stated["upper"][0])
    assert "a plug-in states" in str(dp.verify(resealed(document)))


SHIPPED: dict[str, Exponential | PermuteAndFlip | DiscreteGaussian] = {
    "exponential": Exponential(epsilon=0.5, linf_sensitivity=1.0, neighbours="replace_one"),
    "permute-and-flip": PermuteAndFlip(scale=4.0, linf_sensitivity=1.0, neighbours="replace_one"),
    "discrete Gaussian": DiscreteGaussian(stddev=5.0, l2_sensitivity=1, neighbours="replace_one"),
}
MEASURES = (
    RhoClaim(rho=1.0, neighbours="replace_one"),
    RenyiClaim(renyi=((2.0, 3.0),), neighbours="replace_one"),
)


@pytest.mark.parametrize("of", SHIPPED)
@pytest.mark.parametrize("claim", MEASURES)
def test_theorems_of_a_supplier_do_not_count(of: str, claim: RhoClaim | RenyiClaim) -> None:
    """A certificate carries laws, and no theorem about them: honest ones were rejected. The twin's end is smaller."""
    own = SHIPPED[of].loss()
    honest = dp.certify(declared(own, "replace_one"), claim)
    assert dp.verify(honest.to_json()).accepted
    twin = dp.certify(dp.Release(label="a", mechanism=SHIPPED[of]), claim)
    assert twin.tight.rows[0].upper < honest.tight.rows[0].upper


class Understated(Gaussian):
    """Noise of a shipped name, and a loss of its own that is a thousand times too small."""

    __slots__ = ()

    def loss(self) -> GaussianLoss:
        """Return what a thousand times the noise would lose."""
        return GaussianLoss(mu=self.l2_sensitivity / (1000 * self.stddev))


class Named(Understated):
    """The same with a name of its own."""

    __slots__ = ()

    name: ClassVar[str] = "understated"


@pytest.mark.parametrize("leaf", [True, False])
def test_a_shipped_name_has_the_shipped_law(leaf: bool) -> None:
    """A subclass with a loss of its own was certified. Twin: with a name of its own its loss is stated."""
    claim = dp.Claim(epsilon=0.5, delta=1e-5, neighbours="add_remove")
    verdicts = list[str]()
    for kind in (Understated, Named):
        noise = kind(stddev=1.0, l2_sensitivity=1.0, neighbours="add_remove")
        whole = TreeAggregation(horizon=4, leaf=noise) if leaf else noise
        try:
            verdicts.append(dp.certify(dp.Release(label="sum", mechanism=whole), claim).verdict)
        except UnsupportedError as refusal:
            verdicts.append(str(refusal))
    assert "Give it a `name` of its own" in verdicts[0]
    assert verdicts[1] == "stated"


class Even(Finite):
    """A table under a shipped name, whose loss is computed from two equal laws."""

    def _laws(self) -> tuple[tuple[Fraction, ...], tuple[Fraction, ...]]:
        return (Fraction(1, 2),) * 2, (Fraction(1, 2),) * 2


@dataclass(frozen=True, kw_only=True)
class Labelled(Finite):
    """A table with a field that no checker knows, and a release of its own."""

    place: str = "here"

    def release(self, value: Array, rng: np.random.Generator) -> Array:
        """Return what the shipped release draws."""
        return super().release(value, rng)


class Counting(Finite):
    """A table whose release is written anew."""

    def release(self, value: Array, rng: np.random.Generator) -> Array:
        """Return what the shipped release draws."""
        return super().release(value, rng)


@pytest.mark.parametrize(("kind", "refused"), [(Even, True), (Labelled, True), (Counting, False)])
def test_a_shipped_name_has_the_shipped_members_and_fields(kind: type[Finite], refused: bool) -> None:
    """Epsilon 2.2 was certified as 0 by a replaced helper; a further field made a certificate that no checker reads."""
    table = dp.Release(label="a", mechanism=kind(first=(0.9, 0.1), second=(0.1, 0.9), neighbours="replace_one"))
    claim = dp.Claim(epsilon=2.5, neighbours="replace_one")
    if refused:
        with pytest.raises(UnsupportedError, match="Give it a `name` of its own"):
            dp.certify(table, claim)
        return
    assert dp.verify(dp.certify(table, claim).to_json()).accepted
