"""Reading the text of a TOML or JSON file, and saying on which line of it a fault stands."""

import json
import re
import tomllib
from pathlib import Path
from typing import Any, NoReturn

from dpaudit.configuration.source_lines import key_lines, longest_key, nearest_line
from dpaudit.errors import ConfigError, Fault

_LONGEST_KEY = 200


def read_text(path: Path) -> str:
    """Return the text of a configuration file."""
    try:
        return path.read_bytes().decode("utf-8-sig")
    except FileNotFoundError:
        raise ConfigError(f"{path}: no such file.") from None
    except UnicodeDecodeError:
        raise ConfigError(f"{path}: not UTF-8 text; save it as UTF-8.") from None
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read ({error.strerror}).") from None


def parse(path: Path, text: str) -> dict[str, Any]:
    """Return the plain data of a file, by its suffix.

    Raises: ConfigError: another suffix than .toml or .json, or text that is neither.
    """
    if path.suffix == ".toml":
        return parse_toml(path, text)
    if path.suffix == ".json":
        return _parse_json(path, text)
    raise ConfigError(f"{path}: expected a .toml or a .json file.")


def parse_toml(path: Path, text: str) -> dict[str, Any]:
    """Return the tables of TOML text.

    Raises: ConfigError: with its line, where the text is no TOML.
    """
    if longest_key(text) > _LONGEST_KEY:  # such a key alone would keep a parser busy for hours
        raise ConfigError(f"a key of more than {_LONGEST_KEY} parts; write it flatter.").at(str(path), 1)
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        line, message = _toml_fault(text, error)
        raise ConfigError(f"invalid TOML: {message}.").at(str(path), line) from None
    except (ValueError, RecursionError) as error:
        raise ConfigError(f"{error}.").at(str(path), 1) from None


def _parse_json(path: Path, text: str) -> dict[str, Any]:
    """Return the object that JSON text spells."""
    try:
        data = json.loads(text, object_pairs_hook=_unique, parse_constant=_no_constant)
    except json.JSONDecodeError as error:
        message = f"invalid JSON: {error.msg} (column {error.colno})."
        raise ConfigError(message).at(str(path), error.lineno) from None
    except (ValueError, RecursionError) as error:
        raise ConfigError(f"{error}.").at(str(path), 1) from None
    if not isinstance(data, dict):
        raise ConfigError("expected a JSON object with 'claim' and 'declaration'.").at(str(path), 1)
    return data


def locate(fault: Fault, path: Path, text: str) -> Fault:
    """Return `fault` with the line of its key in `text`, or of the nearest key above it."""
    return fault.at(str(path), nearest_line(key_lines(text), fault.where))


def _toml_fault(text: str, error: tomllib.TOMLDecodeError) -> tuple[int, str]:
    """Return the line of a TOML error, and what is wrong with the column.

    The parser of the standard library says line and column in its message alone before Python 3.14.
    """
    message = str(error)
    found = re.search(r" \(at (?:line (\d+), column (\d+)|end of document)\)", message)
    if not found:
        return text.count("\n") + 1, message
    line, column = found.groups()
    said = message[: found.start()]
    return (int(line), f"{said} (column {column})") if line else (text.count("\n") + 1, said)


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return a table, or refuse a key that stands in it twice."""
    table = dict(pairs)
    if len(table) < len(pairs):
        twice = next(key for key, _ in pairs if sum(key == other for other, _ in pairs) > 1)
        raise ValueError(f"invalid JSON: the key {twice!r} stands twice in one object")
    return table


def _no_constant(name: str) -> NoReturn:
    """Refuse NaN and Infinity, which JSON does not have."""
    raise ValueError(f'invalid JSON: {name} is no JSON number; write "inf" for infinity')
