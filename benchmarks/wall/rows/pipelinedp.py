"""Rows of PipelineDP."""

from typing import Any

from benchmarks.wall.row import Row
from dpaudit.adapters import LibraryRelease, adapt
from dpaudit.adapters.finding import library_module

_LIBRARY = "pipeline-dp"


def _row(
    name: str,
    metrics: tuple[str, ...],
    first: list[tuple[int, str, int]],
    second: list[tuple[int, str, int]],
    *,
    delta: float = 1e-6,
    public: bool = True,
    runs: int = 3_000,
    **limits: Any,
) -> Row:
    """Return the row of an aggregation, at epsilon 1; one privacy id is added."""

    def build() -> LibraryRelease:
        library = library_module("pipeline_dp", _LIBRARY)
        parameters = library.AggregateParams(
            metrics=[getattr(library.Metrics, metric) for metric in metrics],
            noise_kind=library.NoiseKind.LAPLACE,
            max_partitions_contributed=1,
            max_contributions_per_partition=1,
            **limits,
        )
        partitions = ["a"] if public else None
        return adapt(
            parameters,
            neighbours="add_remove",
            pair=(first, second),
            unit="one privacy id",
            epsilon=1.0,
            delta=delta,
            public_partitions=partitions,
        )

    shown = f"{len(first)} and {len(second)} privacy ids"
    return Row(library=_LIBRARY, name=name, pair=shown, runs=runs, build=build)


def _people(number: int, value: int = 0) -> list[tuple[int, str, int]]:
    """Return one row for each of so many people, in one partition."""
    return [(person, "a", value) for person in range(1, number + 1)]


ROWS = (
    _row("COUNT, public partition", ("COUNT",), _people(1), _people(2)),
    _row("PRIVACY_ID_COUNT, public partition", ("PRIVACY_ID_COUNT",), _people(1), _people(2)),
    _row("SUM, public partition", ("SUM",), _people(1), [*_people(1), (2, "a", 1)], min_value=0, max_value=1),
    _row("MEAN, public partition", ("MEAN",), _people(1), [*_people(1), (2, "a", 1)], min_value=0, max_value=1),
    _row(
        "COUNT, a new key", ("COUNT",), _people(50), [*_people(50), (51, "b", 0)], public=False, delta=0.01, runs=4_000
    ),
)
