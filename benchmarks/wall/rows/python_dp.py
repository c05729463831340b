"""Rows of python-dp."""

import math
from typing import Any

from benchmarks.wall.row import Row
from dpaudit.adapters import LibraryRelease, adapt
from dpaudit.adapters.finding import library_module
from dpaudit.model.claim import Neighbours

_LIBRARY = "python-dp"


def _row(
    module: str,
    kind: str,
    pair: tuple[Any, Any],
    *,
    neighbours: Neighbours = "add_remove",
    runs: int = 20_000,
    **parameters: Any,
) -> Row:
    """Return the row of a class or function of `pydp.algorithms`, at epsilon 1."""

    def build() -> LibraryRelease:
        subject = getattr(library_module(f"pydp.algorithms.{module}", _LIBRARY), kind)
        return adapt(subject, neighbours=neighbours, pair=pair, epsilon=1.0, **parameters)

    name = kind if "dtype" not in parameters else f"{kind} of {parameters['dtype']}"
    return Row(library=_LIBRARY, name=name, pair=f"{pair[0]!r} and {pair[1]!r}", runs=runs, build=build)


_WIDE: dict[str, Any] = {"lower_bound": 1, "upper_bound": 10}
_WIDE_FLOAT: dict[str, Any] = {"lower_bound": 1.0, "upper_bound": 10.0}
_STRATEGY: dict[str, Any] = {"delta": 0.01, "max_partitions_contributed": 1}

ROWS = (
    _row("numerical_mechanisms", "LaplaceMechanism", (0.0, 1.0), neighbours="replace_one", sensitivity=1.0),
    _row("laplacian", "BoundedSum", ([1], [1, 10]), dtype="int", **_WIDE),
    _row("laplacian", "BoundedSum", ([1.0], [1.0, 10.0]), dtype="float", **_WIDE_FLOAT),
    _row("laplacian", "BoundedSum", ([1.0], [1.0, math.nan]), dtype="float", runs=6_000, **_WIDE_FLOAT),
    _row("laplacian", "BoundedSum", ([1], [1, 5]), dtype="int", runs=1_000, lower_bound=1, upper_bound=1),
    _row("laplacian", "BoundedVariance", ([1, 1, 1], [1, 1, 1, 10]), dtype="int", runs=8_000, **_WIDE),
    _row("laplacian", "BoundedStandardDeviation", ([1, 1, 1], [1, 1, 1, 10]), dtype="int", runs=8_000, **_WIDE),
    _row("laplacian", "Count", ([1], [1, 5]), dtype="int"),
    _row("laplacian", "Max", ([1, 1, 1], [1, 1, 1, 10]), dtype="int", runs=6_000, **_WIDE),
    _row("laplacian", "Min", ([9, 9, 9], [9, 9, 9, 1]), dtype="int", runs=6_000, **_WIDE),
    _row("laplacian", "Median", ([1, 5, 9], [1, 5, 9, 9]), dtype="int", runs=6_000, **_WIDE),
    _row("partition_selection", "create_truncated_geometric_partition_strategy", (2, 3), **_STRATEGY),
    _row("partition_selection", "create_truncated_geometric_partition_strategy", (0, 1), **_STRATEGY),
    _row("partition_selection", "create_laplace_partition_strategy", (0, 1), **_STRATEGY),
    _row("partition_selection", "create_laplace_partition_strategy", (5, 6), **_STRATEGY),
)
