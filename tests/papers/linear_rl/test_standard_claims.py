"""Claims 26 to 32 of the paper on linear reinforcement learning: tails of noise, and orders of matrices."""

import math

import numpy as np
import pytest
from scipy.stats import chi2

from dpaudit import Claim, Release, certify
from dpaudit.model.mechanism import Array
from mechanisms import Gaussian

_RUNS = 20_000
_ERRORS = 6.0
"""A share of runs may be above its probability by so many standard errors: 1e-9 a test."""


@pytest.mark.parametrize("alpha", [0.3, 0.05])
def test_noise_exceeds_the_printed_norms_no_more_often_than_claimed(alpha: float) -> None:
    """Claims 26, 28 and 29: at most a share alpha of draws; the twin, a sixth of the norm, far more often."""
    rng, d = np.random.default_rng(0), 4

    def symmetric(entries: Array) -> Array:
        upper = np.triu(entries)
        return upper + np.swapaxes(np.triu(entries, 1), -1, -2)

    normal = np.abs(np.linalg.eigvalsh(symmetric(rng.standard_normal((_RUNS, d, d))))).max(axis=1)
    vector = np.linalg.norm(rng.laplace(size=(_RUNS, d)), axis=1)
    square = rng.laplace(size=(_RUNS, d, d))
    matrix = np.abs(np.linalg.eigvalsh((square + np.swapaxes(square, 1, 2)) / 2)).max(axis=1)
    bounds = (
        (normal, 4 * math.sqrt(d) + 2 * math.log(1 / alpha)),
        (vector, math.sqrt(d) * math.log(d / alpha)),
        (matrix, 2 * d + 2 * math.sqrt(d * math.log(d / alpha)) + math.log(d / alpha)),
    )
    for norms, bound in bounds:
        assert (norms > bound).mean() <= alpha + _ERRORS * math.sqrt(alpha / _RUNS)
        assert (norms > bound / 6).mean() > alpha


@pytest.mark.parametrize("d", [1, 5, 50])
@pytest.mark.parametrize("alpha", [0.5, 1e-3, 1e-9])
def test_the_tail_of_chi_square_is_below_its_bound(d: int, alpha: float) -> None:
    """Claim 27: P(U > d + 2 sqrt(d ln(1/alpha)) + 2 ln(1/alpha)) <= alpha; without its last term it is above."""
    log = math.log(1 / alpha)
    assert chi2.sf(d + 2 * math.sqrt(d * log) + 2 * log, d) <= alpha
    if alpha < 0.5:
        assert chi2.sf(d + math.sqrt(d * log), d) > alpha


def test_larger_matrices_have_smaller_inverses_and_larger_determinants() -> None:
    """Claims 30 to 32 on random pairs A >= B: inverses, traces and determinants in order; forms by their ratio."""
    rng = np.random.default_rng(1)
    for _ in range(300):
        d = int(rng.integers(1, 6))
        root, more = rng.standard_normal((2, d, d))
        smaller = root @ root.T + 0.01 * np.eye(d)
        larger = smaller + more @ more.T
        gap = np.linalg.eigvalsh(np.linalg.inv(smaller) - np.linalg.inv(larger))
        assert gap.min() >= -1e-7 * max(1.0, gap.max())
        assert np.trace(larger) >= np.trace(smaller)
        ratio = np.linalg.det(larger) / np.linalg.det(smaller)
        assert ratio >= 1 - 1e-9
        x = rng.standard_normal(d)
        assert x @ larger @ x <= ratio * (x @ smaller @ x) * (1 + 1e-7)
    shrunk = np.diag([4.0, 0.25])  # the twin: determinants alone, without an order, bound no form
    assert np.linalg.det(shrunk) == 1 < shrunk[0, 0]


@pytest.mark.parametrize("epsilon", [0.01, 0.1, 0.5, 1.0])
@pytest.mark.parametrize("delta", [1e-3, 1e-5, 1e-10])
def test_the_printed_normal_noise_meets_its_claim_up_to_epsilon_one(epsilon: float, delta: float) -> None:
    """Appendix F.3: sqrt(2 ln(2 / delta)) / epsilon; a sixth of it does not."""
    stddev = math.sqrt(2 * math.log(2 / delta)) / epsilon
    claim = Claim(epsilon=epsilon, delta=delta, neighbours="replace_one")
    verdicts = [
        certify(Release(label="f", mechanism=Gaussian(stddev=s, l2_sensitivity=1.0, neighbours="replace_one")), claim)
        for s in (stddev, stddev / 6)
    ]
    assert [certificate.verdict for certificate in verdicts] == ["certified", "refuted"]
