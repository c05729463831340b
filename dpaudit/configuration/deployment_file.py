"""Reading what people declare about a deployment, from a table or a file."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from dpaudit.configuration.files import locate, parse_toml, read_text
from dpaudit.configuration.tables import read_object
from dpaudit.errors import Fault
from dpaudit.model.deployment import Deployment


def decode_deployment(table: Mapping[str, Any]) -> Deployment:
    """Return the deployment that a table spells; texts lose the spaces and line ends around them.

    Raises: Fault: the first key that is unknown, missing or of another type.
    """
    return read_object(Deployment, _stripped(table))


def _stripped(value: Any) -> Any:
    """Return plain data whose texts have no space at their ends."""
    if isinstance(value, str):
        return value.strip()
    if isinstance(value, Mapping):
        return {key: _stripped(inner) for key, inner in value.items()}
    return [_stripped(inner) for inner in value] if isinstance(value, list) else value


def read_deployment(path: Path) -> Deployment:
    """Return the deployment that a TOML file spells.

    Raises: ConfigError: `file:line: what is wrong`.
    """
    text = read_text(path)
    try:
        return decode_deployment(parse_toml(path, text))
    except Fault as fault:
        raise locate(fault, path, text) from None
