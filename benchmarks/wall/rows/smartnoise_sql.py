"""Rows of SmartNoise SQL."""

from typing import Any

from benchmarks.wall.row import Replay, Row, replay_row
from dpaudit.adapters import LibraryRelease, adapt
from dpaudit.adapters.finding import installed_version, library_module
from dpaudit.certification.verdict import certify
from dpaudit.model.claim import Claim
from dpaudit.model.declaration import Release, Repeat
from dpaudit.runtime.plugins import find_plugin

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


def _odometer() -> Replay:
    """Return the least epsilon that 100 queries of epsilon 0.1 lose, against what the odometer says they spend."""
    library = library_module("snsql", _LIBRARY)
    odometer = library_module("snsql.sql.odometer", _LIBRARY).Odometer(library.Privacy(epsilon=0.1, delta=1e-6))
    odometer.spend(100)
    epsilon, delta = (float(number) for number in odometer.spent)
    response = find_plugin("mechanisms", "randomised_response")(epsilon=0.1)
    queries = Repeat(part=Release(label="query", mechanism=response), times=100)
    certificate = certify(queries, Claim(epsilon=epsilon, delta=delta, neighbours="replace_one"))
    return Replay(
        text="odometer after 100 queries of epsilon 0.1, and what they lose at least at its delta",
        claimed=epsilon,
        seen=certificate.tight.epsilon.lower,
        version=installed_version(_LIBRARY),
    )


ROWS = (
    _row("SELECT COUNT(*) FROM s.t"),
    _row("SELECT SUM(x) FROM s.t"),
    _row("SELECT AVG(x) FROM s.t"),
    replay_row(
        _LIBRARY,
        "odometer",
        _odometer,
        pair="100 queries of epsilon 0.1",
        source="smartnoise-sdk 621: its other term hides the missing logarithm",
        standing="sound",
    ),
)
