"""Rows of diffprivlib."""

import math
from collections.abc import Callable
from operator import itemgetter
from typing import Any

import numpy as np

from benchmarks.wall.row import Replay, Row, Standing, replay_row
from dpaudit.adapters import LibraryRelease, adapt
from dpaudit.adapters.finding import installed_version, library_module
from dpaudit.model.claim import Neighbours

_LIBRARY = "diffprivlib"
_FINE: dict[str, Any] = {"standing": "known bug", "source": "diffprivlib 19, 94: outputs near 0 have finer bits"}
_MISSING: dict[str, Any] = {"standing": "known bug", "source": "Cebere and others 2026: NaN passes a clip"}


def _mechanism(
    kind: str,
    pair: tuple[Any, Any],
    *,
    runs: int = 20_000,
    standing: Standing = "sound",
    source: str = "",
    **parameters: Any,
) -> Row:
    """Return the row of a mechanism, by the name of its class."""

    def build() -> LibraryRelease:
        made = getattr(library_module("diffprivlib.mechanisms", _LIBRARY), kind)(**parameters)
        return adapt(made, neighbours="replace_one", pair=pair)

    shown = f"{pair[0]!r} and {pair[1]!r}"
    return Row(library=_LIBRARY, name=kind, pair=shown, runs=runs, build=build, standing=standing, source=source)


def _statistic(
    name: str,
    first: list[float],
    second: list[float],
    *,
    neighbours: Neighbours = "replace_one",
    released: Callable[[Any], Any] | None = None,
    runs: int = 10_000,
    standing: Standing = "sound",
    source: str = "",
    **parameters: Any,
) -> Row:
    """Return the row of a function of `diffprivlib.tools`, at epsilon 1."""

    def build() -> LibraryRelease:
        function = getattr(library_module("diffprivlib.tools", _LIBRARY), name)
        pair = np.array(first), np.array(second)
        return adapt(function, neighbours=neighbours, pair=pair, released=released, epsilon=1.0, **parameters)

    return Row(
        library=_LIBRARY,
        name=f"{name}, {neighbours}",
        pair=f"{first} and {second}",
        runs=runs,
        build=build,
        standing=standing,
        source=source,
    )


_INTERIOR = ([0.2, 0.2, 0.2, 0.8, 0.8], [0.2, 0.2, 0.8, 0.8, 0.8])
_BINS: dict[str, Any] = {"bins": 2, "range": (0.0, 1.0), "released": itemgetter(0)}


def _second_degree() -> Replay:
    """Return how far one record moves the second-degree coefficient of a linear regression that is released bare.

    With bounds (0, 100) the noise is scaled by the square of the lower bound alone. What differs between seeds has
    noise, and counts as not moved.
    """
    module = library_module("diffprivlib.models.linear_regression", _LIBRARY)
    released_by = module._construct_regression_obj  # noqa: SLF001 - what is released before the slow fit
    bounds = (np.zeros(1), np.full(1, 100.0)), (np.zeros(1), np.ones(1))
    released: list[set[float]] = []
    for last in (0.0, 100.0):
        data = np.array([[0.0], [0.0], [0.0], [last]])
        made = [
            released_by(data, np.zeros((4, 1)), *bounds, 1.0, 0.0, np.random.RandomState(seed)) for seed in range(8)
        ]
        released.append({float(coefficients[2][0, 0]) for _, coefficients in made})
    bare = all(len(values) == 1 for values in released)
    return Replay(
        text="second-degree coefficient without noise, 8 seeds",
        claimed=0.0,
        seen=abs(released[0].pop() - released[1].pop()) if bare else 0.0,
        version=installed_version(_LIBRARY),
    )


ROWS = (
    _mechanism("Laplace", (0.0, 1.0), epsilon=1.0, sensitivity=1.0, **_FINE),
    _mechanism(
        "Laplace",
        (0.0, 1.0),
        epsilon=1.0,
        sensitivity=0.0,
        standing="misuse",
        source="at sensitivity 0 the two numbers are no neighbours",
    ),
    _mechanism("LaplaceFolded", (0.0, 1.0), epsilon=1.0, sensitivity=1.0, lower=0.0, upper=1.0, **_FINE),
    _mechanism("LaplaceBoundedNoise", (0.0, 1.0), epsilon=1.0, delta=0.1, sensitivity=1.0, runs=8_000, **_FINE),
    _mechanism("Snapping", (0.0, 1.0), epsilon=1.0, sensitivity=1.0, lower=-10.0, upper=10.0, runs=8_000),
    _mechanism("Snapping", (0.0, 1.0), epsilon=2.0, sensitivity=1.0, lower=-10.0, upper=10.0, runs=8_000),
    _mechanism("Geometric", (0, 1), epsilon=1.0, sensitivity=1),
    _mechanism("Geometric", (0, 2), epsilon=0.5, sensitivity=2),
    _mechanism("Geometric", (-1000, -999), epsilon=2.0, sensitivity=1),
    _mechanism("GeometricTruncated", (0, 1), epsilon=1.0, sensitivity=1, lower=0, upper=3),
    _mechanism("GeometricFolded", (0, 1), epsilon=1.0, sensitivity=1, lower=0, upper=3),
    _mechanism("GaussianDiscrete", (0, 1), epsilon=1.0, delta=0.01, sensitivity=1, runs=6_000),
    _mechanism("Binary", ("a", "b"), epsilon=1.0, value0="a", value1="b"),
    _mechanism("Binary", ("a", "b"), epsilon=3.0, value0="a", value1="b"),
    _statistic("mean", [0.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 1.0], bounds=(0.0, 1.0), **_FINE),
    _statistic("sum", [0.0, 0.0], [0.0, 1.0], bounds=(0.0, 1.0), **_FINE),
    _statistic("median", *_INTERIOR, bounds=(0.0, 1.0), runs=6_000),
    _statistic("histogram", [0.1], [0.1, 0.9], neighbours="add_remove", runs=6_000, **_BINS),
    _statistic("count_nonzero", [1.0, 0.0], [1.0, 1.0]),
    _statistic(
        "histogram", [0.1, 0.1], [0.1, 0.9], standing="misuse", source="its sensitivity is for add_remove", **_BINS
    ),
    _statistic(
        "sum",
        [0.0, 1.0],
        [0.0],
        neighbours="add_remove",
        bounds=(0.0, 1.0),
        runs=6_000,
        standing="misuse",
        source="its sensitivity is for replace_one",
    ),
    _statistic("mean", [0.0] * 4, [0.0, 0.0, 0.0, math.nan], bounds=(0.0, 1.0), runs=60, **_MISSING),
    _statistic("median", [0.2, 0.2, 0.8], [0.2, 0.2, math.nan], bounds=(0.0, 1.0), runs=60, **_MISSING),
    replay_row(
        _LIBRARY,
        "linear regression, second degree",
        _second_degree,
        pair="four records of 0, one of them 100",
        source="diffprivlib 104, 105",
    ),
)
