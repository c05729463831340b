"""Methods to compare with in a study, by name: some protect nobody, and some are private baselines of a paper."""

from typing import Any

from dpaudit.runtime.tables import entry_at, table_of

_TABLE = table_of("algorithms.references", "names.toml")

NAMES: dict[str, str] = {name: row["words"] for name, row in _TABLE.items()}
"""Every method by name, with one line on what it is."""


def load(name: str) -> Any:
    """Return the class of the method called `name`, importing only its module.

    Raises: KeyError: no such method.
    """
    return entry_at(_TABLE[name]["entry"])
