"""Lazy package roots: public names that are imported from their modules on first use."""

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any


def lazy_exports(package: str, homes: Mapping[str, str]) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Return the `__getattr__` and `__dir__` of a package root whose public names are listed in `homes`.

    `homes` maps each public name to the full name of the module that defines it; `__dir__` lists the root's `__all__`.
    Type checkers read the same names
    from the root's `TYPE_CHECKING` block; there the two functions must not exist, or else every misspelt name
    passes as `Any`.

    >>> get, names = lazy_exports("mechanisms", {"pi": "math"})
    >>> round(get("pi"), 2), names()[0]
    (3.14, 'BallLaplace')
    """

    def module_getattr(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return getattr(import_module(homes[name]), name)

    def module_dir() -> list[str]:
        return sorted(import_module(package).__all__)

    return module_getattr, module_dir
