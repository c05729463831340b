"""Reading the text of a TOML or JSON file, with limits, and saying on which line of it a fault stands.

Every text file that dpaudit is given comes in here. It is a regular file or a stream of the shell, of bounded size;
JSON is of bounded depth, and its whole numbers are of bounded length.
"""

import json
import re
import tomllib
from collections import Counter
from difflib import get_close_matches
from pathlib import Path
from typing import Any, NoReturn

from dpaudit.configuration.source_lines import key_lines, longest_key, nearest_line
from dpaudit.errors import ConfigError, Fault

LARGEST_FILE = 64 * 2**20
"""How many bytes a file may have."""

_LARGEST_CONFIGURATION = 2**20
_MOST_TABLES = 10_000
_DEEPEST = 600
_LONGEST_KEY = 200
_LONGEST_INTEGER = 300
_BRACKETS = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"|[\[\]{}]')
_STREAMS = ("/dev/stdin", "/dev/fd/", "/proc/self/fd/")


def read_text(path: Path, largest: int = LARGEST_FILE) -> str:
    """Return the text of a file of at most `largest` bytes.

    Raises: ConfigError: as `read_bytes`, or no UTF-8.
    """
    content = read_bytes(path, largest)
    if content.startswith(b"SQLite format 3"):
        raise ConfigError(f"{path}: is a database, perhaps a ledger, and no text; name another file.")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise ConfigError(f"{path}: not UTF-8 text; save it as UTF-8.") from None


def read_bytes(path: Path, largest: int = LARGEST_FILE) -> bytes:
    """Return the content of a file of at most `largest` bytes.

    Raises: ConfigError: no such file, a device or a pipe that may never end, or too many bytes.
    """
    try:
        regular = path.is_file() or path.is_dir() or not path.exists()  # a folder is named by the error of opening it
        if not regular and not str(path).startswith(_STREAMS):
            raise ConfigError(f"{path}: is no regular file; give a file.")
        with path.open("rb") as file:
            content = file.read(largest + 1)
        if len(content) > largest:
            raise ConfigError(f"{path}: expected at most {largest} bytes; give a smaller file.")
        return content
    except FileNotFoundError:
        raise ConfigError(f"{path}: no such file{_near(path)}") from None
    except IsADirectoryError:
        raise ConfigError(f"{path}: is a folder; name a file in it.") from None
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read ({error.strerror}).") from None
    except ValueError:
        raise ConfigError(f"{str(path)!r:.200}: is no name of a file.") from None


def _near(path: Path) -> str:
    """Return the end of a complaint that names a file beside `path` whose name is close; nothing without one."""
    try:
        names = [file.name for file in path.parent.iterdir() if file.is_file()]
    except OSError:
        return "."
    near = [name for name in names if Path(name).stem == path.name]
    near = near or get_close_matches(path.name, names, n=1, cutoff=0.8)
    return f"; did you mean {str(path.with_name(near[0]))!r}?" if near else "."


def json_value(text: str) -> Any:
    """Return the value that JSON text spells.

    Raises: ValueError: no JSON, NaN or Infinity, a key that stands twice in one object, more than 600 brackets inside
        each other, or a whole number of more than 300 digits.
    """
    if _depth(text) > _DEEPEST:
        raise ValueError(f"nested too deeply: more than {_DEEPEST} brackets stand inside each other")
    return json.loads(text, object_pairs_hook=_unique, parse_constant=_no_constant, parse_int=_whole)


def json_object(path: Path) -> dict[str, Any]:
    """Return the JSON object in a file.

    Raises: ConfigError: no such file, no JSON, nested too deeply, or no object.
    """
    try:
        data = json_value(read_text(path))
    except (ValueError, RecursionError) as error:
        raise ConfigError(f"{path}: invalid JSON ({error}).") from None
    if not isinstance(data, dict):
        raise ConfigError(f"{path}: expected a JSON object.")
    return data


def object_in(text: str) -> dict[str, Any] | None:
    """Return the JSON object that a text spells; None for any other text.

    >>> object_in('{"rate": 0.5}'), object_in("[]"), object_in("rate = 0.5")
    ({'rate': 0.5}, None, None)
    """
    try:
        data = json_value(text)
    except (ValueError, RecursionError):
        return None
    return data if isinstance(data, dict) else None


def stated_schema(text: str) -> str:
    """Return what a JSON object states under `schema`; an empty text for any other text.

    >>> stated_schema('{"schema": "urn:x:1"}'), stated_schema("[]")
    ('urn:x:1', '')
    """
    return str((object_in(text) or {}).get("schema", ""))


def _depth(text: str) -> int:
    """Return how many brackets of JSON text stand inside each other at most."""
    depth = deepest = 0
    for match in _BRACKETS.finditer(text):
        mark = match.group()
        depth += (mark in "[{") - (mark in "]}")
        deepest = max(deepest, depth)
    return deepest


def parse(path: Path, text: str) -> dict[str, Any]:
    """Return the plain data of a file, by its suffix.

    Raises: ConfigError: another suffix than .toml or .json, or text that is neither.
    """
    if len(text) > _LARGEST_CONFIGURATION:
        raise ConfigError(
            f"{path}: expected at most {_LARGEST_CONFIGURATION} characters, got {len(text)}; state it shorter, or call "
            "dpaudit.certify from Python."
        )
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
    if text.count("\n[") > _MOST_TABLES:
        raise ConfigError(f"more than {_MOST_TABLES} tables; write the parts as one array.").at(str(path), 1)
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        line, message = _toml_fault(text, error)
        raise ConfigError(f"invalid TOML: {message}{_remedy(text, line, message)}.").at(str(path), line) from None
    except RecursionError:
        raise ConfigError("nested too deeply; write it flatter.").at(str(path), 1) from None
    except ValueError as error:
        raise ConfigError(f"{error}.").at(str(path), 1) from None


def _parse_json(path: Path, text: str) -> dict[str, Any]:
    """Return the object that JSON text spells."""
    try:
        data = json_value(text)
    except json.JSONDecodeError as error:
        message = f"invalid JSON: {error.msg} (column {error.colno})."
        raise ConfigError(message).at(str(path), error.lineno) from None
    except RecursionError:
        raise ConfigError("nested too deeply; write it flatter.").at(str(path), 1) from None
    except ValueError as error:
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
    location = re.search(r" \(at (?:line (\d+), column (\d+)|end of document)\)", message)
    if not location:
        return text.count("\n") + 1, message
    line, column = location.groups()
    said = message[: location.start()]
    return (int(line), f"{said} (column {column})") if line else (text.count("\n") + 1, said)


_REMEDIES = (
    (re.compile(r"=\s*\d+,\d+\s*(#.*)?$"), "a decimal has a point: 1.5"),
    (re.compile(r"=\s*[\d.]+\s*%"), "a share is a number of at most 1: 0.1"),
    (re.compile(r"=\s*[A-Za-z_]"), 'a text stands in quotes: key = "text"'),
    (re.compile(r"^\s*[\w.]+\s*:"), "a key is followed by =: key = 1.0"),
    (re.compile(r"^\s*\[[^\]]*$"), "a section ends with ]: [claim]"),
    (re.compile(r"=\s*\{"), 'a table stands on one line, with commas: { name = "laplace", scale = 2.0 }'),
    (re.compile(r"=\s*\"[^\"]*$"), "a text ends with its quote, on the same line"),
)
"""What is meant by lines that are no TOML, as people write them."""


def _remedy(text: str, line: int, message: str) -> str:
    """Return the end of a complaint about a line that is no TOML: what is written in its place, or what the line is."""
    lines = text.splitlines()
    written = lines[line - 1].strip() if line <= len(lines) else ""
    if message.startswith(("Cannot overwrite", "Cannot declare")):
        listed = ", or begin each entry of a list with [[declaration.parts]]" if written.startswith("[") else ""
        return f"; the name stands twice: keep one of them{listed}"
    remedy = next((remedy for pattern, remedy in _REMEDIES if pattern.search(written)), "")
    return f"; {remedy}" if remedy else f" in {written!r:.80}" if written else ""


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return a table, or refuse a key that stands in it twice."""
    table = dict(pairs)
    if len(table) < len(pairs):
        twice = Counter(key for key, _ in pairs).most_common(1)[0][0]
        raise ValueError(f"invalid JSON: the key {twice!r:.80} stands twice in one object")
    return table


def _whole(text: str) -> int:
    """Return a whole number of at most 300 digits."""
    if len(text) > _LONGEST_INTEGER:
        raise ValueError(f"invalid JSON: a whole number of {len(text)} digits")
    return int(text)


def _no_constant(name: str) -> NoReturn:
    """Refuse NaN and Infinity, which JSON does not have."""
    raise ValueError(f'invalid JSON: {name} is no JSON number; write "inf" for infinity')
