"""Rows of SmartNoise SQL."""

from typing import Any

from dpaudit.adapters import LibraryRelease, adapt
from dpaudit.adapters.finding import library_module
from dpaudit.wall.row import Row

_LIBRARY = "smartnoise-sql"
_TABLE = {"row_privacy": True, "rows": 100, "censor_dims": False, "x": {"type": "int", "lower": 0, "upper": 10}}
_METADATA: dict[str, Any] = {"": {"s": {"t": _TABLE}}}


def _row(query: str) -> Row:
    """Return the row of one query on three and on four records, at epsilon 1 and delta .01."""

    def build() -> LibraryRelease:
        library, frames = library_module("snsql", _LIBRARY), library_module("pandas", "pandas")
        return adapt(
            library.Privacy(epsilon=1.0, delta=0.01),
            neighbours="add_remove",
            pair=tuple(frames.DataFrame({"x": [1, 2, 3, 10][:size]}) for size in (3, 4)),
            query=query,
            metadata=_METADATA,
        )

    return Row(library=_LIBRARY, name=query, pair="3 and 4 records", runs=600, build=build)


ROWS = (
    _row("SELECT COUNT(*) FROM s.t"),
    _row("SELECT SUM(x) FROM s.t"),
    _row("SELECT AVG(x) FROM s.t"),
)
