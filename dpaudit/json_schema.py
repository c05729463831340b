"""JSON Schemas (2020-12) of values, read from their types.

A `TypedDict` is a closed object whose keys are required unless `NotRequired`. A dataclass is the object that
`dpaudit.model.codec.encode` makes of it, which leaves out fields that are None. `Annotated` adds a description (a
text), limits (`Within`), the texts of a choice (`OneOf`), their form (`Spelled`) or further words of JSON Schema
(`Keywords`).
"""

import inspect
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, is_dataclass
from datetime import date
from functools import reduce
from operator import or_
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, NotRequired, Union, get_args, get_origin, get_type_hints, is_typeddict

from dpaudit.checks import OneOf, Spelled, Within

JsonSchema = dict[str, Any]
Named = Callable[[Any], JsonSchema | None]
"""What refers to the types that have a definition of their own; None for every other type."""

_PLAIN: dict[Any, JsonSchema] = {
    float: {"type": "number"},
    int: {"type": "integer"},
    bool: {"type": "boolean"},
    str: {"type": "string"},
    dict: {"type": "object"},
    list: {"type": "array"},
    NoneType: {"type": "null"},
    date: {"type": "string", "format": "date", "pattern": "^[0-9]{4}-[0-9]{2}-[0-9]{2}$"},
}


@dataclass(frozen=True, slots=True, eq=False)
class Keywords:
    """Further words of JSON Schema for an annotated type: `Annotated[str, Keywords({"minLength": 1})]`."""

    words: Mapping[str, Any]


Text = Annotated[str, Keywords({"minLength": 1})]
"""A text that is not empty."""

Digest = Annotated[str, Spelled("[0-9a-f]{64}")]
"""A SHA-256 in hexadecimal digits."""


def type_schema(hint: Any, named: Named) -> JsonSchema:
    """Return the schema of the values of a type, as JSON and TOML write them.

    Edge cases: a type that has no JSON form of its own accepts everything.

    >>> type_schema(Annotated[tuple[float, ...] | None, "All of them."], lambda hint: None)
    {'anyOf': [{'type': 'array', 'items': {'type': 'number'}}, {'type': 'null'}], 'description': 'All of them.'}
    """
    named_schema = named(hint)
    if named_schema is not None:
        return dict(named_schema)
    origin, options = get_origin(hint), get_args(hint)
    if origin is Annotated:
        schema = type_schema(options[0], named)
        for mark in options[1:]:
            schema = _marked(schema, mark)
        return schema
    if origin is Literal:
        return {"const": options[0]} if len(options) == 1 else {"enum": list(options)}
    if origin in (Union, UnionType):
        return {"anyOf": [type_schema(option, named) for option in options]}
    if origin in (tuple, list):
        return _array(origin, options, named)
    if origin is dict and options[1] is not Any:
        return {"type": "object", "additionalProperties": type_schema(options[1], named)}
    return dict(_PLAIN.get(origin or hint, {}))


def object_schema(kind: type[Any], named: Named, explained_by: type[Any] | None = None) -> JsonSchema:
    """Return the schema of the objects of a `TypedDict` or a dataclass; its docstring describes them and their keys.

    What the docstring of `explained_by` says of a key comes first.

    >>> @dataclass
    ... class Point:
    ...     "A point."
    ...     height: float | None
    >>> object_schema(Point, lambda hint: None)["properties"], object_schema(Point, lambda hint: None)["required"]
    ({'height': {'type': 'number'}}, [])
    """
    hints = get_type_hints(kind, include_extras=True)
    names = [field.name for field in fields(kind)] if is_dataclass(kind) else list(hints)
    keys = {name: _key(kind, hints[name]) for name in names}
    return {
        "type": "object",
        "description": summary(kind),
        "properties": {
            name: _explained((explained_by, kind), name, type_schema(hint, named)) for name, (hint, _) in keys.items()
        },
        "required": [name for name, (_, required) in keys.items() if required],
        "additionalProperties": False,
    }


def defined(kind: Any) -> bool:
    """Return whether a type is described by its fields.

    >>> defined(str), defined(Keywords)
    (False, True)
    """
    return isinstance(kind, type) and (is_typeddict(kind) or is_dataclass(kind))


def definition_name(kind: type[Any]) -> str:
    """Return the name under which a type stands among the definitions of a schema.

    >>> definition_name(JsonSchemaError := type("JsonSchemaError", (), {}))
    'json_schema_error'
    """
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", kind.__name__).lower()


def range_words(limits: Within) -> JsonSchema:
    """Return the ends of a range by the words that a schema has for them.

    >>> range_words(Within(at_least=0, below=1))
    {'minimum': 0, 'exclusiveMaximum': 1}
    """
    ends = {
        "minimum": limits.at_least,
        "exclusiveMinimum": limits.above,
        "maximum": limits.at_most,
        "exclusiveMaximum": limits.below,
    }
    return {word: end for word, end in ends.items() if end is not None}


def summary(target: Any) -> str:
    """Return the first paragraph of a docstring on one line; empty where there is none.

    >>> summary(range_words)
    'Return the ends of a range by the words that a schema has for them.'
    """
    return " ".join((inspect.getdoc(target) or "").split("\n\n")[0].split())


def clauses_of(text: str) -> tuple[str, ...]:
    r"""Return the clauses of a docstring that can say what a parameter means, without headings and examples.

    >>> clauses_of("A sum.\n\nParameters: `rows`, a count; `name` of the sum.\nRaises: ValueError: no `rows`.")
    ('A sum', '`rows`, a count', '`name` of the sum')
    """
    text_lines: list[str] = []
    skipped = False
    for line in text.split(">>>", maxsplit=1)[0].splitlines():
        heading = _HEADING.match(line)
        skipped = not _MEANINGS.match(line) if heading else skipped and bool(line.strip())
        text_lines.append("" if skipped else _MEANINGS.sub("\0", line))
    parts = _CLAUSE_END.split(" ".join(" ".join(text_lines).split()))
    return tuple(part.strip().rstrip(".") for part in parts if part.strip())


_MEANINGS = re.compile(r"(Parameters|Unit|Fields that matter for [a-z ]+):\s*")
_HEADING = re.compile(r"[A-Z][A-Za-z ]+:(\s|$)")
_CLAUSE_END = re.compile(r"\0|; (?=(?:and )?`)|(?<=[^\s.])\. (?=[A-Z`])")


def meaning_of(target: Callable[..., Any], name: str) -> str:
    """Return the clause that opens with a parameter's name, else the first that names it, in base classes too.

    >>> meaning_of(Within, "infinite")
    'An absent end is open, and infinity is accepted where `infinite` says so'
    """
    owners = target.__mro__ if inspect.isclass(target) else (target,)
    clauses = [clause for owner in owners for clause in clauses_of(inspect.cleandoc(owner.__doc__ or ""))]
    opening = (clause for clause in clauses if clause.startswith(f"`{name}`"))
    return next(opening, next((clause for clause in clauses if f"`{name}`" in clause), ""))


def _array(origin: Any, options: tuple[Any, ...], named: Named) -> JsonSchema:
    """Return the schema of a list, or of a tuple whose items each have their own type."""
    if origin is list or Ellipsis in options:
        return {"type": "array", "items": type_schema(options[0], named)}
    items = [type_schema(option, named) for option in options]
    return {"type": "array", "prefixItems": items, "items": False, "minItems": len(items)}


def _marked(schema: JsonSchema, mark: Any) -> JsonSchema:
    """Return a schema with what one annotation adds to it; annotations that are for others add nothing."""
    if isinstance(mark, str):
        return schema | {"description": mark}
    if isinstance(mark, Keywords):
        return schema | dict(mark.words)
    if isinstance(mark, Spelled):
        return schema | {"pattern": f"^{mark.pattern}$"}
    if isinstance(mark, OneOf):
        return {"enum": list(mark.values)}
    if isinstance(mark, Within):
        limited = schema | range_words(mark)
        return {"anyOf": [limited, {"const": "inf"}]} if mark.infinite else limited
    return schema


def present(hint: Any) -> Any:
    """Return the type of a key where it is there, for a key that is left out when it is None.

    >>> present(int | None), present(str)
    (<class 'int'>, <class 'str'>)
    """
    if get_origin(hint) not in (Union, UnionType):
        return hint
    return reduce(or_, (option for option in get_args(hint) if option is not NoneType))


def _explained(kinds: tuple[type[Any] | None, ...], name: str, schema: JsonSchema) -> JsonSchema:
    """Return the schema of a key with what the docstrings say of it, where nothing else describes it."""
    meanings = (meaning_of(kind, name).removeprefix(f"`{name}`: ") for kind in kinds if kind is not None)
    meaning = next(filter(None, meanings), "")
    return {"description": meaning} | schema if meaning else schema


def _key(kind: type[Any], hint: Any) -> tuple[Any, bool]:
    """Return the type of a key of an object where it is there, and whether it always is."""
    if get_origin(hint) is NotRequired:
        return get_args(hint)[0], False
    if is_dataclass(kind):
        return present(hint), NoneType not in get_args(hint)
    return hint, True
