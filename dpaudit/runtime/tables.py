"""Tables of words that stand beside the modules of a package."""

import tomllib
from importlib import import_module
from importlib.resources import files
from typing import Any


def table_of(package: str, name: str) -> dict[str, Any]:
    """Return a table that stands beside the modules of a package, such as the words of its rules."""
    return tomllib.loads(files(package).joinpath(name).read_text(encoding="utf-8"))


def entry_at(address: str) -> Any:
    """Return what a place "module:name" stands for, importing only its module.

    >>> entry_at("dpaudit.runtime.tables:table_of").__name__
    'table_of'
    """
    module, _, name = address.partition(":")
    return getattr(import_module(module), name)
