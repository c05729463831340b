"""The modules of the checker, looked up when they are asked for."""

import importlib
from typing import Any


def checker(name: str) -> Any:
    """A module of the checker as it is loaded now: the one with the defect, where one is planted."""
    return importlib.import_module(f"dpaudit.verifier.{name}")
