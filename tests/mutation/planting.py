"""How a defect gets into the running code: one piece of a function's source is replaced.

A planted function keeps its identity and gets other code, so that it is planted wherever it is held: in its class, in
modules that imported it, in defaults, engines and rules. Everything is put back afterwards.
"""

import inspect
import re
import sys
import textwrap
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import reduce
from importlib import import_module
from types import CodeType, FunctionType, ModuleType
from typing import Any

PLACES = re.compile(r"(algorithms|audits|dpaudit|mechanisms|tests\.mutation)(\.|$)")
"""Modules whose memoised results may come from a planted function."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """In the function at `target` ("module:name" or "module:Class.name"), `new` stands where `old` stood once."""

    target: str
    old: str
    new: str


class StaleMutantError(Exception):
    """The code that a mutant wants to change is no longer there; the table must follow the code."""


@contextmanager
def planted(defect: Source) -> Iterator[None]:
    """Run the block with the defect in place."""
    module_name, path = defect.target.split(":")
    module = import_module(module_name)
    *outer, name = path.split(".")
    function = _function(vars(reduce(getattr, outer, module))[name])
    defective = _rewritten(module, name, function, defect)
    sound = function.__code__, function.__defaults__, function.__kwdefaults__
    caches = _caches()
    _put(function, defective.__code__, defective.__defaults__, defective.__kwdefaults__)
    for memoised in caches:
        memoised.cache_clear()
    try:
        yield
    finally:
        _put(function, *sound)
        for memoised in caches:
            memoised.cache_clear()


def _function(held: Any) -> FunctionType:
    """Return the plain function below a property, a method of a class, or what memoises it."""
    plain = inspect.unwrap(getattr(held, "fget", None) or getattr(held, "__func__", None) or held)
    return getattr(plain, "__func__", plain)


def _rewritten(module: ModuleType, name: str, function: FunctionType, defect: Source) -> FunctionType:
    """Return the function with one piece of its source replaced."""
    text = textwrap.dedent(inspect.getsource(function))
    if text.count(defect.old) != 1:
        raise StaleMutantError(f"{defect.target} holds {defect.old!r} {text.count(defect.old)} times, wanted once")
    made: dict[str, Any] = {}
    code = compile(text.replace(defect.old, defect.new), f"<mutant of {defect.target}>", "exec")
    exec(code, vars(module), made)  # noqa: S102 - planting is what this file is for
    return _function(made[name])


def _put(function: FunctionType, code: CodeType, defaults: Any, keywords: Any) -> None:
    """Set what a function does, wherever it is held."""
    function.__code__, function.__defaults__, function.__kwdefaults__ = code, defaults, keywords


def _modules() -> list[ModuleType]:
    """Return the loaded modules of the packages."""
    return [module for name, module in list(sys.modules.items()) if PLACES.match(name)]


def _caches() -> list[Any]:
    """Return the memoised functions of the loaded packages.

    A package is not asked: it looks for the name in all of its files, to say where it is.
    """
    values = (value for module in _modules() for value in vars(module).values() if not isinstance(value, ModuleType))
    return list({id(value): value for value in values if hasattr(value, "cache_clear")}.values())
