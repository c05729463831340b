"""Opacus: a privacy engine accounts for the steps of a training; its accountant states epsilon at a delta."""

from typing import Any

from dpaudit.adapters.release import LibraryRelease, Question
from dpaudit.errors import UnsupportedError
from dpaudit.interchange.opacus_history import from_history


def adapt(subject: Any, question: Question) -> LibraryRelease:
    """Return claim and declaration of a privacy engine, or of its accountant, after a training.

    The history of the accountant is the declaration; its epsilon at `delta` is the claim. An engine runs nothing by
    itself: `audits.audit_training` audits the training.
    Raises: UnsupportedError: no accountant, no delta, or other neighbours than `add_remove`.
    """
    accountant = getattr(subject, "accountant", subject)
    if not hasattr(accountant, "history") or not hasattr(accountant, "get_epsilon"):
        raise UnsupportedError(f"Expected a PrivacyEngine or an accountant of Opacus, got {type(subject).__name__}.")
    if question.delta is None:
        raise UnsupportedError("Expected delta=...: the accountant states epsilon at a delta.")
    if question.neighbours != "add_remove":
        raise UnsupportedError("Expected neighbours='add_remove', which Opacus accounts for.")
    kind = type(accountant).__name__
    source = f"{kind}.get_epsilon({question.delta:g})"
    return question.answer(
        question.claim(float(accountant.get_epsilon(question.delta)), question.delta),
        source,
        from_history(accountant.history),
        text=f"training of {sum(int(steps) for _, _, steps in accountant.history)} steps",
        notes=("The accountant records neither whether batches were Poisson samples nor whether noise was added.",),
    )
