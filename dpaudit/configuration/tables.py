"""Reading one table of a configuration by the parameters of what it configures.

The parameters of a dataclass or function, with their types, are the schema: there is no second list of keys.
"""

import inspect
import types
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from dpaudit.checks import field_of
from dpaudit.errors import Fault, KeyPath
from dpaudit.runtime.plugins import suggestion

_LARGEST_DATA = 2**30
"""How many bytes a data file may have."""
_TOO_MANY = 2.0**63


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameter:
    """One key that a table may have: its type, and whether it must be there."""

    hint: Any
    required: bool


def parameters_of(target: Callable[..., Any]) -> dict[str, Parameter]:
    """Return what `target`, a dataclass or a function, can be called with."""
    hints = get_type_hints(target if not inspect.isclass(target) else target.__init__) | (
        get_type_hints(target) if inspect.isclass(target) else {}
    )
    return {
        name: Parameter(hint=hints.get(name, Any), required=entry.default is inspect.Parameter.empty)
        for name, entry in inspect.signature(target).parameters.items()
    }


def read_section(target: Callable[..., Any], table: Mapping[str, Any], folder: Path, section: str = "") -> Any:
    """Return `target(**table)` once every key is known and of its type.

    Numbers are strict: text and booleans are no numbers, but a whole number is also a number. A parameter
    of type `Path` is read relative to `folder`. `section` is the table's name, for messages and paths.
    Raises: Fault: the first key, in the table's order, that does not fit, or a key that is missing.
    """
    parameters = parameters_of(target)
    held = {key: _prepared(value, folder, parameters.get(key)) for key, value in table.items()}
    where = (section,) if section else ()
    _validate(parameters, held, where)
    _require_files(held, where)
    try:
        return target(**held)
    except (ValueError, TypeError, OverflowError) as error:
        key = field_of(error, held)
        message = str(error) if key else f"{_heading(where)}{error}"
        raise Fault((*where, *([key] if key else [])), message) from None


def _validate(parameters: dict[str, Parameter], held: dict[str, Any], where: KeyPath) -> None:
    """Refuse what does not fit the model built from `parameters`."""
    from pydantic import ConfigDict, ValidationError, create_model

    settings = ConfigDict(extra="forbid", strict=True, arbitrary_types_allowed=True, protected_namespaces=())
    definitions: dict[str, Any] = {
        name: (entry.hint, ... if entry.required else None) for name, entry in parameters.items()
    }
    model = create_model("Section", __config__=settings, **definitions)
    try:
        model.model_validate(held)
    except ValidationError as error:
        faulty = {str(fault["loc"][0]): fault["type"] for fault in reversed(error.errors())}
        order = [*held, *parameters]
        key = min(faulty, key=order.index)
        message = _message(key, faulty[key], held, parameters)
        named = faulty[key] in ("extra_forbidden", "missing")
        raise Fault((*where, key), f"{_heading(where)}{message}" if named else message) from None


def _require_files(held: dict[str, Any], where: KeyPath) -> None:
    """Refuse a path, or one of a list, to a device or a pipe, which may never end, and to a file of more than a GiB."""
    named = [(key, path) for key, value in held.items() for path in (value if isinstance(value, tuple) else (value,))]
    for key, value in named:
        if not isinstance(value, Path):
            continue
        try:
            special = value.exists() and not value.is_file() and not value.is_dir()
            large = value.is_file() and value.stat().st_size > _LARGEST_DATA
        except (OSError, ValueError) as error:
            raise Fault((*where, key), f"Expected {key}={str(value)!r:.80} to be a file's path ({error}).") from None
        if special or large:
            raise Fault((*where, key), f"Expected {key}={str(value)!r:.80} to be a regular file of at most 1 GiB.")


def _heading(where: KeyPath) -> str:
    """Return the header of the table at `where`, to begin a message with."""
    return "".join(f"[{step}] " for step in where)


def _message(key: str, kind: str, held: dict[str, Any], parameters: dict[str, Parameter]) -> str:
    """Return what is wrong with one key, and the remedy."""
    if kind == "extra_forbidden":
        return f"unknown key {key!r}{suggestion(key, tuple(parameters))}"
    if kind == "missing":
        return f"missing key {key!r}, which is {in_words(parameters[key].hint)}."
    value, wanted = held[key], in_words(parameters[key].hint)
    if wanted == "a whole number" and isinstance(value, float) and value.is_integer():
        return _without_a_point(key, value)
    return f"Expected {key}={value!r:.80} to be {wanted}."


def _without_a_point(key: str, value: float) -> str:
    """Return what is wrong with a whole number that is written with a point or an exponent."""
    if abs(value) >= _TOO_MANY:
        return f"Expected {key}={value!r} to be below 2^63; runs count in 64 bits."
    return f"Expected {key}={value!r} to be a whole number; write {int(value)}."


def in_words(hint: Any) -> str:
    """Return what a type accepts, as in "a number" or "one of: joint, local".

    >>> in_words(float | None)
    'a number'
    """
    if get_origin(hint) is Literal:
        return f"one of: {', '.join(map(str, get_args(hint)))}"
    if get_origin(hint) in (Union, types.UnionType):
        return " or ".join(dict.fromkeys(in_words(option) for option in get_args(hint) if option is not type(None)))
    if get_origin(hint) in (tuple, list):
        return "a list"
    named = {float: "a number", int: "a whole number", str: "text", bool: "true or false", Path: "a file's path"}
    return named.get(hint, f"of type {getattr(hint, '__name__', hint)}")


def _prepared(value: Any, folder: Path, parameter: Parameter | None) -> Any:
    """Return lists as tuples and paths relative to `folder`; anything else as it is."""
    if isinstance(value, list):
        value = tuple(_prepared(item, folder, None) for item in value)
    if parameter is not None and isinstance(value, str):
        options = get_args(parameter.hint) or (parameter.hint,)
        if Path in options and str not in options:
            return folder / value
    if parameter is not None and isinstance(value, tuple) and Path in get_args(parameter.hint):
        return tuple(folder / item if isinstance(item, str) else item for item in value)
    return value
