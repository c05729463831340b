"""SmartNoise SQL: one query on a data frame; the reader states the cost of the query."""

from typing import Any

from dpaudit.adapters.calls import Calls, published
from dpaudit.adapters.finding import installed_version, library_module
from dpaudit.adapters.release import LibraryRelease, Question, stated
from dpaudit.errors import UnsupportedError

_LIBRARY = "smartnoise-sql"
_RUNS = "one run takes some 50 ms; 2,000 runs are a sensible first audit"


def adapt(subject: Any, question: Question) -> LibraryRelease:
    """Return the release of one SQL query under a `Privacy` object; `query` and `metadata` are parameters.

    The data sets are pandas frames. The claim is `get_privacy_cost(query)` of a reader on the first of them, which
    does not depend on its rows. Every run makes a fresh reader, since a reader adds to its odometer.
    Raises: UnsupportedError: another object, no query, no metadata, or no pair to make a reader on.
    """
    version, given = installed_version(_LIBRARY), dict(question.parameters)
    if type(subject).__name__ != "Privacy":
        raise UnsupportedError(f"Expected a snsql.Privacy object, got {type(subject).__name__}.")
    if not {"query", "metadata"} <= set(given) or question.pair is None:
        raise UnsupportedError("Expected query=..., metadata=... and pair=(frame, neighbouring frame).")
    query, metadata = str(given["query"]), given["metadata"]
    epsilon, delta = _reader(subject, metadata, question.pair[0]).get_privacy_cost(query)
    claim = question.claim(float(epsilon), float(delta))
    source = "reader.get_privacy_cost(query)"

    def call(frame: Any) -> Any:
        return _reader(subject, metadata, frame).execute(query)[1:]  # the first row holds the names of the columns

    return LibraryRelease(
        library=_LIBRARY,
        version=version,
        text=query,
        claim=claim,
        source=source,
        declaration=stated(claim, _LIBRARY, version, source),
        stated_because="the mechanism of each column is the reader's choice",
        function=Calls(call=published(call, question.released)),
        pair=question.pair,
        reproducible=False,
        notes=(_RUNS,),
    )


def _reader(privacy: Any, metadata: Any, frame: Any) -> Any:
    """Return a fresh private reader on a frame."""
    return library_module("snsql", _LIBRARY).from_df(frame, privacy=privacy, metadata=metadata)
