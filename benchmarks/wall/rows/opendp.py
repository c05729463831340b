"""Rows of OpenDP."""

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from benchmarks.wall.row import Replay, Row, Standing, replay_row
from dpaudit.adapters import LibraryRelease, adapt
from dpaudit.adapters.finding import installed_version, library_module
from dpaudit.model.claim import Neighbours

_LIBRARY = "opendp"


def _prelude() -> Any:
    """Return OpenDP's prelude with its contributed part."""
    prelude = library_module("opendp.prelude", _LIBRARY)
    prelude.enable_features("contrib", "honest-but-curious")
    return prelude


def _row(
    name: str,
    pair: tuple[Any, Any],
    make: Callable[[Any], Any],
    *,
    neighbours: Neighbours = "replace_one",
    distance: Any = None,
    delta: float | None = None,
    runs: int = 20_000,
    standing: Standing = "sound",
    source: str = "",
) -> Row:
    """Return the row of a measurement that `make` builds from the prelude."""

    def build() -> LibraryRelease:
        return adapt(make(_prelude()), neighbours=neighbours, pair=pair, distance=distance, delta=delta)

    shown = f"{pair[0]!r} and {pair[1]!r}"
    return Row(library=_LIBRARY, name=name, pair=shown, runs=runs, build=build, standing=standing, source=source)


def _number(kind: str, noise: str, p: Any) -> Any:
    """Return noise of scale 1 on one number."""
    number = {"float": float, "int": int}[kind]
    domain = p.atom_domain(T=number, nan=False) if kind == "float" else p.atom_domain(T=number)
    return (domain, p.absolute_distance(T=number)) >> getattr(p.m, f"then_{noise}")(scale=1.0)


def _counted(p: Any, then: str = "laplace") -> Any:
    """Return a noisy count of whole numbers."""
    space = p.vector_domain(p.atom_domain(T=int)), p.symmetric_distance()
    return space >> p.t.then_count() >> getattr(p.m, f"then_{then}")(scale=1.0)


def _summed(p: Any, *, mean: bool = False) -> Any:
    """Return a noisy sum or mean of clamped floats, of known size."""
    space = p.vector_domain(p.atom_domain(T=float, nan=False), size=4), p.symmetric_distance()
    clamped = space >> p.t.then_clamp((0.0, 1.0))
    total = clamped >> (p.t.then_mean() if mean else p.t.then_sum())

    def noisy(scale: float) -> Any:
        return total >> p.m.then_laplace(scale=scale)

    return p.binary_search_chain(noisy, d_in=2, d_out=1.0)


def _resized_mean(p: Any) -> Any:
    """Return a noisy mean of clamped floats that are resized to four; its domain holds no NaN."""
    space = p.vector_domain(p.atom_domain(T=float, nan=False)), p.symmetric_distance()
    mean = space >> p.t.then_clamp((0.0, 1.0)) >> p.t.then_resize(size=4, constant=0.5) >> p.t.then_mean()
    return mean >> p.m.then_laplace(scale=0.25)


def _threshold(p: Any) -> Any:
    """Return counts by key that are released above a threshold."""
    space = p.vector_domain(p.atom_domain(T=str)), p.symmetric_distance()
    return space >> p.t.then_count_by(TV=int) >> p.m.then_laplace_threshold(scale=1.0, threshold=5)


def _noisy_max(p: Any) -> Any:
    """Return the index of the noisy maximum of two scores."""
    space = p.vector_domain(p.atom_domain(T=float, nan=False)), p.linf_distance(T=float)
    return space >> p.m.then_noisy_max(p.max_divergence(), scale=1.0)


def _response(p: Any) -> Any:
    """Return randomised response on one bit."""
    return p.m.make_randomized_response_bool(prob=0.731)


def _bits(p: Any) -> Any:
    """Return randomised response on a vector of bits of weight two."""
    return p.m.make_randomized_response_bitvec(p.bitvector_domain(max_weight=2), p.discrete_distance(), f=0.5)


def _geometric(p: Any) -> Any:
    """Return geometric noise on a count."""
    space = p.vector_domain(p.atom_domain(T=int)), p.symmetric_distance()
    return space >> p.t.then_count() >> p.m.then_geometric(scale=1.0)


def _amplified(p: Any) -> Any:
    """Return a mean whose claim assumes sampling that its user must do."""
    space = p.vector_domain(p.atom_domain(T=float, nan=False), size=4), p.symmetric_distance()
    mean = space >> p.t.then_clamp((0.0, 10.0)) >> p.t.then_mean() >> p.m.then_laplace(scale=10.0)
    return p.c.make_population_amplification(mean, population_size=40)


def _quantile(p: Any) -> Any:
    """Return a private quantile among candidates."""
    space = p.vector_domain(p.atom_domain(T=float, nan=False)), p.symmetric_distance()
    scores = space >> p.t.then_quantile_score_candidates([0.0, 25.0, 50.0, 75.0, 100.0], alpha=0.5)
    return scores >> p.m.then_noisy_max(p.max_divergence(), scale=1.0, negate=True)


def _squared_deviations() -> Replay:
    """Return how far one replaced record moves a sum of squared deviations at bounds near 2^50."""
    p, start, size = _prelude(), 2.0**50, 1024
    space = p.vector_domain(p.atom_domain(bounds=(start, start + 1)), size=size), p.symmetric_distance()
    deviations = space >> p.t.then_sum_of_squared_deviations()
    first = [start + 0.25] * size
    seen = abs(deviations(first) - deviations([*first[1:], start + 0.5]))
    return Replay(
        text="sum of squared deviations, one record replaced",
        claimed=float(deviations.map(2)),
        seen=float(seen),
        version=installed_version(_LIBRARY),
    )


def _resized() -> Replay:
    """Return how far apart, by insertions and deletions, resizing puts two lists that differ by one record.

    Resizing shuffles a list that is too short or as long as wanted and not one that is too long: of 200 calls on each
    list the largest distance counts.
    """
    p = _prelude()
    domain, metric = p.vector_domain(p.atom_domain(T=int)), p.insert_delete_distance()
    resize = p.t.make_resize(domain, metric, size=3, constant=0, MO="InsertDeleteDistance")
    first, second = ({tuple(resize(data)) for _ in range(200)} for data in ([0, 1, 2, 9], [0, 1, 2]))
    return Replay(
        text="resize, one record inserted, 200 calls of each",
        claimed=float(resize.map(1)),
        seen=float(max(insert_delete_distance(one, other) for one in first for other in second)),
        version=installed_version(_LIBRARY),
    )


def insert_delete_distance(first: Sequence[Any], second: Sequence[Any]) -> int:
    """Return the least number of insertions and deletions from one sequence to the other.

    >>> insert_delete_distance((0, 1, 2), (2, 1, 0)), insert_delete_distance((), (1,))
    (4, 1)
    """
    row = list(range(len(second) + 1))
    for place, one in enumerate(first, start=1):
        above, row = row, [place]
        for column, other in enumerate(second, start=1):
            row.append(above[column - 1] if one == other else 1 + min(above[column], row[-1]))
    return row[-1]


ROWS = (
    _row("Laplace on a float", (0.0, 1.0), partial(_number, "float", "laplace"), distance=1.0),
    _row("Laplace on an integer", (0, 1), partial(_number, "int", "laplace"), distance=1),
    _row("Gaussian on a float", (0.0, 1.0), partial(_number, "float", "gaussian"), distance=1.0, delta=1e-5),
    _row("Gaussian on an integer", (0, 1), partial(_number, "int", "gaussian"), distance=1, delta=1e-5),
    _row("count, Laplace, no data", ([], [5]), _counted, neighbours="add_remove"),
    _row("count, Gaussian", ([1], [1, 5]), partial(_counted, then="gaussian"), neighbours="add_remove", delta=1e-5),
    _row("count, geometric", ([1], [1, 5]), _geometric, neighbours="add_remove"),
    _row("sum of clamped floats", ([0.0] * 4, [0.0, 0.0, 0.0, 1.0]), _summed),
    _row("mean of clamped floats", ([0.0] * 4, [0.0, 0.0, 0.0, 1.0]), partial(_summed, mean=True)),
    _row(
        "mean of clamped floats, resized, NaN in the data",
        ([1.0] * 4, [1.0, 1.0, 1.0, math.nan]),
        _resized_mean,
        runs=120,  # a refusal takes a tenth of a second
        standing="misuse",
        source="its domain holds no NaN, and the call refuses it",
    ),
    _row("noisy maximum", ([0.0, 0.0], [1.0, -1.0]), _noisy_max, distance=1.0),
    _row("randomised response, one bit", (False, True), _response, distance=1),
    _row("randomised response, bits", (b"\x03", b"\x0c"), _bits, distance=1),
    _row("quantile", ([0.0, 0.0, 100.0], [0.0, 0.0, 100.0, 100.0]), _quantile, neighbours="add_remove"),
    _row(
        "counts by key above a threshold, a new key",
        ([], ["x"]),
        _threshold,
        neighbours="add_remove",
        runs=60_000,
        standing="known bug",
        source="opendp 2922",
    ),
    _row(
        "amplification without sampling",
        ([0.0] * 4, [0.0, 0.0, 0.0, 10.0]),
        _amplified,
        standing="misuse",
        source="the claim is for a random sample",
    ),
    replay_row(
        _LIBRARY,
        "sum of squared deviations",
        _squared_deviations,
        pair="1,024 records near 2^50, one replaced",
        source="opendp 2923",
    ),
    replay_row(
        _LIBRARY,
        "resize by insertions and deletions",
        _resized,
        pair="0, 1, 2, 9 and 0, 1, 2",
        source="opendp 2927",
    ),
)
