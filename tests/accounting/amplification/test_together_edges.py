"""Several releases in one sample at the edges: disjoint tables, bounded noise, and scales that are nearly equal."""

import math
from itertools import product

import numpy as np
import pytest

from dpaudit import Certificate, Claim, Condition, Release, Sequential, Subsample, certify
from dpaudit.model.mechanism import Mechanism
from dpaudit.verifier import verify
from mechanisms import DiscreteLaplace, Finite, TruncatedDiscreteGaussian


def _certified(rate: float, epsilon: float, delta: float, *mechanisms: Mechanism) -> Certificate:
    """The certificate of mechanisms on one sample, all of which one record moves."""
    parts = tuple(Release(label=f"r{i}", mechanism=mechanism) for i, mechanism in enumerate(mechanisms))
    moved = Condition(
        kind="attained", about=tuple(part.label for part in parts), text="One record moves all.", status="checked"
    )
    claim = Claim(epsilon=epsilon, delta=delta, neighbours="replace_one", unit="one person")
    return certify(Subsample(part=Sequential(parts=parts), rate=rate), claim, conditions=(moved,))


def _table(first: tuple[float, ...], second: tuple[float, ...]) -> Finite:
    """A table for a record that is added."""
    return Finite(first=first, second=second, neighbours="add_remove")


def _noise(scale: float, move: int) -> DiscreteLaplace:
    """Integer Laplace noise for a record that is added."""
    return DiscreteLaplace(scale=scale, l1_sensitivity=move, neighbours="add_remove")


def _bounded(stddev: float, cut: float) -> TruncatedDiscreteGaussian:
    """Bounded integer noise for a record that is added."""
    return TruncatedDiscreteGaussian(stddev=stddev, l2_sensitivity=1, cut=cut, neighbours="add_remove")


@pytest.mark.parametrize("rate", [0.3, 1.0])
def test_tables_that_share_no_outcome_are_read_by_the_checker(rate: float) -> None:
    """Each outcome tells the law: delta is the rate."""
    apart = _table((4, 6, 0), (0, 0, 5))
    for others in ((apart,), (_noise(5.0, 2),)):
        certificate = _certified(rate, 1.0, 1e-6, apart, *others)
        assert math.isclose(certificate.tight.delta.upper, rate, rel_tol=1e-9)
        assert verify(certificate.to_json()).complaints == ()


def test_rounding_of_a_table_is_no_mass_at_infinity() -> None:
    """Where both orders of a table may be the record's, the least of the largest losses is all that is attained."""
    rate, tables = 0.7, (((8.0, 1.0), (5.0, 8.0)), ((1.0, 7.0), (5.0, 2.0)))
    certificate = _certified(rate, 0.1, 0.0, *(_table(*laws) for laws in tables))
    laws = [[np.array(law) / sum(law) for law in table] for table in tables]
    least = math.inf
    for orders in product((0, 1), repeat=2):
        ratios = [table[1 - order] / table[order] for table, order in zip(laws, orders, strict=True)]
        losses = np.log(1 - rate + rate * np.outer(*ratios))
        least = min(least, float(np.abs(losses).max()))
    assert certificate.tight.epsilon.lower <= least
    assert math.isclose(certificate.tight.epsilon.lower, least, rel_tol=1e-9)
    assert verify(certificate.to_json()).accepted


def test_a_table_that_one_law_leaves_does_not_make_epsilon_infinite() -> None:
    """Its mass at infinity belongs to one order, which may not be the record's; rounding gives the other one none."""
    certificate = _certified(0.3, 0.5, 1e-30, _noise(1 + 3e-12, 2), _table((8, 0), (3, 5)), _table((8, 3), (3, 3)))
    assert certificate.tight.epsilon.lower < 20
    assert verify(certificate.to_json()).complaints == ()


def test_bounded_noise_beside_a_table_keeps_both_masses_at_infinity() -> None:
    """Both a record and its opposite are met where the empty sample has no output."""
    certificate = _certified(0.5, 1.0, 1e-6, _bounded(1.0, 2.0), _table((4, 6), (8, 5)))
    assert 0 < certificate.tight.delta.lower <= certificate.tight.delta.upper < 1
    assert verify(certificate.to_json()).complaints == ()


def test_bounded_noise_that_tells_nearly_all_is_answered() -> None:
    """Atoms far from 0 keep both laws' sums when the largest loss is rounded outwards."""
    certificate = _certified(1.0, 1.0, 0.0, _bounded(0.5, 3.0), _bounded(0.5, 3.0))
    assert 0.98 < certificate.tight.delta.lower <= certificate.tight.delta.upper < 1
    assert verify(certificate.to_json()).complaints == ()


def test_a_mass_at_infinity_of_both_laws_is_the_same_from_both_sides() -> None:
    """A difference of large sums would be off by 1e-13 of it, and the checker's two sides would cross."""
    table = _table((6, 5), (7, 2))
    certificate = _certified(0.1, 2.0, 1e-30, table, table, _bounded(1.0, 3.0))
    assert certificate.tight.epsilon.lower == math.inf
    assert verify(certificate.to_json()).complaints == ()


@pytest.mark.parametrize("gap", [3e-13, 3e-12, 1e-11, 1e-9])
def test_nearly_equal_scales_are_told_apart_by_the_checker(gap: float) -> None:
    """At epsilon 0 also losses of 1e-11 count; an end that is moved is still told."""
    certificate = _certified(0.01, 0.0, 0.0, _noise(1.0, 2), _noise(1 + gap, 1))
    assert verify(certificate.to_json()).complaints == ()
