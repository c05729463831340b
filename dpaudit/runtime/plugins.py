"""Plug-ins by name: mechanisms, algorithms, audits and problems, imported when they are asked for."""

import difflib
import inspect
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from traceback import walk_tb
from typing import Any, Literal

from dpaudit.arguments import other_norm
from dpaudit.errors import ConfigError
from dpaudit.runtime.package_guard import PACKAGES, require_package

Kind = Literal["mechanisms", "algorithms", "audits", "problems"]
_HOMES: dict[Kind, str] = {
    "mechanisms": "mechanisms",
    "algorithms": "algorithms",
    "audits": "audits",
    "problems": "algorithms.problems",
}


def names(kind: Kind) -> dict[str, str]:
    """Return the names of one kind, each with one line of description; built-in ones first.

    Plug-ins are entry points of the group `dpaudit.<kind>`.
    """
    built_in: dict[str, str] = dict(_home(kind).NAMES)
    plugged = {point.name: f"from {point.value}" for point in entry_points(group=f"dpaudit.{kind}")}
    return built_in | {name: text for name, text in plugged.items() if name not in built_in}


def descriptions(kind: Kind) -> dict[str, str]:
    """Return the names of one kind, each with one line of description; a plug-in's is the first line of its docstring.

    Plug-ins are imported; one that cannot be is described by its fault.
    """
    described = names(kind)
    for point in entry_points(group=f"dpaudit.{kind}"):
        if described.get(point.name) == f"from {point.value}":
            described[point.name] = _described(point)
    return described


def plug_in_fault(error: BaseException) -> str:
    """Return what a plug-in raised, with its last line on the way of the error; empty where none was on the way."""
    roots = {
        point.module.split(".")[0] for kind in (*_HOMES, "adapters") for point in entry_points(group=f"dpaudit.{kind}")
    }
    lines = [
        f"{frame.f_code.co_filename}:{line}"
        for frame, line in walk_tb(error.__traceback__)
        if str(frame.f_globals.get("__name__")).split(".")[0] in roots.difference(PACKAGES)
    ]
    return f"the plug-in raised at {lines[-1]}: {type(error).__name__}: {error}" if lines else ""


def _described(point: EntryPoint) -> str:
    """Return the first line of a plug-in's docstring, and where it is from."""
    try:
        text = inspect.getdoc(point.load()) or "no description"
    except (Exception, SystemExit) as error:
        text = f"cannot be imported ({type(error).__name__})"
    return f"{text.strip().splitlines()[0].rstrip('.')} (from {point.value})"


def find_plugin(kind: Kind, name: str) -> Any:
    """Return what `name` stands for: a mechanism's or an algorithm's class, or a problem's factory.

    Raises: ConfigError: no such name; the message offers the nearest one.

    >>> find_plugin("mechanisms", "gaussian").__name__
    'Gaussian'
    """
    home = _home(kind)
    if name in home.NAMES:
        return home.load(name)
    for point in entry_points(group=f"dpaudit.{kind}"):
        if point.name == name:
            return point.load()
    raise ConfigError(f"Unknown {kind.removesuffix('s')} name={name!r}{suggestion(name, tuple(names(kind)))}")


def _home(kind: Kind) -> Any:
    """Return the package that holds one kind, once it is known to be ours.

    Raises: ConfigError: another package of that name would be imported.
    """
    return load_package(_HOMES[kind])


def load_package(name: str) -> Any:
    """Return one of our packages, or a module in it, by its dotted name; the checker imports none of them itself.

    Raises: ConfigError: another package of that name would be imported.

    >>> load_package("mechanisms.gaussian").__name__
    'mechanisms.gaussian'
    """
    require_package(name.partition(".")[0])
    return import_module(name)


def suggestion(name: str, candidates: tuple[str, ...]) -> str:
    """Return the end of a complaint: "; did you mean 'x'?" for the nearest known name, else all of them.

    Another norm of the same sensitivity is explained, and never suggested as the same number.
    """
    close = difflib.get_close_matches(name, candidates, n=1, cutoff=0.6)
    if close and (explained := other_norm(name, close[0])):
        return explained
    return f"; did you mean {close[0]!r}?" if close else f"; known: {', '.join(candidates)}."
