"""A private list of rows, for defects that must not be published before their makers know.

[[row]]
library = "opendp"
name = "what is released"
object = "package.module:function"   # returns what dpaudit.adapters.adapt returns
runs = 20000
"""

from functools import partial
from pathlib import Path
from typing import Any, get_args

from benchmarks.wall.row import Row, Standing
from dpaudit.adapters.factory import build
from dpaudit.configuration.files import parse_toml, read_text
from dpaudit.errors import ConfigError
from dpaudit.runtime.plugins import suggestion

_KEYS = ("library", "name", "object", "pair", "runs", "standing", "source")
_NEEDED = ("library", "name", "object")


def read_private(path: Path) -> tuple[Row, ...]:
    """Return the rows of a private list; modules beside the file are found.

    Raises: ConfigError: no TOML, no row, or a row with a missing, unknown or wrong key.
    """
    data = parse_toml(path, read_text(path))
    tables = data.get("row")
    if set(data) != {"row"} or not isinstance(tables, list) or not tables:
        raise ConfigError(f"{path}: expected one table [[row]] for each row, and nothing else.")
    return tuple(_row(path, number, table) for number, table in enumerate(tables, 1))


def _row(path: Path, number: int, table: Any) -> Row:
    """Return one row."""
    place = f"{path}: row {number}"
    if not isinstance(table, dict):
        raise ConfigError(f"{place}: expected a table.")
    for key in table:
        if key not in _KEYS:
            raise ConfigError(f"{place}: unknown key {key!r}{suggestion(str(key), _KEYS)}")
    texts = {key: table.get(key, "") for key in _KEYS if key not in ("runs", "standing")}
    wrong = [key for key, text in texts.items() if not isinstance(text, str) or (key in _NEEDED and not text)]
    if wrong:
        raise ConfigError(f"{place}: expected {wrong[0]} to be text.")
    standing = table.get("standing", "known bug")
    if standing not in get_args(Standing):
        raise ConfigError(f"{place}: expected standing={standing!r} to be one of: {', '.join(get_args(Standing))}.")
    try:
        return Row(
            library=texts["library"],
            name=texts["name"],
            pair=texts["pair"],
            runs=table.get("runs", 20_000),
            build=partial(build, texts["object"], str(path.resolve().parent)),
            standing=standing,
            source=texts["source"],
        )
    except ValueError as error:
        raise ConfigError(f"{place}: {error}") from None
