"""What a call with the wrong arguments is answered: the call that was meant, with what it needs."""

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from functools import cache, wraps
from types import UnionType
from typing import Any, Literal, NoReturn, ParamSpec, TypeVar, dataclass_transform, get_args, get_origin

from dpaudit.checks import settle

T = TypeVar("T")
P = ParamSpec("P")
CARRIES_RELEASES = True
"""The line that asked for a release is that of the caller, as `dpaudit.model.tape` reads it."""

_LONGEST = 40  # characters of a value that is shown
_EXAMPLES = {
    "claim": "Claim(epsilon=1.0, neighbours='replace_one')",
    "rng": "np.random.default_rng(0)",
    "neighbours": "...",
}
"""What is written for an argument that is missing, where dots would not say it."""


_NORMS = {
    "l1_sensitivity": ("the sum of the changes of all coordinates", "laplace"),
    "l2_sensitivity": ("the root of the sum of the squares of the changes", "gaussian or ball_laplace"),
    "linf_sensitivity": ("the largest change of one coordinate", "exponential"),
}
"""What each sensitivity measures, and mechanisms that take it."""


def other_norm(given: str, near: str) -> str:
    """Return why a sensitivity in one norm is no sensitivity in another one; empty for any other pair of names.

    >>> other_norm("l2_sensitivity", "l1_sensitivity").partition(":")[0]
    "; 'l1_sensitivity' is another number"
    >>> other_norm("sensitivity", "l1_sensitivity")
    ''
    """
    if given not in _NORMS or near not in _NORMS or given == near:
        return ""
    (had, users), (needed, _) = _NORMS[given], _NORMS[near]
    return (
        f"; {near!r} is another number: {needed}, and not {had}. The two agree for a single number alone. Compute "
        f"{near!r} anew, or use a mechanism that takes {given!r}: {users}."
    )


@dataclass_transform(kw_only_default=True, frozen_default=True, field_specifiers=(field,))
def settled(cls: type[T]) -> type[T]:
    """Return the frozen data class of `cls`: fields by keyword, checked by `settle`, and wrong calls answered.

    A class with a `__post_init__` of its own calls `settle` there. Wrong calls of a class method `calibrated` are
    answered too, a seed in place of the generator of a method `release`, and an attribute that is missing with the
    attributes there are.

    >>> from dpaudit import Claim
    >>> Claim(epsilon=1.0, neighbors="replace_one")
    Traceback (most recent call last):
    TypeError: Claim has no field 'neighbors'; did you mean 'neighbours'? It has epsilon, delta, neighbours, ...
    """
    if not hasattr(cls, "__post_init__"):
        type.__setattr__(cls, "__post_init__", settle)
    cls = dataclass(frozen=True, slots=True, kw_only=True)(cls)
    made: Callable[..., None] = cls.__init__

    @wraps(made)
    def init(self: Any, *args: Any, **given: Any) -> None:
        try:
            made(self, *args, **given)
        except TypeError:
            answer = _answer(cls, "field", args, given)
            if answer is None:
                raise
            raise TypeError(answer) from None

    type.__setattr__(cls, "__init__", init)
    type.__setattr__(cls, "__getattr__", _no_attribute)
    if "release" in vars(cls):
        type.__setattr__(cls, "release", _with_generator(vars(cls)["release"]))
    if "calibrated" in vars(cls):
        calibrated: Callable[..., T] = vars(cls)["calibrated"].__get__(None, cls)
        type.__setattr__(cls, "calibrated", staticmethod(named_arguments(calibrated)))
    return cls


def _with_generator(release: Callable[..., Any]) -> Callable[..., Any]:
    """Return the method `release(value, rng)` of a mechanism, which answers a call without a generator."""

    @wraps(release)
    def released(self: Any, value: Any, rng: Any, *args: Any, **given: Any) -> Any:
        try:
            return release(self, value, rng, *args, **given)
        except (AttributeError, TypeError, ValueError):
            if hasattr(rng, "bit_generator"):
                raise
            seed = rng if isinstance(rng, int) else "seed"
            meant = "release(value, rng)" if hasattr(value, "bit_generator") else f"rng=np.random.default_rng({seed})"
            message = f"Expected rng to be a numpy Generator, got {type(rng).__name__}: {rng!r:.40}; write {meant}."
            raise TypeError(message) from None

    return released


class MissingAttributeError(AttributeError):
    """An attribute that a class does not have; the message names those that it has.

    The text is made when it is shown, because `hasattr` and `getattr` with a default raise such errors often.
    """

    def __str__(self) -> str:
        owner, wanted = self.args
        public_names = [key for key in dir(owner) if not key.startswith("_")]
        near = get_close_matches(wanted, public_names, 1)
        meant = f"; did you mean {_attribute(owner, near[0])!r}?" if near else "."
        return f"{owner.__name__} has no attribute {wanted!r}{meant} It has {', '.join(public_names)}."


def _no_attribute(self: object, name: str) -> NoReturn:
    """Answer a lookup of an attribute that is missing."""
    raise MissingAttributeError(type(self), name)


def _attribute(owner: type, name: str) -> str:
    """Return an attribute as a user writes it: a method with the arguments that it needs."""
    method = getattr(owner, name)
    if not inspect.isfunction(method):
        return name
    needed = [key for key, entry in _parameters(method).items() if entry.default is inspect.Parameter.empty]
    return f"{name}({', '.join(needed[1:])})"


def named_arguments(function: Callable[P, T]) -> Callable[P, T]:
    """Return a function whose wrong calls are answered with the right one; what it raises itself passes through.

    >>> from dpaudit import training_noise
    >>> training_noise(epsilon=8.0, delta=1e-5, sample_rate=0.01, steps=1000)
    Traceback (most recent call last):
    TypeError: training_noise has no argument 'sample_rate'. It has epsilon, delta, rate, steps.
    """

    @wraps(function)
    def called(*args: P.args, **given: P.kwargs) -> T:
        if answer := _answer(function, "argument", args, given):
            raise TypeError(answer)
        return function(*args, **given)

    return called


def _answer(target: Callable[..., Any], what: str, args: Sequence[Any], given: Mapping[str, Any]) -> str | None:
    """Return what is wrong with the arguments of a call; None where they fit."""
    parameters, name = _parameters(target), target.__qualname__
    unknown = [key for key in given if key not in parameters]
    if unknown:
        near = get_close_matches(unknown[0], parameters, 1)
        claimed = "claim" in parameters and "claim" not in given and unknown[0] in ("epsilon", "delta", "rho", "mu")
        left = {key: entry for key, entry in parameters.items() if key not in given}
        meant = other_norm(unknown[0], near[0]) or f"; did you mean {near[0]!r}?" if near else _held(unknown[0], left)
        meant = f"; write claim={_EXAMPLES['claim']}." if claimed else meant
        meant = f"; write rng={_EXAMPLES['rng']}." if unknown[0] == "seed" and "rng" in parameters else meant
        return f"{name} has no {what} {unknown[0]!r}{meant} It has {', '.join(parameters)}."
    placed = [key for key, entry in parameters.items() if entry.kind is not entry.KEYWORD_ONLY]
    free = [key for key in parameters if key not in given]
    shown = {**given, **dict(zip(free, args, strict=False))}
    if len(args) > len(placed):
        return f"{name} takes its {what}s by name{_after(placed)}: {_call(name, parameters, shown)}."
    missing = [key for key in parameters if key not in shown and parameters[key].default is inspect.Parameter.empty]
    if missing:
        allowed = _allowed(parameters[missing[0]].annotation)
        values = f", one of {', '.join(map(repr, allowed))}" if allowed else ""
        return f"{name} needs {missing[0]}{values}: {_call(name, parameters, shown)}."
    return _no_claim(shown["claim"], parameters["claim"].annotation) if "claim" in shown else None


def _held(name: str, parameters: Mapping[str, inspect.Parameter]) -> str:
    """Return which argument is an object with the field `name`, as the end of a sentence."""
    for key, entry in parameters.items():
        if name in getattr(entry.annotation, "__dataclass_fields__", ()):
            return f"; write {key}={entry.annotation.__name__}({name}=...)."
    return "."


def _no_claim(value: object, annotation: Any) -> str | None:
    """Return what is wrong with the value of an argument `claim`; None for a claim of a class that it accepts."""
    if not isinstance(annotation, type | UnionType) or isinstance(value, annotation):
        return None
    epsilon = value if isinstance(value, int | float) else 1.0
    meant = f"Claim(epsilon={epsilon!r}, delta=1e-5, neighbours='add_remove')"
    return f"Expected a Claim, got {type(value).__name__}; write {meant}."


@cache
def _parameters(target: Callable[..., Any]) -> dict[str, inspect.Parameter]:
    """Return the arguments of a call by name; a typed table of keywords stands for its keys, each with a default."""
    parameters: dict[str, inspect.Parameter] = {}
    for name, entry in inspect.signature(target).parameters.items():
        if entry.kind is entry.VAR_KEYWORD:
            table = next(iter(get_args(entry.annotation)), None)
            keys = getattr(table, "__annotations__", {})
            parameters |= {key: inspect.Parameter(key, entry.KEYWORD_ONLY, default=None) for key in keys}
        else:
            parameters[name] = entry
    return parameters


def _after(placed: list[str]) -> str:
    """Return which arguments may stand without their names."""
    return f" after {', '.join(placed)}" if placed else ""


def _allowed(annotation: Any) -> tuple[Any, ...]:
    """Return the values that an argument may have, where its type lists them."""
    return get_args(annotation) if get_origin(annotation) is Literal else ()


def _call(name: str, parameters: Mapping[str, inspect.Parameter], given: Mapping[str, Any]) -> str:
    """Return the call with what is given, and with what is needed beside it."""
    needed = [key for key, entry in parameters.items() if key in given or entry.default is inspect.Parameter.empty]
    return f"{name}({', '.join(f'{key}={_short(given, key)}' for key in needed)})"


def _short(given: Mapping[str, Any], key: str) -> str:
    """Return a value as text, dots where it is long, and an example where it is missing."""
    if key not in given:
        return _EXAMPLES.get(key, "...")
    text = getattr(given[key], "__name__", repr(given[key]))
    return text if len(text) <= _LONGEST else "..."
