"""dp-accounting: an event is a declaration, and an accountant of the library states its epsilon at a delta."""

from typing import Any

from dpaudit.adapters.finding import installed_version, library_module
from dpaudit.adapters.release import LibraryRelease, Question
from dpaudit.errors import UnsupportedError
from dpaudit.interchange.dp_event import from_event

_LIBRARY = "dp-accounting"


def adapt(subject: Any, question: Question) -> LibraryRelease:
    """Return claim and declaration of a `DpEvent`; the claim is that of the library's PLD accountant at `delta`.

    `accountant` among the parameters, an empty accountant of the library, replaces it. The accountant reads the event
    for the neighbours of the question. An event runs nothing.
    Raises: UnsupportedError: another object, no delta, or an event that the accountant or a declaration cannot express.
    """
    version = installed_version(_LIBRARY)
    events = library_module("dp_accounting", _LIBRARY)
    if not isinstance(subject, events.DpEvent):
        raise UnsupportedError(f"Expected a DpEvent of dp-accounting, got {type(subject).__name__}.")
    if question.delta is None:
        raise UnsupportedError("Expected delta=...: an accountant states epsilon at a delta.")
    declaration = from_event(subject, question.neighbours)
    accountant = question.parameters.get("accountant") or _accountant(question)
    try:
        epsilon = float(accountant.compose(subject).get_epsilon(question.delta))
    except (NotImplementedError, ValueError, TypeError) as error:
        raise UnsupportedError(f"The accountant of dp-accounting refuses the event ({error}).") from None
    return LibraryRelease(
        library=_LIBRARY,
        version=version,
        text=f"event {type(subject).__name__}",
        claim=question.claim(epsilon, question.delta),
        source=f"{type(accountant).__name__}.get_epsilon({question.delta:g})",
        declaration=declaration,
        reproducible=True,
    )


def _accountant(question: Question) -> Any:
    """Return the library's PLD accountant for the neighbours of a question."""
    library = library_module("dp_accounting", _LIBRARY)
    pld = library_module("dp_accounting.pld", _LIBRARY)
    relations = {
        "add_remove": library.NeighboringRelation.ADD_OR_REMOVE_ONE,
        "replace_one": library.NeighboringRelation.REPLACE_ONE,
    }
    return pld.PLDAccountant(relations[question.neighbours])
