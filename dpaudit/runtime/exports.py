"""Lazy package roots: public names that are imported from their modules on first use."""

import re
from collections.abc import Callable, Mapping
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from typing import Any

_LINE = re.compile(r"^    from ([\w.]+) import (\w+) as \2$", flags=re.M)
_OWN = ("NAMES", "load")
"""What a root may define itself, beside what it imports on first use."""


def lazy_exports(package: str) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Return the `__getattr__` and `__dir__` of a package root, which also answer for its `__all__`.

    The public names stand in one place: the lines `from module import name as name` of the root's `TYPE_CHECKING`
    block, which type checkers read. For type checkers the two functions must not exist, or else every misspelt name
    passes as `Any`.
    A name that another root or a module of the package has, or that is close to a public one, raises ImportError, whose
    text Python shows; for any other name AttributeError, as tools ask for many names that no root has.

    >>> get, names = lazy_exports("mechanisms")
    >>> get("Laplace").__module__, names()[0]
    ('mechanisms.laplace', 'AboveThreshold')
    """

    def module_getattr(name: str) -> Any:
        if name == "__all__":
            return module_dir()
        homes = exported(package)
        if name in homes:
            return getattr(import_module(homes[name]), name)
        if not name.startswith("__") and (remedy := import_module("dpaudit.runtime.homes").remedy(package, name)):
            raise ImportError(f"{package} has no {name!r}; {remedy}")
        raise AttributeError(f"module {package!r} has no attribute {name!r}")

    def module_dir() -> list[str]:
        own = (name for name in _OWN if name in vars(import_module(package)))
        return sorted((*exported(package), *own))

    return module_getattr, module_dir


def described(package: str) -> dict[str, str]:
    """Return the modules of the public names of a package, each with the first line of its docstring.

    >>> described("mechanisms")["laplace"]
    'Laplace noise on a query of known l1 sensitivity'
    """
    first_lines: dict[str, str] = {}
    for module in exported(package).values():
        with open(str(getattr(find_spec(module), "origin", "")), encoding="utf-8") as source:  # noqa: PTH123 - as below
            first_lines[module.rpartition(".")[2]] = source.readline().strip().strip('"').removesuffix(".")
    return first_lines


@cache
def exported(package: str) -> Mapping[str, str]:
    """Return the public names that a package root imports on first use, each with the module that defines it.

    >>> exported("mechanisms")["Laplace"]
    'mechanisms.laplace'
    """
    with open(str(import_module(package).__file__), encoding="utf-8") as source:  # noqa: PTH123 - the root imports little
        return {name: home for home, name in _LINE.findall(source.read())}
