"""Tables of words that stand beside the modules of a package."""

import tomllib
from importlib.resources import files
from typing import Any


def table_of(package: str, name: str) -> dict[str, Any]:
    """Return a table that stands beside the modules of a package, such as the words of its rules."""
    return tomllib.loads(files(package).joinpath(name).read_text(encoding="utf-8"))
