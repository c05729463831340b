"""The location of an issue: a line of the configuration, or of the source of its subject."""

import inspect
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dpaudit.configuration.configuration import Adapted, Configuration, Configured, Written
from dpaudit.configuration.source_lines import Path as Keys
from dpaudit.configuration.source_lines import key_lines, nearest_line
from dpaudit.model.declaration import Release, walk


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """A file and a line from 1; the file is relative to the working folder if it lies below it."""

    file: str
    line: int


def place_of_path(path: Path, line: int = 1) -> Place:
    """Return the location of a line, with forward slashes."""
    here = Path.cwd().resolve()
    try:
        absolute = path.resolve()
    except (OSError, RuntimeError):  # a link that leads to itself
        absolute = here / path
    shown = absolute.relative_to(here) if absolute.is_relative_to(here) else absolute
    return Place(file=shown.as_posix(), line=max(1, line))


def place_of_key(configuration: Configuration, *keys: str | int) -> Place:
    """Return the line of a key, or of the nearest key above it."""
    return place_of_path(configuration.path, nearest_line(key_lines(configuration.text), keys))


def place_of_claim(configuration: Configuration) -> Place:
    """Return the line that states epsilon."""
    match configuration.subject:
        case Configured():
            return place_of_key(configuration, "algorithm", "epsilon")
        case Adapted():
            return place_of_key(configuration, "library", "object")
        case Written():
            return place_of_key(configuration, "claim", getattr(configuration.subject.claim, "measure", "epsilon"))


def place_of_label(configuration: Configuration, label: str) -> Place:
    """Return the location of the release with this label.

    That is its line in a written declaration, else the class of its mechanism or of its algorithm if that is a file
    below the working folder, else the line that names the algorithm.
    """
    subject = configuration.subject
    if isinstance(subject, Adapted):
        return place_of_key(configuration, "library", "object")
    if not isinstance(subject, Configured):
        keys = next(_labelled(configuration.table("declaration"), label, ("declaration",)), ("declaration",))
        return place_of_key(configuration, *keys)
    leaves = (node for _, node in walk(subject.declaration) if isinstance(node, Release))
    mechanisms = [type(node.mechanism) for node in leaves if node.label == label]
    for kind in (*mechanisms, type(subject.algorithm)):
        if location := _source(kind):
            return location
    return place_of_key(configuration, "algorithm", "name")


def _source(kind: type[Any]) -> Place | None:
    """Return the location of a class in a file of the user: below the working folder and not installed."""
    try:
        file, (_, line) = inspect.getsourcefile(kind), inspect.getsourcelines(kind)
    except (OSError, TypeError):
        return None
    if file is None or "site-packages" in Path(file).parts:
        return None
    return place_of_path(Path(file), line) if Path(file).resolve().is_relative_to(Path.cwd().resolve()) else None


def _labelled(data: Any, label: str, keys: Keys) -> Iterator[Keys]:
    """Yield the keys of each table with this label."""
    if isinstance(data, dict):
        if data.get("label") == label:
            yield (*keys, "label")
        for key, value in data.items():
            yield from _labelled(value, label, (*keys, key))
    elif isinstance(data, list):
        for number, value in enumerate(data):
            yield from _labelled(value, label, (*keys, number))
