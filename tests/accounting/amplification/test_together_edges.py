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
