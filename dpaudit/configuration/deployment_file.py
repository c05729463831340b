"""Reading what people declare about a deployment, from a table or a file."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, get_args, get_type_hints

from dpaudit.configuration.files import locate, parse_toml, read_text
from dpaudit.errors import Fault, KeyPath
from dpaudit.model.deployment import Deployment
from dpaudit.runtime.plugins import suggestion


def decode_deployment(table: Mapping[str, Any]) -> Deployment:
    """Return the deployment that a table spells.

    Raises: Fault: the first key that is unknown, missing or of another type.
    """
    from pydantic import TypeAdapter, ValidationError

    try:
        return TypeAdapter(Deployment).validate_python(dict(table))
    except ValidationError as error:
        details = error.errors()[0]
        where = tuple(details["loc"])
        name = ".".join(map(str, where))
        if details["type"] in ("unexpected_keyword_argument", "extra_forbidden"):
            raise Fault(where, f"unknown key {name!r}{suggestion(str(where[-1]), _siblings(where))}") from None
        if details["type"] in ("missing", "missing_argument", "missing_keyword_only_argument"):
            raise Fault(where[:-1], f"missing key {name!r}.") from None
        raise Fault(where, f"Expected {name}={details['input']!r:.80}: {details['msg']}.") from None


def _siblings(where: KeyPath) -> tuple[str, ...]:
    """Return the keys of the table that the key at `where` stands in."""
    kind: Any = Deployment
    for step in where[:-1]:
        if isinstance(step, str):
            hint = get_type_hints(kind)[step]
            kind = get_args(hint)[0] if get_args(hint) else hint
    return tuple(getattr(kind, "__dataclass_fields__", ()))


def read_deployment(path: Path) -> Deployment:
    """Return the deployment that a TOML file spells.

    Raises: ConfigError: `file:line: what is wrong`.
    """
    text = read_text(path)
    try:
        return decode_deployment(parse_toml(path, text))
    except Fault as fault:
        raise locate(fault, path, text) from None
