"""A sequential test of outputs against the declared noise; noise of another size is detected in some tens of runs.

The test compares the declared mechanism with the same mechanism at other noise scales, with equal shares a factor:

    wealth = average over factors f of prod p_f(x) / p_1(x).

If the outputs follow the declared law, each product is a martingale of mean 1, so the wealth ever reaches 1 / alpha
with probability at most alpha (Ville 1939). An output that the declared law cannot produce makes the wealth infinite.
Beside it, the first outputs are looked at once for what scales do not show: noise that repeats between runs or entries,
another shape, asymmetry, and draws or entries that depend on each other. That look
has a small share of the significance, 1e-9 at most. With it a hundredth of the significance is for what only many draws
show: how many lie far out, and how often each whole number came.
The test is about the noise and not about the claim: code that passes may leak, and code that fails may keep its claim.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from audits.checks.laws.bulk import extremes, masses
from audits.checks.laws.conditionals import Placed
from audits.checks.laws.departures import looks_at
from audits.checks.laws.entrances import Sample
from audits.checks.laws.mechanism_law import repeated
from audits.checks.laws.places import places_of
from dpaudit import Mechanism
from dpaudit.checks import count, open_probability
from dpaudit.looks import worst
from dpaudit.model.mechanism import Array, is_additive

FACTORS = (1 / 16, 1 / 4, 1 / 2, 0.7, 0.85, 1.2, 1.4, 2.0, 4.0)
"""Alternative noise scales over the declared one; each has the same share of the wealth."""

_LOOK = 1e-9
"""The share of the significance that the look at the first outputs has, at most."""

_FURTHER = 0.01
"""The share of the significance that each call spends on the look, and on extremes and single whole numbers."""

_LOOKED, _MOST_NUMBERS = 4_096, 2_000_000

_BLOCK = 64
_GROWTH = 2
_MOST_BLOCK = 50_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Conformance:
    """The log wealth of each factor after all runs so far; `fallen` once the average reached 1 / significance.

    `runs` counts the runs of this call; `factor` is the noise, over the declared, that explains the outputs best.
    `departure` says what the look at the first outputs found, and is empty where it found nothing.

    >>> Conformance(fallen=False, factor=1.0, significance=0.05, runs=64, wealth=(0.0,) * len(FACTORS)).departure
    ''
    """

    fallen: bool
    factor: float
    significance: float
    runs: int
    wealth: tuple[float, ...]
    departure: str = ""


def watch_noise(
    release: Callable[[np.random.Generator, int], Any],
    mechanism: Mechanism,
    answer: Any,
    *,
    runs: int,
    rng: np.random.Generator,
    significance: float = 0.01,
    wealth: tuple[float, ...] = (0.0,) * len(FACTORS),
) -> Conformance:
    """Return whether outputs follow `mechanism` around the exact `answer`, from at most `runs` runs.

    `release(rng, n_runs)` returns outputs, runs axis first; `wealth` is what an earlier call left, if any.
    Guarantee: outputs of the declared law are flagged with probability at most `significance`, over all calls that
    pass on their wealth, if each draws fresh randomness and its runs are independent; each further call adds at most a
    hundredth of it. Noise that is cut off far out is found where so many numbers expect 26 beyond the cut.
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
    log_wealth, done, block, peak = np.array(wealth, dtype=float), 0, _BLOCK, -math.inf
    rivals = tuple(_rival(mechanism, factor) for factor in FACTORS)
    look = min(_LOOK, _FURTHER * significance / 2)
    share = _FURTHER * significance - look
    needed, first, outputs = -math.log(significance - look - share), list[Array](), list[Array]()
    while done < runs and peak < needed:
        size = min(block, runs - done)
        output = release(rng, size)
        paths = log_wealth + np.cumsum(_gains(output, mechanism, rivals, np.asarray(answer), size), axis=0)
        if done < _LOOKED:
            first.append(np.asarray(output)[: _LOOKED - done])
        if sum(part.size for part in outputs) < _MOST_NUMBERS:
            outputs.append(np.asarray(output))
        peak = max(peak, float(np.max(_averages(paths))))
        log_wealth, done, block = paths[-1], done + size, min(block * _GROWTH, _MOST_BLOCK)
    departure = _departure(np.concatenate(first), mechanism, np.asarray(answer), look) if first else ""
    if not departure and peak < needed:
        departure = _far_out(np.concatenate(outputs), mechanism, np.asarray(answer), share)
    return Conformance(
        fallen=peak >= needed or bool(departure),
        factor=FACTORS[int(np.argmax(log_wealth))] if log_wealth.max() > 0 else 1.0,
        significance=significance,
        runs=done,
        wealth=tuple(log_wealth.tolist()),
        departure=departure,
    )


def _departure(output: Array, mechanism: Mechanism, answer: Array, level: float) -> str:
    """Return how outputs depart from the declared law in a way that scales do not show, or an empty text."""
    sample = _sample(output, mechanism, answer)
    single = is_additive(mechanism) and not mechanism.item_axes and not hasattr(mechanism, "leaf")
    said = repeated(sample, output.size, level / 2) if single else ""
    placed = None if said else _places(sample)
    departure = None if placed is None else worst(looks_at(placed))
    return departure.words if departure is not None and departure.probability < level / 2 else said


def _far_out(output: Array, mechanism: Mechanism, answer: Array, level: float) -> str:
    """Return how the extremes of all outputs, or single whole numbers, depart from the declared law, if they do."""
    sample = _sample(output, mechanism, answer)
    placed = _places(sample)
    looks = [] if placed is None else [*extremes(placed), *masses(placed)]
    departure = worst(looks) if looks else None
    return departure.words if departure is not None and departure.probability < level else ""


def _sample(output: Array, mechanism: Mechanism, answer: Array) -> Sample:
    """Return outputs around one answer."""
    answers = np.broadcast_to(answer, (len(output), *answer.shape))
    return Sample(mechanism=mechanism, entrance="", output=output, value=answers)


def _places(sample: Sample) -> Placed | None:
    """Return outputs as uniform numbers where their law is known."""
    placed = places_of(sample.mechanism, sample.output, sample.value, np.random.default_rng(0))
    return placed if placed is not None and placed.uniform.size else None


def _rival(mechanism: Mechanism, factor: float) -> Mechanism:
    """Return the mechanism with `factor` times the noise, or itself where that noise does not exist."""
    try:
        return mechanism.scaled(factor)
    except ValueError:
        return mechanism


def _gains(output: Any, mechanism: Mechanism, rivals: tuple[Mechanism, ...], answer: Array, n_runs: int) -> Array:
    """Return the log likelihood ratio of each rival to the declared law, one row a run. Shape: (n_runs, rivals)."""
    outputs = np.asarray(output)
    if outputs.shape[:1] != (n_runs,):
        raise ValueError(f"Expected outputs of {n_runs} runs, runs axis first, got an array of shape {outputs.shape}.")
    answers = np.broadcast_to(answer, (n_runs, *answer.shape))
    declared = mechanism.log_density(outputs, answers).reshape(n_runs, -1).sum(axis=1)
    columns = [rival.log_density(outputs, answers).reshape(n_runs, -1).sum(axis=1) for rival in rivals]
    with np.errstate(invalid="ignore"):
        gains: Array = np.stack(columns, axis=1) - declared[:, None]
    return np.where(np.isnan(declared) | np.isneginf(declared), np.inf, gains.T).T


def _averages(log_wealth: Array) -> Array:
    """Return the logarithm of the average wealth along the last axis; infinite wealth outweighs a wealth of 0."""
    with np.errstate(invalid="ignore"):
        mixed: Array = np.logaddexp.reduce(log_wealth, axis=-1) - math.log(len(FACTORS))
    return np.where(np.isnan(mixed), np.inf, mixed)
