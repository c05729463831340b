"""Selection mechanisms: variants of the noisy maximum, the exponential mechanism, permute and flip."""

import math
from functools import partial
from typing import Any

import numpy as np

from benchmarks.catalogue.entry import Entry, pure
from benchmarks.catalogue.law import Law, laplace_cdf
from dpaudit.model.mechanism import Array

RISE = ((1.0,) * 5, (2.0, 0.0, 0.0, 0.0, 0.0))
"""Five queries of which one rises and four fall, the pair of the standard suite; for Laplace noise not the worst."""
FALL = ((1.0,) * 5, (0.0, 2.0, 2.0, 2.0, 2.0))
"""Five queries of which one falls and four rise: for the place of the maximum of Laplace noise worse than `RISE`."""
ALL = ((1.0,) * 5, (2.0,) * 5)
"""Five queries that all rise: the worst pair for the maximum itself."""
_GRID = 200_001


def _index(law: str, scale: float, data: Any, rng: np.random.Generator, n_runs: int) -> Array:
    """Return the place of the largest answer with noise of a law that numpy draws.

    Exponential noise is permute and flip (Ding et al. 2021), Gumbel noise the exponential mechanism.
    """
    noise = getattr(rng, law)(scale=scale, size=(n_runs, len(data)))
    return np.argmax(np.asarray(data) + noise, axis=1)


def _value(law: str, scale: float, data: Any, rng: np.random.Generator, n_runs: int) -> Array:
    """Return the largest noisy answer itself, which the proof for the place does not cover."""
    noise = getattr(rng, law)(scale=scale, size=(n_runs, len(data)))
    return (np.asarray(data) + noise).max(axis=1)


def _permute_and_flip(epsilon: float, data: Any, rng: np.random.Generator, n_runs: int) -> Array:
    """Return the first success among trials with probability exp(epsilon (q - max) / 2), in random order.

    Source: McKenna and Sheldon (2020), permute and flip.
    """
    answers = np.asarray(data)
    order = rng.random((n_runs, len(answers))).argsort(axis=1)
    success = rng.random((n_runs, len(answers))) < np.exp(epsilon * (answers - answers.max()) / 2)[order]
    return np.take_along_axis(order, success.argmax(axis=1)[:, None], axis=1)[:, 0]


def _index_law(distribution: str, scale: float, pair: tuple[Any, Any]) -> Law:
    """Return the law of the place of the maximum, by quadrature over the value of the winner."""
    places = np.arange(len(pair[0]))[:, None]
    first, second = (_index_masses(distribution, scale, np.asarray(data)) for data in pair)
    return Law(first=first, second=second, outcomes=places)


def _index_masses(distribution: str, scale: float, answers: Array) -> Array:
    """Return the chance of every place; the midpoint rule over `_GRID` cells of the winner's distribution."""
    u = (np.arange(_GRID) + 0.5) / _GRID
    masses = np.empty(len(answers))
    for place in range(len(answers)):
        noise = -np.log1p(-u) if distribution == "exponential" else np.where(u < 0.5, np.log(2 * u), -np.log(2 - 2 * u))
        winner = answers[place] + scale * noise
        below = np.ones(_GRID)
        for other in range(len(answers)):
            if other != place:
                below *= _cdf(distribution, (winner - answers[other]) / scale)
        masses[place] = below.mean()
    return masses / masses.sum()


def _value_law(distribution: str, scale: float, pair: tuple[Any, Any]) -> Law:
    """Return the law of the noisy maximum itself, a product of distribution functions."""
    low = 0.0 if distribution == "exponential" else -30.0 * scale
    edges = np.linspace(low, 2 + 30 * scale, 40_001)
    cuts = []
    for data in pair:
        total = np.ones(len(edges))
        for answer in data:
            total *= _cdf(distribution, (edges - answer) / scale)
        cuts.append(np.concatenate([[0.0], total, [1.0]]))
    return Law(first=np.diff(cuts[0]), second=np.diff(cuts[1]))


def _cdf(distribution: str, x: Array) -> Array:
    """Return a standard distribution function."""
    if distribution == "exponential":
        return np.where(x > 0, -np.expm1(-np.maximum(x, 0)), 0.0)
    return laplace_cdf(0.0, 1.0)(x)


def _gumbel_law(epsilon: float, pair: tuple[Any, Any]) -> Law:
    """Return the law of the exponential mechanism: chances proportional to exp(epsilon q / 2)."""
    weights = [np.exp(epsilon * np.asarray(data) / 2) for data in pair]
    first, second = (w / w.sum() for w in weights)
    return Law(first=first, second=second, outcomes=np.arange(len(first))[:, None])


def _entry(
    name: str, run: Any, law: Any, *, correct: bool, claim: float, pair: tuple[Any, Any] = RISE, **more: Any
) -> Entry:
    """Return an entry on five answers."""
    return Entry(name=name, claim=pure(claim), run=run, neighbours=pair, correct=correct, law=law, **more)


_NUMBERED = ("report noisy max 1", "report noisy max 2", "report noisy max 3", "report noisy max 4")


def _family(epsilon: float, names: tuple[str, str, str, str], published: tuple[float | None, ...]) -> tuple[Entry, ...]:
    """Return the four variants: either noise, the place or the value."""
    scale = 2 / epsilon
    variants = (
        (_index, _index_law, "laplace", RISE),
        (_index, _index_law, "exponential", RISE),
        (_value, _value_law, "laplace", ALL),
        (_value, _value_law, "exponential", ALL),
    )
    return tuple(
        _entry(
            names[i],
            partial(run, noise, scale),
            partial(law, noise, scale, pair),
            correct=run is _index,
            claim=epsilon,
            pair=pair,
            truth=math.inf if i == 3 else None,
            published=published[i],
        )
        for i, (run, law, noise, pair) in enumerate(variants)
    )


ENTRIES = (
    *_family(0.1, _NUMBERED, (None, 0.1, 0.249, 0.353)),
    _entry(
        "report noisy max 1, four rise",
        partial(_index, "laplace", 20.0),
        partial(_index_law, "laplace", 20.0, FALL),
        correct=True,
        claim=0.1,
        pair=FALL,
        published=0.093,
    ),
    *_family(0.7, ("noisy max 1a", "noisy max 2a", "noisy max 1b", "noisy max 2b"), (None,) * 4),
    _entry(
        "noisy max 1a, half the noise",
        partial(_index, "laplace", 1 / 0.7),
        partial(_index_law, "laplace", 1 / 0.7, RISE),
        correct=False,
        claim=0.7,
    ),
    _entry(
        "exponential mechanism",
        partial(_index, "gumbel", 2.0),
        partial(_gumbel_law, 1.0, RISE),
        correct=True,
        claim=1.0,
    ),
    _entry(
        "exponential mechanism, factor two lost",
        partial(_index, "gumbel", 1.0),
        partial(_gumbel_law, 2.0, RISE),
        correct=False,
        claim=1.0,
    ),
    _entry(
        "permute and flip",
        partial(_permute_and_flip, 1.0),
        partial(_index_law, "exponential", 2.0, RISE),
        correct=True,
        claim=1.0,
    ),
)
