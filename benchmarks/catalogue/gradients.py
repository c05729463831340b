"""Noisy sums of clipped gradients over a few steps, as in private learning, with claims of positive delta.

The loss of T Gaussian steps of noise multiplier s is that of one Gaussian of mu = sqrt(T) / s.
"""

import math
from functools import partial
from typing import Any

import numpy as np
from scipy.special import ndtr

from audits.bounds.bisection import bisected
from benchmarks.catalogue.entry import Entry
from benchmarks.catalogue.law import Law, binned
from dpaudit import Claim
from dpaudit.model.case import Run
from dpaudit.model.losses import GaussianLoss
from dpaudit.model.mechanism import Array

_STEPS, _DELTA = 4, 1e-5
_OTHERS = np.array([[0.3, -0.2], [-0.5, 0.1], [0.2, 0.6]])
_CANARY = np.array([[3.0, 4.0]])
_PAIR = (_OTHERS, np.concatenate([_OTHERS, _CANARY]))


def _sums(noise: float, clip: str, data: Any, rng: np.random.Generator, n_runs: int, *, reused: bool = False) -> Array:
    """Return `_STEPS` noisy sums of gradients. Shape: (n_runs, steps, dimension)."""
    total = _clipped(np.asarray(data), clip).sum(axis=0)
    steps = 1 if reused else _STEPS
    draws = rng.normal(0.0, noise, (n_runs, steps, len(total)))
    scale = np.arange(1, _STEPS + 1)[None, :, None] / _STEPS if reused else 1.0
    return total * scale + draws


def _mean(noise: float, data: Any, rng: np.random.Generator, n_runs: int) -> Array:
    """Return noisy sums over the true batch size, which a private number of records gives away."""
    return _sums(noise, "norm", data, rng, n_runs) / len(data)


def _clipped(gradients: Array, clip: str) -> Array:
    """Return gradients with l2 norm at most 1: each one, each coordinate, their mean, or none."""
    if clip == "norm":
        return gradients / np.maximum(1.0, np.linalg.norm(gradients, axis=1, keepdims=True))
    if clip == "coordinate":
        return np.clip(gradients, -1.0, 1.0)
    mean = gradients.mean(axis=0)
    shrink = max(1.0, float(np.linalg.norm(mean))) if clip == "batch" else 1.0
    return gradients / shrink


def _law(mu: float) -> Law:
    """Return the law of N(0, 1) and N(mu, 1)."""
    return binned(ndtr, lambda x: ndtr(x - mu), np.linspace(-9, mu + 9, 20_001))


def _epsilon(mu: float) -> float:
    """Return the epsilon of N(0, 1) and N(mu, 1) at `_DELTA`."""
    loss = GaussianLoss(mu=mu)
    return bisected(lambda epsilon: loss.hockey_stick(epsilon) > _DELTA, 0.0, 200.0, 100)[1]


def _ratio(noise: float, clip: str, view: Any) -> Array:
    """Return the log odds of the canary among Gaussian sums."""
    first, second = (_clipped(data, clip).sum(axis=0) for data in _PAIR)
    return ((np.asarray(view) - (first + second) / 2) @ (second - first)).sum(axis=1) / noise**2


def _gap(clip: str) -> float:
    """Return how far the canary moves the sum."""
    first, second = (_clipped(data, clip).sum(axis=0) for data in _PAIR)
    return float(np.linalg.norm(second - first))


_NOISE = 4.0
_CLAIM = Claim(epsilon=_epsilon(math.sqrt(_STEPS) / _NOISE) * (1 + 1e-9), delta=_DELTA, neighbours="add_remove")


def _entry(name: str, run: Run, **more: Any) -> Entry:
    """Return gradient sums with a canary and without."""
    return Entry(name=name, claim=_CLAIM, run=run, neighbours=_PAIR, **more)


def _gaussian(name: str, noise: float, clip: str, *, scored: bool = False) -> Entry:
    """Return gradient sums whose loss is Gaussian."""
    mu = math.sqrt(_STEPS) * _gap(clip) / noise
    return _entry(
        name,
        partial(_sums, noise, clip),
        correct=_epsilon(mu) <= _CLAIM.epsilon,
        truth=_epsilon(mu),
        law=partial(_law, mu),
        score=partial(_ratio, noise, clip) if scored else None,
        gaussian=True,
    )


ENTRIES = (
    _gaussian("gradient sums", _NOISE, "norm"),
    _gaussian("gradient sums, likelihood ratio", _NOISE, "norm", scored=True),
    _gaussian("gradient sums, noise of one step", _NOISE / math.sqrt(_STEPS), "norm"),
    _gaussian("gradient sums, coordinates clipped", _NOISE, "coordinate"),
    _gaussian("gradient sums, no clipping", _NOISE, "none"),
    _gaussian("gradient sums, mean clipped", _NOISE, "batch"),
    _entry(
        "gradient sums, one draw for all steps",
        partial(_sums, _NOISE, "norm", reused=True),
        correct=False,
        truth=math.inf,
    ),
    _entry(
        "gradient means, true batch size",
        partial(_mean, _NOISE),
        correct=False,
        note="means and spreads differ in eight coordinates; no closed form at a delta",
    ),
)
