"""What a call with the wrong arguments is answered: the call that was meant, with the fields that it needs."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, Field, fields
from difflib import get_close_matches
from functools import wraps
from typing import Any, Literal, TypeVar, get_args, get_origin

T = TypeVar("T")
_LONGEST = 40  # characters of a value that is shown


def named_fields(cls: type[T]) -> type[T]:
    """Return a keyword-only data class whose wrong calls are answered with the right one.

    >>> from dpaudit import Claim
    >>> Claim(epsilon=1.0, neighbors="replace_one")
    Traceback (most recent call last):
    TypeError: Claim has no field 'neighbors'; did you mean 'neighbours'? It has epsilon, delta, neighbours, ...
    """
    made: Callable[..., None] = cls.__init__

    @wraps(made)
    def init(self: Any, *args: Any, **given: Any) -> None:
        try:
            made(self, *args, **given)
        except TypeError:
            answer = _answer(cls, args, given)
            if answer is None:
                raise
            raise TypeError(answer) from None

    type.__setattr__(cls, "__init__", init)
    return cls


def _answer(cls: type[Any], args: Sequence[Any], given: Mapping[str, Any]) -> str | None:
    """Return what is wrong with the arguments of a keyword-only data class; None where they fit."""
    known = {field.name: field for field in fields(cls) if field.init}
    unknown = [name for name in given if name not in known]
    if unknown:
        near = get_close_matches(unknown[0], known, 1)
        meant = f"; did you mean {near[0]!r}?" if near else "."
        return f"{cls.__name__} has no field {unknown[0]!r}{meant} It has {', '.join(known)}."
    free = [name for name in known if name not in given]
    if args:
        shown = {**given, **dict(zip(free, args, strict=False))}
        return f"{cls.__name__} takes its fields by name: {_call(cls, known, shown)}."
    missing = [name for name in free if _required(known[name])]
    if missing:
        allowed = _allowed(known[missing[0]])
        values = f", one of {', '.join(map(repr, allowed))}" if allowed else ""
        return f"{cls.__name__} needs {missing[0]}{values}: {_call(cls, known, given)}."
    return None


def _required(field: Field[Any]) -> bool:
    """Return whether a field has no default."""
    return field.default is MISSING and field.default_factory is MISSING


def _allowed(field: Field[Any]) -> tuple[Any, ...]:
    """Return the values that a field may have, where its type lists them."""
    return get_args(field.type) if get_origin(field.type) is Literal else ()


def _call(cls: type[Any], known: Mapping[str, Field[Any]], given: Mapping[str, Any]) -> str:
    """Return the call with what is given, and with dots for what is needed beside it."""
    shown = [name for name, field in known.items() if name in given or _required(field)]
    return f"{cls.__name__}({', '.join(f'{name}={_short(given, name)}' for name in shown)})"


def _short(given: Mapping[str, Any], name: str) -> str:
    """Return a value as text, dots where it is missing or long."""
    text = repr(given[name]) if name in given else "..."
    return text if len(text) <= _LONGEST else "..."
