"""Discretised loss distributions: what leaves dominates, what dp-accounting makes of it, and what comes back."""

import math

import pytest

from dpaudit import Release, Repeat, Stated, Subsample, UnsupportedError, bracket_delta, fold
from dpaudit.interchange.loss_distribution import LossDistribution, dominating_distribution, from_pld, to_pld
from dpaudit.model.declaration import Declaration
from mechanisms import Gaussian, Laplace

NORMAL = Release(label="sum", mechanism=Gaussian(stddev=2.0, l2_sensitivity=1.0, neighbours="add_remove"))
DOUBLE = Release(label="count", mechanism=Laplace(scale=2.0, l1_sensitivity=1.0, neighbours="add_remove"))
BOX = Stated(epsilon=0.4, delta=1e-6, source="a vendor")


@pytest.mark.parametrize(
    "node", [NORMAL, Repeat(part=DOUBLE, times=5), Subsample(part=NORMAL, rate=0.1), BOX], ids=["n", "l", "s", "b"]
)
def test_what_leaves_dominates_and_is_close(node: Declaration) -> None:
    """At multiples of the width and between them, never below the proved curve, and within four percent."""
    form = fold(node, "add_remove")
    found = dominating_distribution(form, 0.02)
    for place in (0, 1, 2.5, 7, 10.5):
        epsilon = 0.02 * place
        bracket = bracket_delta(form, epsilon)
        assert found.delta(epsilon) >= bracket.lower * (1 - 1e-12)
        assert found.delta(epsilon) <= bracket.upper * 1.04 + 1e-12
    mean = math.fsum(mass for _, mass in found.masses) + found.infinite_mass
    assert mean == pytest.approx(1.0, abs=1e-7)


def test_dp_accounting_composes_what_leaves() -> None:
    """Ten copies composed by dp-accounting are not below ours, and come within two percent."""
    pytest.importorskip("dp_accounting")
    found = dominating_distribution(fold(DOUBLE, "add_remove"), 0.005)
    theirs = to_pld(found).self_compose(10).get_delta_for_epsilon(1.0)
    ours = bracket_delta(fold(Repeat(part=DOUBLE, times=10), "add_remove"), 1.0)
    assert ours.lower <= theirs <= ours.upper * 1.02


def test_what_leaves_comes_back() -> None:
    """Masses survive the journey through dp-accounting; an optimistic estimate is refused."""
    pytest.importorskip("dp_accounting")
    from dp_accounting.pld import privacy_loss_distribution

    found = dominating_distribution(fold(DOUBLE, "add_remove"), 0.05)
    removed, added = from_pld(to_pld(found))
    assert removed == added
    for epsilon in (0.0, 0.21, 0.4):
        assert removed.delta(epsilon) == pytest.approx(found.delta(epsilon), rel=1e-9)
    hopeful = privacy_loss_distribution.from_laplace_mechanism(2.0, pessimistic_estimate=False)
    with pytest.raises(UnsupportedError, match="optimistic"):
        from_pld(hopeful)


def test_what_is_no_distribution_is_refused() -> None:
    """Negative masses, sums above 1, a width of 0, and too fine a width."""
    for masses in (((0, -0.1),), ((0, 0.7), (1, 0.7))):
        with pytest.raises(ValueError, match="Expected masses"):
            LossDistribution(width=0.1, masses=masses)
    with pytest.raises(ValueError, match="width"):
        LossDistribution(width=0.0, masses=((0, 1.0),))
    with pytest.raises(UnsupportedError, match="multiples"):
        dominating_distribution(fold(NORMAL, "add_remove"), 1e-6)


def test_missing_mass_counts_as_infinite() -> None:
    """A law of which a tenth is nowhere bounds nothing below delta .1; a whole one is left as it is."""
    assert LossDistribution(width=0.1, masses=((0, 0.9),)).delta(50.0) == pytest.approx(0.1)
    assert LossDistribution(width=0.1, masses=((0, 0.5),), infinite_mass=0.25).infinite_mass == 0.5
    assert LossDistribution(width=0.1, masses=((0, 0.5), (1, 0.5))).infinite_mass == 0
