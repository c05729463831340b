"""A replaced record at one secret step: the best split bounds it, and the sum of the answers is attained."""

import math

import numpy as np
import pytest
from scipy.special import ndtr

from dpaudit import Allocate, Release, bracket_delta, bracket_epsilon, fold
from mechanisms import Gaussian
from tests.accounting.amplification.named_pairs import NAMED


def tree(stddev: float, steps: int, epochs: int = 1) -> Allocate:
    """One secret step of a noisy sum, the same one in every epoch."""
    noise = Gaussian(stddev=stddev, l2_sensitivity=1.0, neighbours="add_remove")
    return Allocate(part=Release(label="sum", mechanism=noise), steps=steps, epochs=epochs, positions="repeated")


def truth(move: float, epsilon: float) -> float:
    """Delta of two opposite records at one of two steps, by a fine sum over both outputs."""
    z = (np.arange(-900, 900) + 0.5) / 100
    edges = np.append(z - 0.005, z[-1] + 0.005)
    still, up, down = (np.diff(ndtr(edges - shift)) for shift in (0.0, move, -move))
    first = (np.outer(up, still) + np.outer(still, up)) / 2
    second = (np.outer(down, still) + np.outer(still, down)) / 2
    return float(np.maximum(first - math.exp(epsilon) * second, 0.0).sum())


@pytest.mark.parametrize("move", [0.5, 1.0])
def test_opposite_records_lie_in_the_bracket(move: float) -> None:
    """Two steps; twin: one removed record alone, which the upper end must exceed."""
    form = fold(tree(1 / move, 2), "replace_one", (NAMED,))
    removed = fold(tree(1 / move, 2), "add_remove")
    for epsilon in (0.1, 0.5, 1.0):
        exact, found = truth(move, epsilon), bracket_delta(form, epsilon)
        assert found.lower <= exact * (1 + 1e-4)
        assert exact <= found.upper * (1 + 1e-4)
        assert bracket_delta(removed, epsilon).upper < exact


def test_secret_steps_help_a_replaced_record() -> None:
    """One of 100 steps, mu 1, delta 1e-5: 9.9973 where steps are known, 1.1264 where they are secret."""
    found = bracket_epsilon(fold(tree(1.0, 100), "replace_one", (NAMED,)), 1e-5)
    assert found.upper == pytest.approx(1.1264, abs=2e-3)
    assert found.lower == pytest.approx(0.7255, abs=2e-3)
    again = bracket_epsilon(fold(tree(2.0, 100, epochs=4), "replace_one", (NAMED,)), 1e-5)
    assert again.upper == pytest.approx(found.upper, abs=1e-6)
