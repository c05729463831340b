"""The law of the outputs against the declared density: noise of another size shows within some tens of runs.

A bettor holds the declared mechanism against the same mechanism with other noise, one stake a factor:

    wealth = average over factors f of prod p_f(x) / p_1(x).

If the outputs follow the declared law, each product is a martingale of mean 1, so the wealth ever reaches 1 / alpha
with probability at most alpha (Ville 1939). An output that the declared law cannot produce makes it infinite.
This checks the noise, not the claim: code that passes may still leak, and code that fails may still keep a claim.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpaudit import Mechanism
from dpaudit.checks import count, open_probability
from dpaudit.model.mechanism import Array

FACTORS = (1 / 16, 1 / 4, 1 / 2, 0.7, 0.85, 1.2, 1.4, 2.0, 4.0)
"""What the bettor holds against the declared noise, each with the same stake."""

_BLOCK = 64
_GROWTH = 2
_MOST_BLOCK = 50_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Conformance:
    """The log wealth of each factor's bettor after all runs so far; `fallen` once the average reached 1 / significance.

    `runs` counts the runs of this call; `factor` is the noise, over the declared, that explains the outputs best.

    >>> Conformance(fallen=False, factor=1.0, significance=0.05, runs=64, wealth=(0.0,) * len(FACTORS)).log_evidence < 1
    True
    """

    fallen: bool
    factor: float
    significance: float
    runs: int
    wealth: tuple[float, ...]

    @property
    def log_evidence(self) -> float:
        """The logarithm of the bettors' average wealth: evidence against the declared law."""
        return _average(np.array(self.wealth))


def watch_noise(
    release: Callable[[np.random.Generator, int], Any],
    mechanism: Mechanism,
    answer: Any,
    *,
    runs: int,
    rng: np.random.Generator,
    significance: float = 0.05,
    wealth: tuple[float, ...] = (0.0,) * len(FACTORS),
) -> Conformance:
    """Return whether outputs follow `mechanism` around the exact `answer`, from at most `runs` runs.

    `release(rng, n_runs)` returns outputs, runs axis first; `wealth` is what an earlier call left, if any.
    Guarantee: outputs of the declared law are accused with probability at most `significance`, over all calls that
    hand on their wealth, if each draws fresh randomness and its runs are independent.
    Raises: ValueError: `wealth` of another length, or another number of outputs than runs.

    >>> from mechanisms.laplace import Laplace
    >>> laplace = Laplace(scale=1.0, l1_sensitivity=1.0, neighbours="replace_one")
    >>> def half(rng, n_runs):
    ...     return rng.laplace(0.0, 0.5, n_runs)
    >>> seen = watch_noise(half, laplace, 0.0, runs=1_000, rng=np.random.default_rng(1), significance=1e-6)
    >>> seen.fallen, seen.factor, seen.runs < 500
    (True, 0.5, True)
    """
    count("runs", runs)
    open_probability("significance", significance)
    if len(wealth) != len(FACTORS):
        raise ValueError(f"Expected wealth of {len(FACTORS)} bettors, got {len(wealth)}.")
    held, done, block, peak = np.array(wealth, dtype=float), 0, _BLOCK, -math.inf
    rivals = tuple(_rival(mechanism, factor) for factor in FACTORS)
    while done < runs and peak < -math.log(significance):
        size = min(block, runs - done)
        paths = held + np.cumsum(_gains(release(rng, size), mechanism, rivals, np.asarray(answer), size), axis=0)
        peak = max(peak, float(np.max(_averages(paths))))
        held, done, block = paths[-1], done + size, min(block * _GROWTH, _MOST_BLOCK)
    return Conformance(
        fallen=peak >= -math.log(significance),
        factor=FACTORS[int(np.argmax(held))] if held.max() > 0 else 1.0,
        significance=significance,
        runs=done,
        wealth=tuple(held.tolist()),
    )


def _rival(mechanism: Mechanism, factor: float) -> Mechanism:
    """Return the mechanism with other noise, or itself where there is none so small or large: a stake kept back."""
    try:
        return mechanism.scaled(factor)
    except ValueError:
        return mechanism


def _gains(output: Any, mechanism: Mechanism, rivals: tuple[Mechanism, ...], answer: Array, n_runs: int) -> Array:
    """Return the log likelihood ratio of each rival to the declared law, one row a run. Shape: (n_runs, rivals)."""
    seen = np.asarray(output)
    if seen.shape[:1] != (n_runs,):
        raise ValueError(f"Expected outputs of {n_runs} runs, runs axis first, got an array of shape {seen.shape}.")
    known = np.broadcast_to(answer, (n_runs, *answer.shape))
    declared = mechanism.log_density(seen, known).reshape(n_runs, -1).sum(axis=1)
    columns = [rival.log_density(seen, known).reshape(n_runs, -1).sum(axis=1) for rival in rivals]
    with np.errstate(invalid="ignore"):
        gains: Array = np.stack(columns, axis=1) - declared[:, None]
    return np.where(np.isnan(declared) | np.isneginf(declared), np.inf, gains.T).T


def _averages(log_wealth: Array) -> Array:
    """Return the logarithm of the average wealth along the last axis; infinite wealth wins over lost stakes."""
    with np.errstate(invalid="ignore"):
        mixed: Array = np.logaddexp.reduce(log_wealth, axis=-1) - math.log(len(FACTORS))
    return np.where(np.isnan(mixed), np.inf, mixed)


def _average(log_wealth: Array) -> float:
    """Return the logarithm of the average wealth of all bettors."""
    return float(_averages(log_wealth))
