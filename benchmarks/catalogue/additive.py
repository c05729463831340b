"""Noise added to one number: correct, too small, one-sided, discrete, truncated."""

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from scipy.special import ndtr

from audits.bounds.bisection import bisected
from benchmarks.catalogue.entry import Entry, pure
from benchmarks.catalogue.law import Law, binned, laplace_law
from dpaudit import Claim
from dpaudit.model.mechanism import Array


def _noisy(law: str, scale: float, data: Any, rng: np.random.Generator, n_runs: int) -> Array:
    """Return one number with noise of a law that numpy draws: laplace, normal, or one-sided exponential."""
    return data + getattr(rng, law)(scale=scale, size=n_runs)


def _uniform(width: float, data: Any, rng: np.random.Generator, n_runs: int) -> Array:
    """Return bounded noise on one number, whose ends show the answer."""
    return data + rng.uniform(-width, width, n_runs)


def _geometric(ratio: float, data: Any, rng: np.random.Generator, n_runs: int) -> Array:
    """Return two-sided geometric noise on a whole number."""
    noise: Array = rng.geometric(1 - ratio, n_runs) - rng.geometric(1 - ratio, n_runs)
    return noise + int(data)


def _truncated(ratio: float, largest: int, data: Any, rng: np.random.Generator, n_runs: int) -> Array:
    """Return two-sided geometric noise on a count, kept within 0 ... largest (Ghosh, Roughgarden and Sundararajan)."""
    return np.clip(_geometric(ratio, data, rng, n_runs), 0, largest)


def _staircase(epsilon: float, data: Any, rng: np.random.Generator, n_runs: int) -> Array:
    """Return staircase noise with steps of half the sensitivity (Geng and Viswanath 2014)."""
    sign = rng.choice([-1.0, 1.0], n_runs)
    step = rng.geometric(1 - math.exp(-epsilon), n_runs) - 1
    far = rng.random(n_runs) < 1 / (1 + math.exp(epsilon))
    width = 0.5
    noise = np.where(far, width + (1 - width) * rng.random(n_runs), width * rng.random(n_runs))
    return data + sign * (step + noise)


def _truncated_law(ratio: float, largest: int) -> Law:
    """Return the law of the truncated geometric mechanism on counts 0 and 1."""
    values = np.arange(largest + 1)
    laws = []
    for count in (0, 1):
        mass = (1 - ratio) / (1 + ratio) * ratio ** np.abs(values - count).astype(float)
        mass[0], mass[-1] = ratio**count / (1 + ratio), ratio ** (largest - count) / (1 + ratio)
        laws.append(mass)
    return Law(first=laws[0], second=laws[1], outcomes=values[:, None])


def _gaussian_law(stddev: float) -> Law:
    """Return the law of Gaussian noise around 0 and around 1."""
    edges = np.linspace(-9 * stddev, 1 + 9 * stddev, 20_001)
    return binned(lambda x: ndtr(x / stddev), lambda x: ndtr((x - 1) / stddev), edges)


def _gaussian_delta(stddev: float, epsilon: float) -> float:
    """Return the delta of Gaussian noise (Balle and Wang 2018, Theorem 8)."""
    first, second = ndtr(0.5 / stddev - epsilon * stddev), ndtr(-0.5 / stddev - epsilon * stddev)
    return float(first - math.exp(epsilon) * second)


def _gaussian_exact(stddev: float, delta: float) -> float:
    """Return the epsilon of Gaussian noise at `delta`, by bisection on the closed form."""
    return bisected(lambda epsilon: _gaussian_delta(stddev, epsilon) > delta, 0.0, 100.0, 100)[1]


def _entry(name: str, run: Callable[..., Array], claim: float, truth: float, **more: Any) -> Entry:
    """Return an entry on answers 0 and 1."""
    return Entry(
        name=name,
        claim=pure(claim),
        run=run,
        neighbours=(0.0, 1.0),
        correct=truth <= claim * (1 + 1e-12),
        truth=truth,
        **more,
    )


def _approximate(name: str, stddev: float, epsilon: float, delta: float) -> Entry:
    """Return Gaussian noise against a claim with a delta."""
    truth = _gaussian_exact(stddev, delta)
    claim = Claim(epsilon=epsilon, delta=delta, neighbours="replace_one")
    return Entry(
        name=name,
        claim=claim,
        run=partial(_noisy, "normal", stddev),
        neighbours=(0.0, 1.0),
        correct=truth <= epsilon,
        truth=truth,
        law=partial(_gaussian_law, stddev),
        gaussian=True,
    )


_DELTA = 1e-5
_CLASSIC = math.sqrt(2 * math.log(1.25 / _DELTA))

ENTRIES = (
    _entry("laplace", partial(_noisy, "laplace", 10.0), 0.1, 0.1, law=partial(laplace_law, 1.0, 10.0), published=0.1),
    _entry("laplace, epsilon 1", partial(_noisy, "laplace", 1.0), 1.0, 1.0, law=partial(laplace_law, 1.0, 1.0)),
    _entry("laplace, half the noise", partial(_noisy, "laplace", 0.5), 1.0, 2.0, law=partial(laplace_law, 1.0, 0.5)),
    _entry(
        "laplace, nine tenths of the noise",
        partial(_noisy, "laplace", 0.9),
        1.0,
        1 / 0.9,
        law=partial(laplace_law, 1, 0.9),
    ),
    _entry("geometric", partial(_geometric, math.exp(-1.0)), 1.0, 1.0),
    _entry(
        "truncated geometric",
        partial(_truncated, 8 / 9, 5),
        math.log(9 / 8),
        math.log(9 / 8),
        law=partial(_truncated_law, 8 / 9, 5),
        published=0.117,
    ),
    _entry("staircase", partial(_staircase, 1.0), 1.0, 1.0),
    _entry("one-sided noise", partial(_noisy, "exponential", 1.0), 1.0, math.inf),
    _entry("uniform noise", partial(_uniform, 2.0), 1.0, math.inf),
    _entry("gaussian against a pure claim", partial(_noisy, "normal", 1.0), 1.0, math.inf),
    _approximate("gaussian, classic", _CLASSIC / 0.9, 0.9, _DELTA),
    _approximate("gaussian, variance for deviation", math.sqrt(_CLASSIC / 0.9), 0.9, _DELTA),
)
