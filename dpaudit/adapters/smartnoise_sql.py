"""SmartNoise SQL: one query on a data frame; the reader states the cost of the query."""

from collections.abc import Iterator, Mapping
from typing import Any

from dpaudit.adapters.awkward import AwkwardPair
from dpaudit.adapters.awkward_frames import awkward_frames
from dpaudit.adapters.calls import Calls
from dpaudit.adapters.finding import library_module
from dpaudit.adapters.noise import noise
from dpaudit.adapters.release import LibraryRelease, Question
from dpaudit.errors import UnsupportedError
from dpaudit.model.declaration import Declaration, Sequential

_LIBRARY = "smartnoise-sql"
_RUNS = "One run takes some 50 ms; 2,000 runs are a sensible first audit."
_MISUSE = "Misuse: the reader's sensitivities are for an added or removed record, not for a replaced one."


def adapt(subject: Any, question: Question) -> LibraryRelease:
    """Return the release of one SQL query under a `Privacy` object; `query` and `metadata` are parameters.

    The data sets are pandas frames. The claim is `get_privacy_cost(query)` of a reader on the first of them, which
    does not depend on its rows. Its Laplace noise on counts and sums of the whole table is declared; queries by group,
    whose keys are shown above a threshold, and Gaussian noise are stated. Every run makes a fresh reader, since a
    reader adds to its odometer. Where `metadata` is a mapping whose tables all protect rows (`row_privacy`), the
    release has awkward neighbours: a frame with a row more. Where a column names the person, what a person adds is not
    known here.
    Raises: UnsupportedError: another object, no query, no metadata, or no pair to make a reader on.
    """
    given = dict(question.parameters)
    if type(subject).__name__ != "Privacy":
        raise UnsupportedError(f"Expected a snsql.Privacy object, got {type(subject).__name__}.")
    if not {"query", "metadata"} <= set(given) or question.pair is None:
        raise UnsupportedError("Expected query=..., metadata=... and pair=(frame, neighbouring frame).")
    query, metadata = str(given["query"]), given["metadata"]
    reader, source = _reader(subject, metadata, question.pair[0]), "reader.get_privacy_cost(query)"
    epsilon, delta = reader.get_privacy_cost(query)
    claim = question.claim(float(epsilon), float(delta))
    declaration = _declared(reader, query) if question.neighbours == "add_remove" else None

    def call(frame: Any) -> Any:
        return _reader(subject, metadata, frame).execute(query)[1:]  # the first row holds the names of the columns

    return question.answer(
        claim,
        source,
        declaration,
        "not every column is Laplace noise on a number for the whole table",
        text=query,
        function=Calls(call=call, released=question.released),
        awkward=_awkward(question, metadata),
        notes=(_RUNS,) if question.neighbours == "add_remove" else (_RUNS, _MISUSE),
    )


def _declared(reader: Any, query: str) -> Declaration | None:
    """Return the noise that a reader has chosen for the columns of a query, or None where one is no Laplace noise.

    The keys of groups have no noise: which of them are shown is decided by a threshold, and stated.
    """
    try:
        columns = reader._get_mechanisms(reader._rewrite(query)[0])
    except (AttributeError, TypeError, ValueError):  # another version of the library
        return None
    parts = []
    for number, column in enumerate(columns):
        if type(column).__name__ != "Laplace":
            return None
        moved, label = float(column.sensitivity * column.max_contrib), f"{_LIBRARY} column {number}"
        parts.append(noise(label, "laplace", column.scale, moved, "add_remove", epsilon=column.epsilon))
    declared_parts = tuple(part for part in parts if part is not None)
    return Sequential(parts=declared_parts) if declared_parts and len(declared_parts) == len(parts) else None


def _reader(privacy: Any, metadata: Any, frame: Any) -> Any:
    """Return a fresh private reader on a frame."""
    return library_module("snsql", _LIBRARY).from_df(frame, privacy=privacy, metadata=metadata)


def _awkward(question: Question, metadata: Any) -> tuple[AwkwardPair, ...]:
    """Return frames of which one has an awkward row more, where rows are what is protected."""
    tables = list(_tables(metadata))
    by_rows = bool(tables) and all(table["row_privacy"] is True for table in tables)
    if question.pair is None or question.neighbours != "add_remove" or not by_rows:
        return ()
    return awkward_frames(question.pair, question.neighbours)


def _tables(metadata: Any) -> Iterator[Mapping[str, Any]]:
    """Yield the tables of metadata, mappings at the third level; one without the key does not protect rows.

    >>> list(_tables({"": {"s": {"t": {"row_privacy": True}, "u": {}}}}))
    [{'row_privacy': True}, {'row_privacy': False}]
    """
    level = [metadata]
    for _ in range(3):
        level = [inner for outer in level if isinstance(outer, Mapping) for inner in outer.values()]
    for table in level:
        if isinstance(table, Mapping):
            yield {"row_privacy": False} | dict(table)
