"""Lazy package roots: public names that are imported from their modules on first use."""

from collections.abc import Callable, Mapping
from difflib import get_close_matches
from importlib import import_module
from typing import Any

_ROOTS: dict[str, Mapping[str, str]] = {}
"""The public names of each package root that was imported, to say where a name is."""


def lazy_exports(package: str, homes: Mapping[str, str]) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Return the `__getattr__` and `__dir__` of a package root whose public names are listed in `homes`.

    `homes` maps each public name to the full name of the module that defines it; `__dir__` lists the root's `__all__`.
    Type checkers read the same names
    from the root's `TYPE_CHECKING` block; there the two functions must not exist, or else every misspelt name
    passes as `Any`.
    A name that another root has, or that is close to a public one, raises ImportError, whose text Python shows; for any
    other name AttributeError, as tools ask for many names that no root has.

    >>> get, names = lazy_exports("mechanisms", {"pi": "math"})
    >>> round(get("pi"), 2), names()[0]
    (3.14, 'BallLaplace')
    """
    _ROOTS[package] = homes

    def module_getattr(name: str) -> Any:
        if name not in homes:
            if remedy := _remedy(name, homes):
                raise ImportError(f"{package} has no {name!r}; {remedy}")
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return getattr(import_module(homes[name]), name)

    def module_dir() -> list[str]:
        return sorted(import_module(package).__all__)

    return module_getattr, module_dir


def _remedy(name: str, homes: Mapping[str, str]) -> str:
    """Return where a name is, or the public name next to it; an empty text where nothing is near."""
    for root, names in _ROOTS.items():
        if name in names:
            return f"write: from {root} import {name}"
    near = get_close_matches(name, homes, 1, cutoff=0.8)
    return f"did you mean {near[0]!r}?" if near else ""
