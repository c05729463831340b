"""The keys that a table may have, as an editor or a reference shows them: type, default, values and meaning.

All of it is read from what the table configures: the annotations, the defaults and the docstring.
"""

from collections.abc import Callable
from dataclasses import MISSING, dataclass, is_dataclass
from dataclasses import fields as dataclass_fields
from functools import reduce
from operator import or_
from types import UnionType
from typing import Annotated, Any, Union, get_args, get_origin

from dpaudit.checks import OneOf, Within
from dpaudit.configuration.tables import Parameter, parameters_of
from dpaudit.json_schema import meaning_of, summary
from dpaudit.model.claim import Claim


@dataclass(frozen=True, slots=True, kw_only=True)
class Field(Parameter):
    """One key of a table.

    `annotated` is its type, and `hint` the same without annotations; `values` are the texts that it accepts, empty
    where it is no choice; `limits` are the numbers that it accepts, as far as the key alone decides; `meaning` is the
    clause of the docstring that names it, empty where there is none.
    """

    name: str
    annotated: Any
    values: tuple[str, ...]
    limits: Within
    meaning: str


def fields_of(target: Callable[..., Any]) -> tuple[Field, ...]:
    """Return the keys of the table that `target`, a dataclass or a function, is called with, in its own order.

    A key that the docstring does not name has the meaning of the claim's key of that name, or of its own type.

    >>> [(field.name, field.required) for field in fields_of(Claim)][:2]
    [('epsilon', True), ('delta', False)]
    """
    return tuple(
        Field(
            name=name,
            annotated=key.hint,
            hint=_plain(key.hint),
            default=_default(target, name, key.default),
            values=next((mark.values for mark in _marks(key.hint) if isinstance(mark, OneOf)), ()),
            limits=next((mark for mark in _marks(key.hint) if isinstance(mark, Within)), Within()),
            meaning=meaning_of(target, name) or meaning_of(Claim, name) or _of_type(key.hint),
        )
        for name, key in parameters_of(target).items()
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


def _default(target: Callable[..., Any], name: str, default: Any) -> Any:
    """Return a parameter's default, made anew where a dataclass makes it on use."""
    fields = dataclass_fields(target) if is_dataclass(target) else ()
    factory = next((field.default_factory for field in fields if field.name == name), MISSING)
    return default if factory is MISSING else factory()


def _of_type(hint: Any) -> str:
    """Return the summary of the dataclass that a key holds; empty where it holds none."""
    options: tuple[Any, ...] = get_args(hint) or (hint,)
    kind = next((option for option in options if is_dataclass(option)), None)
    return summary(kind).rstrip(".") if isinstance(kind, type) and len(options) < 3 else ""
