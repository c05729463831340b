"""The proving ground: small mechanisms, right and wrong, with a claim that is known to hold or to fail.

Each is a function of (data, rng, n_runs) in plain numpy, a worst-case pair and a claim. `epsilon` is the true one where
it is known in closed form; a broken entry's is above its claim, a correct entry's at most equal to it.
"""

# pyright: reportUnknownLambdaType=false
import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpaudit import AuditCase, Claim
from dpaudit.case import Run
from dpaudit.mechanism import Array


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Entry:
    """One mechanism of the catalogue. `holds` says whether the claim is true."""

    name: str
    run: Run
    neighbours: tuple[Any, Any]
    claimed: float
    holds: bool
    delta: float = 0.0
    epsilon: float | None = None

    @property
    def claim(self) -> Claim:
        """The claim under audit."""
        return Claim(epsilon=self.claimed, delta=self.delta, neighbours="replace_one")

    def case(self) -> AuditCase:
        """Return the entry as a case to audit."""
        return AuditCase(
            name=self.name,
            view="output",
            description="catalogue",
            neighbours=self.neighbours,
            relation="replace_one",
            run=self.run,
        )


def catalogue() -> tuple[Entry, ...]:
    """Return every entry."""
    return (
        *_additive(),
        *_vectors(),
        *_histograms(),
        *_maxima(),
        *_sparse_vectors(),
        *_local(),
        *_streams(),
        *_careless(),
    )


def _entry(name: str, run: Run, pair: tuple[Any, Any], claimed: float, true: float, delta: float = 0.0) -> Entry:
    """Return an entry whose true epsilon is known."""
    return Entry(
        name=name, run=run, neighbours=pair, claimed=claimed, holds=true <= claimed + 1e-12, delta=delta, epsilon=true
    )


def _laplace(scale: float) -> Run:
    return lambda data, rng, n: data + rng.laplace(0.0, scale, n)


def _geometric(ratio: float) -> Run:
    return lambda data, rng, n: data + rng.geometric(1 - ratio, n) - rng.geometric(1 - ratio, n)


def _normal(stddev: float) -> Run:
    return lambda data, rng, n: data + stddev * rng.standard_normal(n)


def _additive() -> tuple[Entry, ...]:
    """Return one number plus noise."""
    pair = (0.0, 1.0)
    scales = {"laplace": 1.0, "laplace, noise x .9": 0.9, "laplace, noise x .8": 0.8, "laplace, noise x .5": 0.5,
              "laplace, twice the noise": 2.0, "laplace, stddev for scale": 1 / math.sqrt(2)}  # fmt: skip
    entries = [_entry(name, _laplace(scale), pair, 1.0, 1 / scale) for name, scale in scales.items()]
    entries += [
        _entry("laplace, sensitivity 2", _laplace(1.0), (0.0, 2.0), 1.0, 2.0),
        _entry("laplace, rounded", lambda d, r, n: np.round(d + r.laplace(0, 1, n)), pair, 1.0, 1.0),
        _entry("laplace, clamped", lambda d, r, n: np.clip(d + r.laplace(0, 1, n), -1, 2), pair, 1.0, 1.0),
        _entry("geometric", _geometric(math.exp(-1)), (0, 1), 1.0, 1.0),
        _entry("geometric, off by one", _geometric(math.exp(-1)), (0, 2), 1.0, 2.0),
        _entry(
            "truncated geometric",
            lambda d, r, n: np.clip(d + r.geometric(1 - math.exp(-1), n) - r.geometric(1 - math.exp(-1), n), 0, 5),
            (0, 1),
            1.0,
            1.0,
        ),
        _entry("one-sided exponential", lambda d, r, n: d + r.exponential(1.0, n), pair, 1.0, math.inf),
        _entry("absolute laplace", lambda d, r, n: d + np.abs(r.laplace(0, 1, n)), pair, 1.0, math.inf),
        _entry("uniform noise", lambda d, r, n: d + r.uniform(-4, 4, n), pair, 1.0, math.inf),
        _entry("no noise", lambda d, r, n: np.full(n, d), pair, 1.0, math.inf),
        _entry("noise drawn once for all", lambda d, r, n: np.full(n, d + 0.4967), pair, 1.0, math.inf),
        _entry("gaussian under a pure claim", _normal(1.0), (0.0, 1.0), 1.0, math.inf),
        _entry("gaussian", _normal(3.7306), pair, 1.0, 1.0, 1e-5),
        _entry("gaussian, noise x .5", _normal(0.5 * 3.7306), pair, 1.0, 2.15, 1e-5),
        _entry("gaussian, variance for stddev", _normal(math.sqrt(3.7306)), pair, 1.0, 2.1, 1e-5),
        _entry("atom of mass .1", _atom(0.1), pair, 1.0, math.inf, 1e-5),
        _entry("cauchy", lambda d, r, n: d + r.standard_cauchy(n), pair, 1.0, math.log((3 + math.sqrt(5)) / 2)),
    ]
    return tuple(entries)


def _atom(mass: float) -> Run:
    """Return Laplace noise that reports the record itself with probability `mass`."""
    return lambda d, r, n: np.where(r.random(n) < mass, 1000.0 + d, d + r.laplace(0, 1, n))


def _columns(noise: float, columns: int, *, shared: bool = False) -> Run:
    """Return several coordinates with Laplace noise each, or one draw for all."""

    def run(data: Array, rng: np.random.Generator, n: int) -> Array:
        draw = rng.laplace(0, noise, (n, 1 if shared else columns))
        released: Array = np.asarray(data) + draw
        return released

    return run


def _vectors() -> tuple[Entry, ...]:
    """Return several numbers at once."""
    ones, zeros = np.ones(5), np.zeros(5)
    one_hot = np.eye(5)[0]
    return (
        _entry("vector, budget split", _columns(5.0, 5), (zeros, ones), 1.0, 1.0),
        _entry("vector, budget not split", _columns(1.0, 5), (zeros, ones), 1.0, 5.0),
        _entry("vector, one coordinate", _columns(1.0, 5), (zeros, one_hot), 1.0, 1.0),
        _entry("vector, shared noise", _columns(1.0, 5, shared=True), (zeros, one_hot), 1.0, math.inf),
        _entry("parallel laplace, 20 x .05", _columns(20.0, 20), (np.zeros(20), np.ones(20)), 1.0, 1.0),
        _entry("prefix sums of one noise each", _columns(10.0, 10), (np.zeros(10), np.ones(10)), 1.0, 1.0),
        _entry("prefix sums, budget not split", _columns(1.0, 10), (np.zeros(10), np.ones(10)), 1.0, 10.0),
        _entry(
            "sum of absolute values",
            lambda d, r, n: np.abs(d + r.laplace(0, 1, (n, 5))).sum(1),
            (zeros, one_hot),
            1.0,
            1.0,
        ),
    )


def _histograms() -> tuple[Entry, ...]:
    """Return counts in bins; a replaced record moves two bins."""
    first, second = np.array([3.0, 2, 0, 1]), np.array([2.0, 2, 1, 1])

    def inferred(data: Array, rng: np.random.Generator, n: int) -> Array:
        return np.where(data > 0, data + rng.laplace(0, 2, (n, 4)), 0.0)

    return (
        _entry("histogram", _columns(2.0, 4), (first, second), 1.0, 1.0),
        _entry("histogram, one bin's noise", _columns(1.0, 4), (first, second), 1.0, 2.0),
        _entry("histogram, inverse scale", _columns(0.5, 4), (first, second), 1.0, 4.0),
        _entry("histogram, domain inferred", inferred, (first, second), 1.0, math.inf),
    )


def _maxima() -> tuple[Entry, ...]:
    """Return the largest of noisy answers: its index is private, its value is not free."""
    first, second = np.array([1.0, 1, 1, 1, 1]), np.array([2.0, 0, 0, 0, 0])

    def index(noise: str, scale: float) -> Run:
        return lambda d, r, n: np.argmax(d + getattr(r, noise)(scale=scale, size=(n, 5)), axis=1)

    def value(noise: str, scale: float) -> Run:
        return lambda d, r, n: np.max(d + getattr(r, noise)(scale=scale, size=(n, 5)), axis=1)

    return (
        Entry(
            name="noisy max, laplace index",
            run=index("laplace", 2.0),
            neighbours=(first, second),
            claimed=1.0,
            holds=True,
        ),
        Entry(
            name="noisy max, exponential index",
            run=index("exponential", 2.0),
            neighbours=(first, second),
            claimed=1.0,
            holds=True,
        ),
        Entry(
            name="noisy max, gumbel index",
            run=index("gumbel", 2.0),
            neighbours=(first, second),
            claimed=1.0,
            holds=True,
        ),
        Entry(
            name="noisy max, laplace value",
            run=value("laplace", 2.0),
            neighbours=(np.ones(5), 2 * np.ones(5)),
            claimed=1.0,
            holds=False,
        ),
        Entry(
            name="noisy max, exponential value",
            run=value("exponential", 2.0),
            neighbours=(np.ones(5), 2 * np.ones(5)),
            claimed=1.0,
            holds=False,
        ),
        Entry(
            name="noisy max, too little noise",
            run=index("gumbel", 0.5),
            neighbours=(first, second),
            claimed=1.0,
            holds=False,
        ),
        Entry(
            name="noisy max without noise",
            run=index("laplace", 1e-9),
            neighbours=(first, second),
            claimed=1.0,
            holds=False,
        ),
    )


def _sparse(threshold_scale: float, query_scale: float, most: int, *, answer: bool = False, fresh: bool = False) -> Run:
    """Return a sparse vector run: 1 above the threshold, 0 below, -1 after `most` hits; `answer` shows the query."""

    def run(data: Array, rng: np.random.Generator, n: int) -> Array:
        threshold = 1.0 + rng.laplace(0, threshold_scale, n) if threshold_scale else np.full(n, 1.0)
        hits, shown = np.zeros(n), np.empty((n, len(data)))
        for place, query in enumerate(data):
            noisy = query + (rng.laplace(0, query_scale, n) if query_scale else 0.0)
            above = (noisy >= threshold) & (hits < most)
            shown[:, place] = np.where(hits >= most, -1.0, np.where(above, noisy if answer else 1.0, 0.0))
            hits += above
            if fresh:
                threshold = np.where(above, 1.0 + rng.laplace(0, threshold_scale, n), threshold)
        return shown

    return run


def _sparse_vectors() -> tuple[Entry, ...]:
    """Return the six published variants (Lyu, Su and Li 2017) at epsilon 1, one hit allowed, ten queries."""
    pair = (np.concatenate([np.zeros(5), 2 * np.ones(5)]), np.concatenate([np.ones(5), np.ones(5)]))
    runs = {
        "sparse vector 1": (_sparse(2.0, 4.0, 1), True),
        "sparse vector 2": (_sparse(2.0, 4.0, 1, fresh=True), True),
        "sparse vector 3, answers shown": (_sparse(2.0, 2.0, 1, answer=True), False),
        "sparse vector 4, queries share": (_sparse(4.0, 4 / 3, 1), False),
        "sparse vector 5, exact queries": (_sparse(2.0, 0.0, 10), False),
        "sparse vector 6, no limit": (_sparse(2.0, 2.0, 10), False),
    }
    return tuple(
        Entry(name=name, run=run, neighbours=pair, claimed=1.0, holds=holds) for name, (run, holds) in runs.items()
    )


def _flip(truth: float) -> Run:
    return lambda d, r, n: np.where(r.random(n) < truth, d, 1 - d)


def _categories(truth: float, size: int) -> Run:
    return lambda d, r, n: np.where(r.random(n) < truth, d, (d + r.integers(1, size, n)) % size)


def _unary(p: float, q: float) -> Run:
    return lambda d, r, n: r.random((n, 8)) < np.where(np.eye(8)[d] > 0, p, q)


def _local() -> tuple[Entry, ...]:
    """Return local randomisers, whose epsilon is a ratio of two probabilities."""
    e, half = math.e, math.exp(0.5)
    return (
        _entry("randomised response", _flip(e / (1 + e)), (0, 1), 1.0, 1.0),
        _entry("randomised response, coin of 3/4", _flip(0.9), (0, 1), 1.0, math.log(9)),
        _entry("response among 5", _categories(e / (e + 4), 5), (0, 1), 1.0, 1.0),
        _entry("response among 5, wrong size", _categories(e / (e + 1), 5), (0, 1), 1.0, 1.0 + math.log(4)),
        _entry("unary, symmetric", _unary(half / (1 + half), 1 / (1 + half)), (0, 1), 1.0, 1.0),
        _entry("unary, budget not halved", _unary(e / (1 + e), 1 / (1 + e)), (0, 1), 1.0, 2.0),
        _entry("unary, optimised", _unary(0.5, 1 / (1 + e)), (0, 1), 1.0, 1.0),
        _entry("unary, optimised, wrong q", _unary(0.5, 1 / (1 + e * e)), (0, 1), 1.0, 2.0),
    )


def _tree(scale: float) -> Run:
    """Return the nodes above one leaf of a tree of eight: four noisy sums."""
    return lambda d, r, n: np.full((n, 4), float(d)) + r.laplace(0, scale, (n, 4))


def _streams() -> tuple[Entry, ...]:
    """Return counters over time."""

    def stale(data: float, rng: np.random.Generator, n: int) -> Array:
        first = data + rng.laplace(0, 1, n)
        return np.column_stack([first, first + data])

    return (
        _entry("tree of 8", _tree(4.0), (0, 1), 1.0, 1.0),
        _entry("tree of 8, depth forgotten", _tree(1.0), (0, 1), 1.0, 4.0),
        _entry("tree of 8, depth one short", _tree(3.0), (0, 1), 1.0, 4 / 3),
        _entry("stale noise", stale, (0.0, 1.0), 1.0, math.inf),
    )


def _careless() -> tuple[Entry, ...]:
    """Return sound noise around careless code."""
    noise = _laplace(1.0)

    def missing_clip(data: float, rng: np.random.Generator, n: int) -> Array:
        released: Array = noise(data, rng, n)
        return released

    def nan(data: float, rng: np.random.Generator, n: int) -> Array:
        return np.asarray(noise(data, rng, n)) / (1.0 if math.isfinite(data) else math.nan)

    def length(data: int, rng: np.random.Generator, n: int) -> list[list[float]]:
        return [list(rng.laplace(size=3 + data)) for _ in range(n)]

    def true_count(data: tuple[float, int], rng: np.random.Generator, n: int) -> Array:
        return np.column_stack([data[0] + rng.laplace(size=n), np.full(n, data[1])])

    def overflow(data: int, rng: np.random.Generator, n: int) -> Array:
        wrapped: Array = ((data + np.round(rng.laplace(size=n))).astype(np.int64) % 256).astype(np.uint8)
        return wrapped

    return (
        _entry("clip missing", missing_clip, (0.0, 50.0), 1.0, 50.0),
        _entry("NaN passed on", nan, (0.0, math.nan), 1.0, math.inf),
        _entry("length of the data shown", length, (0, 1), 1.0, math.inf),
        _entry("true count beside the sum", true_count, ((0.0, 10), (1.0, 11)), 1.0, math.inf),
        _entry("integers that wrap", overflow, (254, 255), 1.0, 1.0),
        _entry("constant output", lambda d, r, n: np.zeros(n), (0, 1), 1.0, 0.0),
        _entry("data never read", lambda d, r, n: r.standard_normal(n), (0, 1), 1.0, 0.0),
    )
