"""How a defect gets into the running code: one piece of a function's source is replaced.

A planted function takes the place of the sound one everywhere: in its class, in every module that imported it, and
in the engines and rules that hold it. Everything is put back afterwards.
"""

import inspect
import re
import sys
import textwrap
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, fields, is_dataclass
from functools import cache, reduce
from importlib import import_module
from types import ModuleType
from typing import Any

PLACES = re.compile(r"(algorithms|dpaudit|mechanisms|tests\.mutation)(\.|$)")
"""Modules that may hold a sound function by its name: the product, and the battery; other tests plant nothing."""


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
    owner: Any = reduce(getattr, outer, module)
    sound = vars(owner)[name]
    defective = _rewritten(module, name, sound, defect)
    places = list(_places(sound)) if isinstance(owner, ModuleType) else [(owner, name)]
    caches = _caches()
    for held, attribute in places:
        _put(held, attribute, defective)
    for memoised in caches:
        memoised.cache_clear()
    try:
        yield
    finally:
        for held, attribute in places:
            _put(held, attribute, sound)
        for memoised in caches:
            memoised.cache_clear()


def _rewritten(module: ModuleType, name: str, sound: Any, defect: Source) -> Any:
    """Return the function with one piece of its source replaced."""
    function = getattr(sound, "fget", None) or getattr(sound, "__func__", None) or sound
    text = textwrap.dedent(inspect.getsource(function))
    if text.count(defect.old) != 1:
        raise StaleMutantError(f"{defect.target} holds {defect.old!r} {text.count(defect.old)} times, wanted once")
    made: dict[str, Any] = {}
    code = compile(text.replace(defect.old, defect.new), f"<mutant of {defect.target}>", "exec")
    exec(code, vars(module), made)  # noqa: S102 - planting is what this file is for
    return made[name]


def _modules() -> list[ModuleType]:
    """Return the loaded modules of the packages."""
    return [module for name, module in list(sys.modules.items()) if PLACES.match(name)]


def _places(sound: Any) -> Iterator[tuple[Any, str]]:
    """Yield (holder, attribute) for every place of the loaded packages that holds exactly this object."""
    for holder, attribute in _holders(tuple(module.__name__ for module in _modules())).get(id(sound), ()):
        if getattr(holder, attribute) is sound:
            yield holder, attribute


@cache
def _holders(names: tuple[str, ...]) -> dict[int, list[tuple[Any, str]]]:
    """Return the places of each function of these modules, by its identity: in a module, or in a record of one."""
    found: dict[int, list[tuple[Any, str]]] = defaultdict(list)
    for module in map(import_module, names):
        for attribute, value in vars(module).items():
            found[id(value)].append((module, attribute))
            for record in _records(value):
                for entry in fields(record):
                    if entry.init:
                        found[id(getattr(record, entry.name))].append((record, entry.name))
    return found


def _records(value: Any) -> Iterator[Any]:
    """Yield the engines, rules and theorems in a module's value."""
    if is_dataclass(value) and not isinstance(value, type):
        yield value
    elif isinstance(value, tuple | dict):
        for item in value.values() if isinstance(value, dict) else value:
            if is_dataclass(item) and not isinstance(item, type):
                yield item


def _put(holder: Any, attribute: str, value: Any) -> None:
    """Set an attribute, on frozen records, too."""
    if isinstance(holder, ModuleType | type):
        setattr(holder, attribute, value)
    else:
        object.__setattr__(holder, attribute, value)


def _caches() -> list[Any]:
    """Return the memoised functions of the loaded packages.

    A package is not asked: it looks for the name in all of its files, to say where it is.
    """
    values = (value for module in _modules() for value in vars(module).values() if not isinstance(value, ModuleType))
    return list({id(value): value for value in values if hasattr(value, "cache_clear")}.values())
