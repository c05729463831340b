"""Problems to run algorithms on: bundled data sets and synthetic families, each a factory by name."""

from typing import Any

from dpaudit.runtime.tables import entry_at, table_of

_TABLE = table_of("algorithms.problems", "names.toml")["problems"]

NAMES: dict[str, str] = {name: row["words"] for name, row in _TABLE.items()}
"""Every problem by name, with one line on what it is."""


def origin(name: str, *, has_path: bool = False) -> Any:
    """Return where the problem called `name` comes from, an `origins.Origin`; None of a plug-in's problem."""
    if name not in _TABLE:
        return None
    return entry_at("algorithms.problems.origins:origin_of")("file" if has_path else _TABLE[name]["origin"])


def load(name: str) -> Any:
    """Return the factory of the problem called `name`, importing only its module.

    Raises: KeyError: no such problem.
    """
    return entry_at(_TABLE[name]["entry"])
