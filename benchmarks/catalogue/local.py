"""Local protocols: each person sends a noisy answer. Laws are listed outcome by outcome where outcomes are few."""

import math
from collections.abc import Callable
from functools import partial
from itertools import combinations, product
from typing import Any

import numpy as np

from benchmarks.catalogue.entry import Entry, pure
from benchmarks.catalogue.law import Law, laplace_law, repeated
from dpaudit.model.mechanism import Array

_DOMAIN = 4


def _response(keep: float, domain: int, data: Any, rng: np.random.Generator, n_runs: int) -> Array:
    """Return the value with chance `keep`, else one of the others."""
    other = (int(data) + rng.integers(1, domain, n_runs)) % domain
    return np.where(rng.random(n_runs) < keep, int(data), other)


def _bits(chances: tuple[float, float], data: Any, rng: np.random.Generator, n_runs: int) -> Array:
    """Return bits that are set with one chance where the bit is 1, with another where it is 0 (unary encoding)."""
    bits = np.asarray(data)
    return (rng.random((n_runs, len(bits))) < np.where(bits == 1, *chances)).astype(int)


def _histogram(scale: float, threshold: float, data: Any, rng: np.random.Generator, n_runs: int) -> Array:
    """Return one-hot bits with Laplace noise (SHE); with a finite threshold only which are above it (THE)."""
    noisy: Array = np.asarray(data) + rng.laplace(0.0, scale, (n_runs, len(data)))
    return noisy if math.isinf(threshold) else (noisy > threshold).astype(int)


def _hashed(keep: float, buckets: int, data: Any, rng: np.random.Generator, n_runs: int) -> Array:
    """Return a public random hash of all values and a noisy bucket of one's own (local hashing)."""
    hashes = rng.integers(0, buckets, (n_runs, _DOMAIN))
    mine = hashes[:, int(data)]
    other = (mine + rng.integers(1, buckets, n_runs)) % buckets
    told = np.where(rng.random(n_runs) < keep, mine, other)
    return np.column_stack([hashes, told])


def _subset(size: int, keep: float, data: Any, rng: np.random.Generator, n_runs: int) -> Array:
    """Return a random subset of `size` values, as bits, which holds one's own with chance `keep`."""
    order = rng.random((n_runs, _DOMAIN))
    included = rng.random(n_runs) < keep
    order[:, int(data)] = np.where(included, -1.0, 2.0)
    chosen = np.zeros((n_runs, _DOMAIN), dtype=int)
    np.put_along_axis(chosen, order.argsort(axis=1)[:, :size], 1, axis=1)
    return chosen


def _response_law(keep: float, domain: int) -> Law:
    """Return the law of a randomised response with values 0 and 1."""
    masses = np.full((2, domain), (1 - keep) / (domain - 1))
    masses[0, 0] = masses[1, 1] = keep
    return Law(first=masses[0], second=masses[1], outcomes=np.arange(domain)[:, None])


def _bits_law(chances: tuple[float, float], pair: tuple[Any, Any]) -> Law:
    """Return the law of all bits; those that both neighbours share are left out, as they tell nothing."""
    moved = [(a, b) for a, b in zip(*pair, strict=True) if a != b]
    outcomes = np.array(list(product((0, 1), repeat=len(moved))))
    masses = [
        np.prod([np.where(outcomes[:, i] == 1, c, 1 - c) for i, c in enumerate(_chance(chances, side))], axis=0)
        for side in zip(*moved, strict=True)
    ]
    return Law(first=masses[0], second=masses[1])


def _chance(chances: tuple[float, float], bits: tuple[int, ...]) -> list[float]:
    """Return the chance of a set bit, for each bit."""
    return [chances[0] if bit else chances[1] for bit in bits]


def _subset_law(size: int, keep: float) -> Law:
    """Return the law of subset selection with values 0 and 1."""
    subsets = list(combinations(range(_DOMAIN), size))
    inside, outside = math.comb(_DOMAIN - 1, size - 1), math.comb(_DOMAIN - 1, size)
    masses = [np.array([keep / inside if v in s else (1 - keep) / outside for s in subsets]) for v in (0, 1)]
    bits = np.array([[int(v in s) for v in range(_DOMAIN)] for s in subsets])
    return Law(first=masses[0], second=masses[1], outcomes=bits)


def _hashed_law(keep: float, buckets: int) -> Law:
    """Return the law of what matters of local hashing: whether the two values meet, and whose bucket was told."""
    wrong, meet = (1 - keep) / (buckets - 1), 1 / buckets
    apart = (1 - meet) * np.array([keep, wrong, 1 - keep - wrong])
    return Law(first=np.append(apart, meet), second=np.append(apart[[1, 0, 2]], meet))


def _entry(
    name: str, run: Callable[..., Array], law: Callable[[], Law], claim: float = 1.0, pair: Any = (0, 1), **more: Any
) -> Entry:
    """Return a local entry; whether it is correct follows from its law, as all pairs of values are alike."""
    kept = law().epsilon() <= claim * (1 + 1e-9)
    return Entry(name=name, claim=pure(claim, local=True), run=run, neighbours=pair, correct=kept, law=law, **more)


def _unary(name: str, chances: tuple[float, float], claim: float, pair: Any, **more: Any) -> Entry:
    """Return an entry that tells bits."""
    return _entry(name, partial(_bits, chances), partial(_bits_law, chances, pair), claim, pair, **more)


def _keep(epsilon: float, others: float) -> float:
    """Return the chance of the truth among `others` equally likely lies."""
    return math.exp(epsilon) / (math.exp(epsilon) + others)


def _bloom(first: tuple[int, ...], second: tuple[int, ...]) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return two Bloom filters of 20 bits with these bits set."""
    filters = [tuple(int(place in held) for place in range(20)) for held in (first, second)]
    return filters[0], filters[1]


_ONE_HOT = (tuple(np.eye(_DOMAIN, dtype=int)[0].tolist()), tuple(np.eye(_DOMAIN, dtype=int)[1].tolist()))
_SIX = _bloom((0, 1, 2, 3), (0, 4, 5, 6))
_F, _P, _Q = 0.75, 0.45, 0.55
_RAPPOR = (_Q * (1 - _F / 2) + _P * _F / 2, _P * (1 - _F / 2) + _Q * _F / 2)
_ROOT = math.exp(0.5) / (math.exp(0.5) + 1)
_THE = (1 - math.exp(-(1 - 0.8) / 2) / 2, math.exp(-0.8 / 2) / 2)

ENTRIES = (
    _unary("rappor", _RAPPOR, 0.4, _SIX, published=0.301, note="six of 20 bits differ between the values"),
    _unary("one-time rappor", (1 - 0.95 / 2, 0.95 / 2), 0.8, _SIX, published=0.6),
    _entry("randomised response", partial(_response, _keep(1, 3), 4), partial(_response_law, _keep(1, 3), 4)),
    _entry(
        "randomised response, lies counted as two",
        partial(_response, _keep(1, 1), 4),
        partial(_response_law, _keep(1, 1), 4),
    ),
    _unary("symmetric unary encoding", (_ROOT, 1 - _ROOT), 1.0, _ONE_HOT),
    _unary("symmetric unary encoding, budget not split", (_keep(1, 1), 1 - _keep(1, 1)), 1.0, _ONE_HOT),
    _unary("optimised unary encoding", (0.5, 1 / (math.e + 1)), 1.0, _ONE_HOT),
    _unary("optimised unary encoding, wrong bits", (_keep(1, 1), 0.25), 1.0, _ONE_HOT),
    _entry(
        "summed histogram encoding",
        partial(_histogram, 2.0, math.inf),
        lambda: repeated(laplace_law(1.0, 2.0), 2),
        pair=_ONE_HOT,
    ),
    _entry(
        "thresholded histogram encoding",
        partial(_histogram, 2.0, 0.8),
        partial(_bits_law, _THE, _ONE_HOT),
        pair=_ONE_HOT,
    ),
    _entry("binary local hashing", partial(_hashed, _keep(1, 1), 2), partial(_hashed_law, _keep(1, 1), 2)),
    _entry("optimised local hashing", partial(_hashed, _keep(1, 3), 4), partial(_hashed_law, _keep(1, 3), 4)),
    _entry("local hashing, too honest", partial(_hashed, _keep(1.5, 3), 4), partial(_hashed_law, _keep(1.5, 3), 4)),
    _entry("subset selection", partial(_subset, 2, _keep(1, 1)), partial(_subset_law, 2, _keep(1, 1))),
    _entry("subset selection, one's own always in", partial(_subset, 2, 1.0), partial(_subset_law, 2, 1.0)),
)
