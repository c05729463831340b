"""Finding mechanisms, algorithms and audits by name, without importing them before they are needed."""

import difflib
from importlib import import_module
from importlib.metadata import entry_points
from typing import Any, Literal

from dpaudit.errors import ConfigError

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
    built_in: dict[str, str] = dict(import_module(_HOMES[kind]).NAMES)
    plugged = {point.name: f"from {point.value}" for point in entry_points(group=f"dpaudit.{kind}")}
    return built_in | {name: text for name, text in plugged.items() if name not in built_in}


def find(kind: Kind, name: str) -> Any:
    """Return what `name` stands for: a mechanism's or an algorithm's class, or a problem's factory.

    Raises: ConfigError: no such name; the message offers the nearest one.
    """
    home = import_module(_HOMES[kind])
    if name in home.NAMES:
        return home.load(name)
    for point in entry_points(group=f"dpaudit.{kind}"):
        if point.name == name:
            return point.load()
    raise ConfigError(f"Unknown {kind.removesuffix('s')} name={name!r}{suggestion(name, tuple(names(kind)))}")


def suggestion(name: str, known: tuple[str, ...]) -> str:
    """Return the end of a complaint: "; did you mean 'x'?" for the nearest known name, else all of them."""
    close = difflib.get_close_matches(name, known, n=1, cutoff=0.5)
    return f"; did you mean {close[0]!r}?" if close else f"; known: {', '.join(known)}."
