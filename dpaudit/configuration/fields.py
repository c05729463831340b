"""The keys that a table may have, as an editor or a reference shows them: type, default, values and meaning.

All of it is read from what the table configures: the annotations, the defaults and the docstring.
"""

import inspect
from collections.abc import Callable
from dataclasses import MISSING, dataclass, is_dataclass
from dataclasses import fields as dataclass_fields
from functools import reduce
from operator import or_
from types import UnionType
from typing import Annotated, Any, Union, get_args, get_origin, get_type_hints

from dpaudit.checks import OneOf, Within
from dpaudit.json_schema import meaning_of, summary
from dpaudit.model.claim import Claim


@dataclass(frozen=True, slots=True, kw_only=True)
class Field:
    """One key of a table.

    `hint` is its type; `default` is `MISSING` where the key is required; `values` are the texts that it accepts,
    empty where it is no choice; `limits` are the numbers that it accepts, as far as the key alone decides; `meaning` is
    the clause of the docstring that names it, empty where there is none.
    """

    name: str
    hint: Any
    default: Any
    values: tuple[str, ...]
    limits: Within
    meaning: str

    @property
    def required(self) -> bool:
        """Whether the table must have the key."""
        return self.default is MISSING


def fields_of(target: Callable[..., Any]) -> tuple[Field, ...]:
    """Return the keys of the table that `target`, a dataclass or a function, is called with, in its own order.

    A key that the docstring does not name has the meaning of the claim's key of that name, or of its own type.

    >>> [(field.name, field.required) for field in fields_of(Claim)][:2]
    [('epsilon', True), ('delta', False)]
    """
    owner = target.__init__ if inspect.isclass(target) else target
    hints = get_type_hints(owner, include_extras=True)
    if inspect.isclass(target):
        hints |= get_type_hints(target, include_extras=True)
    return tuple(
        Field(
            name=name,
            hint=_plain(hints.get(name, Any)),
            default=_default(target, name, entry),
            values=next((mark.values for mark in _marks(hints.get(name, Any)) if isinstance(mark, OneOf)), ()),
            limits=next((mark for mark in _marks(hints.get(name, Any)) if isinstance(mark, Within)), Within()),
            meaning=meaning_of(target, name) or meaning_of(Claim, name) or _of_type(hints.get(name, Any)),
        )
        for name, entry in inspect.signature(target).parameters.items()
    )


def _plain(hint: Any) -> Any:
    """Return a type without its annotations."""
    if get_origin(hint) is Annotated:
        return get_args(hint)[0]
    if _is_union(hint):
        return reduce(or_, map(_plain, get_args(hint)))
    return hint


def _is_union(hint: Any) -> bool:
    """Return whether a type is one of several."""
    return get_origin(hint) in (Union, UnionType)


def _marks(hint: Any) -> tuple[Any, ...]:
    """Return what annotates a type, or the one annotated type among several."""
    if _is_union(hint):
        return tuple(mark for option in get_args(hint) for mark in _marks(option))
    return get_args(hint)[1:] if get_origin(hint) is Annotated else ()


def _default(target: Callable[..., Any], name: str, entry: inspect.Parameter) -> Any:
    """Return a parameter's default, made anew where a dataclass makes it on use."""
    if entry.default is inspect.Parameter.empty:
        return MISSING
    fields = dataclass_fields(target) if is_dataclass(target) else ()
    factory = next((field.default_factory for field in fields if field.name == name), MISSING)
    return entry.default if factory is MISSING else factory()


def _of_type(hint: Any) -> str:
    """Return the summary of the dataclass that a key holds; empty where it holds none."""
    options: tuple[Any, ...] = get_args(hint) or (hint,)
    kind = next((option for option in options if is_dataclass(option)), None)
    return summary(kind).rstrip(".") if isinstance(kind, type) and len(options) < 3 else ""
