"""Checks of a plug-in: the contract of a mechanism's examples, or of an algorithm on a problem."""

import inspect
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from dpaudit.configuration.config import read_config
from dpaudit.configuration.configuration import Configured
from dpaudit.errors import ConfigError
from dpaudit.gate.checks import Check
from dpaudit.model.mechanism import is_mechanism
from dpaudit.runtime.plugins import Kind, find_plugin, load_package, names, suggestion

_SUFFIXES = (".toml", ".json")


def check_plugin(name: str) -> tuple[Check, ...]:
    """Return all checks of the mechanism or algorithm called `name`, or of the algorithm of a configuration file.

    A mechanism's module has `EXAMPLES`, a tuple of mechanisms; an algorithm's module may have `EXAMPLES`, a tuple of
    (algorithm, problem).
    Raises: ConfigError: no such name, no examples, or a file that configures no algorithm on a problem.
    """
    if name.endswith(_SUFFIXES):
        subject = read_config(Path(name)).subject
        if not isinstance(subject, Configured) or subject.problem is None:
            raise ConfigError(f"{name}: no algorithm on a problem to check; give both tables.")
        return tuple(_checks_of((subject.algorithm, subject.problem), name))
    kinds: tuple[Kind, ...] = ("mechanisms", "algorithms")
    kind: Kind | None = next((kind for kind in kinds if name in names(kind)), None)
    if kind is None:
        known_names = tuple(known_names for kind in kinds for known_names in names(kind))
        raise ConfigError(f"Unknown mechanism or algorithm {name!r}{suggestion(name, known_names)}")
    examples = getattr(inspect.getmodule(find_plugin(kind, name)), "EXAMPLES", ())
    if not examples:
        wanted = "mechanisms" if kind == "mechanisms" else "(algorithm, problem), or give a configuration file"
        raise ConfigError(f"{name!r} brings no examples to check; add to its module EXAMPLES, a tuple of {wanted}.")
    return tuple(
        check
        for number, example in enumerate(examples, start=1)
        for check in _checks_of(example, f"{name}, example {number}")
    )


def _checks_of(example: Any, called: str) -> Iterator[Check]:
    """Yield the checks of a mechanism, or of a pair of algorithm and problem."""
    testing = load_package("audits.testing")
    checks = (
        testing.mechanism_checks(example, np.random.default_rng(0))
        if is_mechanism(example)
        else testing.algorithm_checks(*example)
    )
    for check in checks:
        yield Check(example=called, what=check.what, status=check.outcome, says=check.says)
