"""Reading a table of plain data by the parameters of what it spells: of a configuration, or of a document of ours.

The parameters of a dataclass or function, with their types, are the schema: there is no second list of keys.
"""

import inspect
import sys
import types
from collections.abc import Callable, Mapping
from dataclasses import MISSING, dataclass, is_dataclass
from datetime import date
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from dpaudit.checks import field_of
from dpaudit.errors import Fault, KeyPath
from dpaudit.model.claim import Claim
from dpaudit.model.codec import decode_claim
from dpaudit.runtime.plugins import suggestion

T = TypeVar("T")
_LARGEST_DATA = 2**30
"""How many bytes a data file may have."""
_TOO_MANY = 2.0**63
_LARGEST = sys.float_info.max
_INFINITIES = ("inf", "-inf")


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameter:
    """One key that a table may have: its type, and its default, which is `MISSING` where the key must be there.

    A default that a dataclass makes on use is the mark that its `__init__` has for it.
    """

    hint: Any
    default: Any

    @property
    def required(self) -> bool:
        """Whether the table must have the key."""
        return self.default is MISSING


def parameters_of(target: Callable[..., Any]) -> dict[str, Parameter]:
    """Return what `target`, a dataclass or a function, can be called with, in its own order."""
    return _of_class(target) if isinstance(target, type) else _looked_up(target)


def _looked_up(target: Callable[..., Any]) -> dict[str, Parameter]:
    """Return the same, read from annotations and defaults."""
    hints: dict[str, Any] = {}
    for owner in (target.__init__, target) if inspect.isclass(target) else (target,):
        hints |= get_type_hints(owner, include_extras=True)
    entries = inspect.signature(target).parameters.items()
    defaults = {name: MISSING if entry.default is entry.empty else entry.default for name, entry in entries}
    return {name: Parameter(hint=hints.get(name, Any), default=default) for name, default in defaults.items()}


_of_class = cache(_looked_up)
"""A list of many rows reads its class once; a function may be an object that has no hash."""


def read_section(target: Callable[..., T], table: Mapping[str, Any], folder: Path, section: str = "") -> T:
    """Return `target(**table)` once every key is known and of its type.

    A parameter of type `Path` is read relative to `folder`. `section` is the table's name, for messages and paths.
    Raises: Fault: the first key, in the table's order, that does not fit, or a key that is missing.
    """
    where = (section,) if section else ()
    return _Reader(folder=folder, heading=f"[{section}] " if section else "", dotted=False).called(target, table, where)


def read_object(target: type[T], table: Mapping[str, Any]) -> T:
    """Return `target(**table)`, tables inside tables read by the types of their fields; messages name the whole path.

    Raises: Fault: as `read_section`.
    """
    return _Reader(folder=Path(), heading="", dotted=True).called(target, table, ())


@dataclass(frozen=True, slots=True, kw_only=True)
class _Reader:
    """How tables are read: the folder of relative paths, what opens a message, and whether it names the whole path."""

    folder: Path
    heading: str
    dotted: bool

    def called(self, target: Callable[..., T], table: Mapping[str, Any], where: KeyPath) -> T:
        """Return `target` called with the values of a table."""
        parameters = parameters_of(target)
        values: dict[str, Any] = {}
        for key, value in table.items():
            if key not in parameters:
                hint = suggestion(key, tuple(parameters))
                raise Fault((*where, key), f"{self.heading}unknown key {self._name((*where, key))!r}{hint}")
            values[key] = self._value(parameters[key].hint, value, (*where, key))
        for key, parameter in parameters.items():
            if parameter.required and key not in table:
                name, wanted = self._name((*where, key)), in_words(parameter.hint)
                raise Fault((*where, key), f"{self.heading}missing key {name!r}, which is {wanted}.")
        try:
            return target(**values)
        except (ValueError, TypeError, OverflowError) as error:
            field = field_of(error, values)
            raise Fault((*where, *([field] if field else [])), f"{'' if field else self.heading}{error}") from None

    def _value(self, hint: Any, value: Any, where: KeyPath) -> Any:
        """Return one value as its type wants it.

        Numbers are strict: text and booleans are no numbers, but a whole number is also a number, and infinity may be
        the text "inf".
        """
        origin, options = get_origin(hint), get_args(hint)
        if hint is Any:
            return _hashable(value)
        if origin is Annotated:
            return self._value(options[0], value, where)
        if origin in (Union, types.UnionType):
            return self._one_of(tuple(option for option in options if option is not types.NoneType), value, where)
        if origin in (tuple, list) and isinstance(value, list | tuple):
            return self._items(options, value, where)
        if origin is tuple and isinstance(value, Mapping) and get_args(options[0])[:1] == (str,):
            item = get_args(options[0])[1]
            return tuple((str(name), self._value(item, inner, (*where, name))) for name, inner in value.items())
        if hint is Claim:
            return self._claim(value, where)
        if is_dataclass(hint) and isinstance(hint, type) and isinstance(value, Mapping):
            return self.called(hint, value, where)
        if isinstance(value, str) and (hint in (Path, date) or (hint is float and value in _INFINITIES)):
            return self._spelled(hint, value, where)
        if not _is_of(hint, value):
            raise self._misfit(hint, value, where)
        if hint is float and isinstance(value, int) and abs(value) > _LARGEST:
            raise self._expected("a number that floating point can hold", value, where)
        return value

    def _claim(self, value: Any, where: KeyPath) -> Claim:
        """Return the claim that a table spells, in whatever measure."""
        try:
            return decode_claim(value)
        except Fault as fault:
            raise Fault(
                (*where, *fault.where[1:]), f"{self._name(where)}: {fault.message.removeprefix('claim: ')}"
            ) from None

    def _one_of(self, options: tuple[Any, ...], value: Any, where: KeyPath) -> Any:
        """Return a value as the first of several types that takes it."""
        for option in options[:-1]:
            try:
                return self._value(option, value, where)
            except Fault:
                continue
        try:
            return self._value(options[-1], value, where)
        except Fault as fault:
            raise fault if len(options) == 1 else self._misfit(Union[options], value, where) from None  # noqa: UP007

    def _items(self, options: tuple[Any, ...], value: Any, where: KeyPath) -> tuple[Any, ...]:
        """Return a list as a tuple of the stated types."""
        kinds = [options[0]] * len(value) if Ellipsis in options or len(options) == 1 else list(options)
        if len(kinds) != len(value):
            raise self._expected(f"a list of {len(kinds)}", value, where)
        return tuple(self._value(kinds[index], item, (*where, index)) for index, item in enumerate(value))

    def _file(self, value: str, where: KeyPath) -> Path:
        """Return the path of a regular file; a device or a pipe may never end, and more than a GiB fills the memory."""
        path = self.folder / value
        try:
            special = path.exists() and not path.is_file() and not path.is_dir()
            large = path.is_file() and path.stat().st_size > _LARGEST_DATA
        except (OSError, ValueError) as error:
            raise self._expected(f"a file's path ({error})", str(path), where) from None
        if special or large:
            raise self._expected("a regular file of at most 1 GiB", str(path), where)
        return path

    def _spelled(self, hint: Any, value: str, where: KeyPath) -> Path | date | float:
        """Return what a text spells: a file, a day, or infinity."""
        if hint is Path:
            return self._file(value, where)
        try:
            return float(value) if hint is float else date.fromisoformat(value)
        except ValueError:
            raise self._misfit(date, value, where) from None

    def _misfit(self, hint: Any, value: Any, where: KeyPath) -> Fault:
        """Return what is wrong with a value of another type."""
        wanted = in_words(hint)
        if hint is int and isinstance(value, float) and value.is_integer():
            too_many = "below 2^63; runs count in 64 bits"
            return self._expected(
                too_many if abs(value) >= _TOO_MANY else f"{wanted}; write {int(value)}", value, where
            )
        return self._expected(wanted, value, where)

    def _expected(self, wanted: str, value: Any, where: KeyPath) -> Fault:
        """Return a fault that names the key, the value and what was expected."""
        return Fault(where, f"Expected {self._name(where)}={value!r:.80} to be {wanted}.")

    def _name(self, where: KeyPath) -> str:
        """Return the name of a key: its path from the root, or itself with its place in a list."""
        if self.dotted:
            return ".".join(map(str, where))
        last = max(index for index, step in enumerate(where) if isinstance(step, str))
        return "".join(f"[{step}]" if isinstance(step, int) else step for step in where[last:])


def _is_of(hint: Any, value: Any) -> bool:
    """Return whether a plain value is of a type, as configurations and documents take it."""
    if get_origin(hint) is Literal:
        return value in get_args(hint)
    if hint is float:
        return isinstance(value, int | float) and not isinstance(value, bool)
    if hint is int:
        return isinstance(value, int) and not isinstance(value, bool)
    kind = get_origin(hint) or hint
    return isinstance(value, kind) if isinstance(kind, type) else True


def _hashable(value: Any) -> Any:
    """Return a value with tuples in place of lists."""
    return tuple(map(_hashable, value)) if isinstance(value, list) else value


def in_words(hint: Any) -> str:
    """Return what a type accepts, as in "a number" or "one of: joint, local".

    >>> in_words(float | None)
    'a number'
    """
    origin = get_origin(hint)
    if origin is Annotated:
        return in_words(get_args(hint)[0])
    if origin is Literal:
        return f"one of: {', '.join(map(str, get_args(hint)))}"
    if origin in (Union, types.UnionType):
        return " or ".join(dict.fromkeys(in_words(option) for option in get_args(hint) if option is not type(None)))
    if origin in (tuple, list):
        return "a list"
    named = {
        float: "a number",
        int: "a whole number",
        str: "text",
        bool: "true or false",
        Path: "a file's path",
        date: "a day, YYYY-MM-DD",
        dict: "a table",
    }
    kind = origin or hint
    return named.get(kind, "a table" if is_dataclass(kind) else f"of type {getattr(hint, '__name__', hint)}")
