"""diffprivlib: mechanisms, statistics and models; each says its epsilon, and mechanisms say their sensitivity."""

import inspect
import math
from collections.abc import Callable
from copy import copy
from typing import Any

import numpy as np

from dpaudit.adapters.awkward import awkward_records, awkward_values
from dpaudit.adapters.awkward_frames import awkward_labelled
from dpaudit.adapters.calls import SeededCalls
from dpaudit.adapters.noise import release, scale_for
from dpaudit.adapters.release import LibraryRelease, Question
from dpaudit.errors import UnsupportedError
from dpaudit.model.claim import Claim, Neighbours
from dpaudit.model.declaration import Declaration, PostProcess

_LIBRARY = "diffprivlib"
_RELATIONS: dict[str, Neighbours] = {
    **dict.fromkeys(("mean", "sum", "var", "std"), "replace_one"),
    **dict.fromkeys(("histogram", "histogram2d", "histogramdd"), "add_remove"),
}
"""What the sensitivity of a statistic is computed for; the library's documents do not say."""

_SEARCHED = "its scale is found by a search that may end too low, by a millionth of what the claim needs"

_RANDOM = ("_rng", "random_state")
"""Where a mechanism keeps its source of randomness."""

_OWN_SHARES = ("axis", "keepdims", "weights")


def adapt(subject: Any, question: Question) -> LibraryRelease:
    """Return the release of a mechanism, of a statistic of `diffprivlib.tools`, or of a model's fitted attributes.

    Laplace, Gaussian and geometric noise (truncated or folded, too), a binary response, the exponential mechanism and
    permute-and-flip are declared with the parameters that their formulas give. Of a mean, a sum or a histogram with a
    pair, the mechanism is seen in one run on each data set, and declared. All else is stated. Each batch of runs uses a
    fresh object with a seed of the audit.
    Raises: UnsupportedError: an object without epsilon, or a mechanism that was changed after it was made.
    """
    if inspect.isclass(subject):
        return _model(subject, question)
    if inspect.isroutine(subject) or inspect.isfunction(subject):
        return _statistic(subject, question)
    return _mechanism(subject, question)


def _mechanism(subject: Any, question: Question) -> LibraryRelease:
    """Return the release of a mechanism: one noisy value."""
    kind = type(subject).__name__
    if not (hasattr(subject, "randomise") and hasattr(subject, "epsilon")):
        raise UnsupportedError(f"Expected a mechanism, statistic or model of diffprivlib, got {kind}.")
    claim = question.claim(float(subject.epsilon), float(subject.delta))
    declaration = _noise(subject, kind, claim)
    names = set(inspect.signature(type(subject).__init__).parameters) - {"self", "random_state"}
    parameters = {name: getattr(subject, name) for name in names if hasattr(subject, name)}
    if declaration is not None and not _as_made(subject, parameters):
        raise UnsupportedError(
            f"This {kind} was changed after it was made: another one with its parameters does not draw as it does, so "
            "that its epsilon is not that of its noise. Make a new mechanism with these parameters."
        )
    sensitivity = getattr(subject, "sensitivity", None)
    source = f"{kind}.epsilon"
    pair = question.pair or ((0.0, float(sensitivity)) if sensitivity is not None else None)

    def prepare(seed: int) -> Callable[[Any], Any]:
        return type(subject)(**parameters, random_state=seed).randomise

    return question.answer(
        claim,
        source,
        declaration,
        _SEARCHED if kind in ("GaussianAnalytic", "GaussianDiscrete") else f"the noise of {kind} is not declared here",
        text=f"mechanism {kind}",
        function=SeededCalls(prepare=prepare, released=question.released),
        pair=pair,
        reproducible=True,
        awkward=() if pair is None or hasattr(subject, "lower") else awkward_values(pair),
    )


def _as_made(subject: Any, parameters: dict[str, Any]) -> bool:
    """Return whether an object holds what a new one with its parameters holds, once each has drawn a value.

    A mechanism computes scales and probabilities when it is made or first used, and keeps them where its epsilon is set
    to another one. An attribute in the place of a method is a change, too.
    """
    try:
        fresh, used = type(subject)(**parameters, random_state=0), copy(subject)
        used.__dict__ |= {name: fresh.__dict__[name] for name in _RANDOM if name in fresh.__dict__}
        needed = inspect.signature(type(subject).randomise).parameters["value"].default is not None
        for mechanism in (fresh, used):
            mechanism.randomise(getattr(subject, "value0", 0) if needed else None)
    except Exception:  # the library's own refusal of parameters, or what stands in the place of a method
        return False
    replaced = any(callable(getattr(type(subject), name, None)) for name in vars(used))
    return not replaced and all(np.array_equal(value, vars(used).get(name)) for name, value in vars(fresh).items())


def _noise(subject: Any, kind: str, claim: Claim) -> Declaration | None:
    """Return the noise that a mechanism's documented formula gives, or None.

    What is truncated or folded is processed after its noise.
    """
    name, fields = _parameters(subject, kind.removesuffix("Truncated").removesuffix("Folded"), claim)
    drawn = release(f"{_LIBRARY} {kind}", name, claim.neighbours, **fields) if fields else None
    return PostProcess(part=drawn, steps=(kind,)) if drawn and kind.endswith(("Truncated", "Folded")) else drawn


def _parameters(subject: Any, kind: str, claim: Claim) -> tuple[str, dict[str, Any]]:
    """Return the mechanism of a kind and its parameters; none for a kind, or for parameters, that no mechanism has."""
    sensitivity = float(getattr(subject, "sensitivity", 0.0) or 0.0)
    epsilon, pure = claim.epsilon, claim.delta == 0 and claim.epsilon > 0
    match kind:
        case "Laplace" if sensitivity > 0 and epsilon > 0:
            scale = scale_for(epsilon, sensitivity / (epsilon - math.log1p(-claim.delta)), sensitivity)
            return "laplace", {"scale": scale, "l1_sensitivity": sensitivity}
        case "Geometric" if sensitivity >= 1 and pure:
            scale = scale_for(epsilon, sensitivity / epsilon, sensitivity)
            return "discrete_laplace", {"scale": scale, "l1_sensitivity": int(sensitivity)}
        case "Gaussian" if sensitivity > 0:
            stddev = math.sqrt(2 * math.log(1.25 / claim.delta)) * sensitivity / epsilon
            return "gaussian", {"stddev": stddev, "l2_sensitivity": sensitivity}
        case "Binary" if pure and claim.neighbours == "replace_one":
            return "randomised_response", {"epsilon": epsilon}
        case "Exponential" | "PermuteAndFlip" if pure and sensitivity > 0:
            general = getattr(subject, "monotonic", None) is False
            if not general and claim.neighbours != "add_remove":  # a replaced record moves utilities both ways
                return "", {}
            moved, ways = {"linf_sensitivity": sensitivity}, "general" if general else "monotone"
            if kind == "Exponential":
                return "exponential", {"epsilon": epsilon if general else 2 * epsilon, "utilities": ways} | moved
            reach = 2 * sensitivity if general else sensitivity
            return "permute_and_flip", {"scale": scale_for(epsilon, reach / epsilon, reach), "scores": ways} | moved
        case _:
            return "", {}


class _SeenState(np.random.RandomState):
    """A state that keeps the mechanisms whose code draws from it, in their order."""

    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        self.seen: list[Any] = []

    def __getattribute__(self, name: str) -> Any:
        """Return an attribute; a mechanism that asks for one is kept."""
        frame = inspect.currentframe()
        asking = frame.f_back.f_locals.get("self") if frame is not None and frame.f_back is not None else None
        if hasattr(asking, "randomise") and hasattr(asking, "epsilon"):
            super().__getattribute__("seen").append(asking)
        return super().__getattribute__(name)


def _statistic(subject: Any, question: Question) -> LibraryRelease:
    """Return the release of a statistic, a function of one array."""
    name, given = subject.__name__, dict(question.parameters)
    parameters = inspect.signature(subject).parameters
    if "epsilon" not in parameters:
        raise UnsupportedError(f"Expected a function of diffprivlib with epsilon; {name} has none.")
    claim = question.claim(float(given.get("epsilon", parameters["epsilon"].default)), 0.0)
    relation = _RELATIONS.get(name)
    unlike = relation is not None and relation != question.neighbours
    declaration = _seen(name, subject, question, claim) if relation is not None and not unlike else None
    misuse = f"Misuse: the sensitivity of {name} is for {relation}, not for {question.neighbours}."

    def start(state: Any) -> Callable[[Any], Any]:
        return lambda data: subject(data, **given, random_state=state)

    return _drawn(
        question,
        f"tools.{name}",
        claim,
        start,
        question.released,
        declared=declaration,
        unless=f"no run of {name} showed one mechanism that the adapter declares",
        awkward=() if question.pair is None or unlike else awkward_records(question.pair, question.neighbours),
        notes=(misuse,) if unlike else (),
    )


def _drawn(
    question: Question,
    text: str,
    claim: Claim,
    start: Callable[[Any], Callable[[Any], Any]],
    released: Callable[[Any], Any] | None,
    **told: Any,
) -> LibraryRelease:
    """Return the release of calls that `start` makes from a random state, as scikit-learn's conventions ask for."""
    function = SeededCalls(prepare=lambda seed: start(np.random.RandomState(seed)), released=released)
    source = f"epsilon of {text.rpartition('.')[2].rpartition(' ')[2]}"
    return question.answer(claim, source, text=text, function=function, reproducible=True, **told)


def _seen(name: str, subject: Any, question: Question, claim: Claim) -> Declaration | None:
    """Return the one mechanism that a statistic drew from on each data set of a pair, or None.

    Noise on a histogram is one vector, of which one record changes one place. Bounds that the statistic takes from the
    data, axes, which have their own shares of epsilon, and weights, whose size is not bounded, are not declared.
    """
    given = question.parameters
    public = {"mean": "bounds", "sum": "bounds"}.get(name, "range")
    if question.pair is None or given.get(public) is None or any(given.get(key) is not None for key in _OWN_SHARES):
        return None
    told: list[tuple[Any, ...]] = []
    for data in question.pair:
        state = _SeenState(0)
        try:
            subject(data, **given, random_state=state)
        except Exception:  # the library's own refusal of a data set: an audit sees it as an outcome
            return None
        told += [(type(noise).__name__, noise.epsilon, noise.delta, noise.sensitivity) for noise in state.seen]
    if len(set(told)) != 1 or told[0][1:3] != (claim.epsilon, claim.delta):
        return None
    return _noise(state.seen[0], told[0][0], claim)


def _model(subject: Any, question: Question) -> LibraryRelease:
    """Return the release of a model: its fitted attributes, of data (X,) or (X, y)."""
    name, given = subject.__name__, dict(question.parameters)
    parameters = inspect.signature(subject.__init__).parameters
    epsilon = given.get("epsilon", parameters["epsilon"].default if "epsilon" in parameters else None)
    if epsilon is None:
        raise UnsupportedError(f"Expected epsilon=...: the model {name} states none.")

    def start(state: Any) -> Callable[[Any], Any]:
        return lambda data: subject(**given, random_state=state).fit(*data)

    return _drawn(
        question,
        f"model {name}",
        question.claim(float(epsilon), 0.0),
        start,
        question.released or _fitted,
        declared=None,
        unless="a model does not tell its sensitivity",
        awkward=() if question.pair is None else awkward_labelled(question.pair, question.neighbours),
    )


def _fitted(model: Any) -> Any:
    """Return the fitted attributes of a model, in the order of their names."""
    return {name: value for name, value in sorted(vars(model).items()) if name.endswith("_") and name[0] != "_"}
