"""dp-accounting: an event is a declaration, and an accountant of the library states its epsilon at a delta."""

from collections.abc import Iterator
from typing import Any

from dpaudit.adapters.finding import library_module
from dpaudit.adapters.release import LibraryRelease, Question
from dpaudit.errors import UnsupportedError
from dpaudit.interchange.dp_event import from_event
from dpaudit.model.declaration import Declaration, Stated, Subsample, walk

_LIBRARY = "dp-accounting"


def adapt(subject: Any, question: Question) -> LibraryRelease:
    """Return claim and declaration of a `DpEvent`; the claim is that of the library's PLD accountant at `delta`.

    `accountant` among the parameters, an empty accountant of the library, replaces it; the Renyi accountant answers
    for add_remove where the PLD accountant does not. What no declaration expresses is stated by the accountant. An
    event runs nothing.
    Raises: UnsupportedError: another object, no delta, or an event that the accountants refuse.
    """
    if not isinstance(subject, library_module("dp_accounting", _LIBRARY).DpEvent):
        raise UnsupportedError(f"Expected a DpEvent of dp-accounting, got {type(subject).__name__}.")
    if question.delta is None:
        raise UnsupportedError("Expected delta=...: an accountant states epsilon at a delta.")
    epsilon, source = next(epsilons_of(subject, question, question.delta))
    declaration, because = declared(subject, question)
    return question.answer(
        question.claim(epsilon, question.delta),
        source,
        declaration,
        because,
        text=f"event {type(subject).__name__}",
        reproducible=True,
    )


def epsilons_of(event: Any, question: Question, delta: float) -> Iterator[tuple[float, str]]:
    """Yield the epsilon of an event by each accountant that reads it, and whose word it is.

    Raises: UnsupportedError: none reads it.
    """
    unsupported = library_module("dp_accounting", _LIBRARY).UnsupportedEventError
    refused, read = "", False
    for accountant in _accountants(question):
        try:
            epsilon = float(accountant.compose(event).get_epsilon(delta))
        except (NotImplementedError, ValueError, TypeError, unsupported) as error:
            refused = refused or " ".join(str(error).split())
            continue
        read = True
        yield epsilon, f"{type(accountant).__name__}.get_epsilon({delta:g})"
    if not read:
        raise UnsupportedError(f"No accountant of dp-accounting reads the event ({refused}).")


def declared(event: Any, question: Question) -> tuple[Declaration | None, str]:
    """Return the declaration of an event, or None and why it has none that bounds an epsilon."""
    try:
        declaration = from_event(event, question.neighbours)
    except UnsupportedError as error:
        return None, str(error)
    sampled = (node for _, sample in walk(declaration) if isinstance(sample, Subsample) for _, node in walk(sample))
    told = [node.source for node in sampled if isinstance(node, Stated) and node.rho is not None]
    return (None, f"{told[0]}, states a rho, which bounds no epsilon on a sample") if told else (declaration, "")


def _accountants(question: Question) -> tuple[Any, ...]:
    """Return the accountant that the user gave, or the PLD and Renyi accountants for the neighbours of a question."""
    if question.parameters.get("accountant") is not None:
        return (question.parameters["accountant"],)
    relation = library_module("dp_accounting", _LIBRARY).NeighboringRelation
    pld, rdp = (library_module(f"dp_accounting.{name}", _LIBRARY) for name in ("pld", "rdp"))
    if question.neighbours == "replace_one":  # the Renyi accountant reads half the distance (differential-privacy 378)
        return (pld.PLDAccountant(relation.REPLACE_ONE),)
    return pld.PLDAccountant(relation.ADD_OR_REMOVE_ONE), rdp.RdpAccountant()
