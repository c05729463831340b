"""python-dp (Google's library): algorithms, noise mechanisms and partition selection, by class and parameters."""

import inspect
from collections.abc import Callable
from typing import Any

from dpaudit.adapters.awkward import AwkwardPair, awkward_records, awkward_values
from dpaudit.adapters.calls import Calls
from dpaudit.adapters.noise import noise
from dpaudit.adapters.release import LibraryRelease, Question
from dpaudit.errors import UnsupportedError
from dpaudit.model.claim import Claim
from dpaudit.model.declaration import Declaration

_LIBRARY = "python-dp"


def adapt(subject: Any, question: Question) -> LibraryRelease:
    """Return the release of an algorithm or mechanism class, or of a function that creates a partition strategy.

    `subject` is the class with its `parameters`, not an object: an algorithm publishes once, so that every run needs a
    fresh one. Laplace noise with a known sensitivity is declared; all else is stated.
    Raises: UnsupportedError: an object in place of a class, or no epsilon among the parameters.
    """
    given = question.with_delta()
    name = getattr(subject, "__name__", type(subject).__name__)
    if not (inspect.isclass(subject) or inspect.isroutine(subject)):
        raise UnsupportedError(f"Expected the class {name} with its parameters: an object publishes only once.")
    if "epsilon" not in given:
        raise UnsupportedError(f"Expected epsilon=... among the parameters of {name}.")
    claim = question.claim(float(given["epsilon"]), float(given.get("delta", 0.0)))
    declaration, source = _noise(name, given, claim), f"{name}(epsilon={given['epsilon']})"
    return question.answer(
        claim,
        source,
        declaration,
        f"the sensitivity of {name} is not known to the adapter",
        text=name,
        function=Calls(call=_call(subject, given), released=question.released),
        awkward=_awkward(subject, question),
    )


def _awkward(subject: Any, question: Question) -> tuple[AwkwardPair, ...]:
    """Return awkward neighbours of an algorithm's records or of a mechanism's value."""
    if question.pair is None:
        return ()
    if hasattr(subject, "quick_result"):
        return awkward_records(question.pair, question.neighbours)
    return awkward_values(question.pair) if hasattr(subject, "add_noise") else ()


def _call(subject: Any, given: dict[str, Any]) -> Callable[[Any], Any]:
    """Return what one run calls: noise on a number, a decision on a number of users, or a fresh algorithm."""
    if inspect.isclass(subject) and hasattr(subject, "quick_result"):
        kind: Any = subject
        return lambda data: kind(**given).quick_result(list(data))
    built = subject(**given)
    for method in ("add_noise", "should_keep"):
        if hasattr(built, method):
            return getattr(built, method)
    raise UnsupportedError(
        f"Expected an algorithm, a noise mechanism or a partition strategy, got {type(built).__name__}."
    )


def _noise(name: str, given: dict[str, Any], claim: Claim) -> Declaration | None:
    """Return the Laplace noise of a class whose sensitivity its parameters tell, or None."""
    if claim.epsilon == 0 or claim.delta > 0:
        return None
    if name == "LaplaceMechanism":
        sensitivity = float(given.get("sensitivity", 1.0))
    elif name == "Count" and claim.neighbours == "add_remove":
        sensitivity = 1.0
    elif name == "BoundedSum" and claim.neighbours == "add_remove" and {"lower_bound", "upper_bound"} <= set(given):
        sensitivity = float(max(abs(given["lower_bound"]), abs(given["upper_bound"])))
    else:
        return None
    label, scale = f"{_LIBRARY} {name}", sensitivity / claim.epsilon
    return noise(label, "laplace", scale, sensitivity, claim.neighbours, epsilon=claim.epsilon)
