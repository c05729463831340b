"""Every public object shows how it is used: an example in its own words, which runs as a doctest."""

import inspect
from collections.abc import Callable
from types import ModuleType
from typing import Any

import pytest

import algorithms
import audits
import dpaudit
import mechanisms
from algorithms import problems

ALIASES = {"Declaration", "Loss", "Model", "Neighbours", "PowerKind"}
"""Names of types, which carry no docstring that could run."""


def shows_an_example(thing: type[Any] | Callable[..., list[str]]) -> bool:
    """Whether the docstring of `thing`, or of one of its own members, holds a line to run."""
    if ">>>" in (inspect.getdoc(thing) or ""):
        return True
    members = vars(thing).values() if inspect.isclass(thing) else ()
    texts = (getattr(getattr(member, "__func__", member), "__doc__", None) for member in members)
    return any(">>>" in text for text in texts if isinstance(text, str))


def public(package: ModuleType) -> list[str]:
    known = ALIASES | {"NAMES", "load"}
    things = {name: getattr(package, name) for name in dir(package) if not name.startswith("_") and name not in known}
    return sorted(name for name, thing in things.items() if callable(thing))


@pytest.mark.parametrize("name", public(dpaudit))
def test_every_public_name_of_the_checker_has_an_example(name: str) -> None:
    """What `dpaudit` exports can be learnt from its docstring."""
    assert shows_an_example(getattr(dpaudit, name))


@pytest.mark.parametrize("name", public(audits))
def test_every_public_name_of_the_auditor_has_an_example(name: str) -> None:
    """And what `audits` exports."""
    assert shows_an_example(getattr(audits, name))


@pytest.mark.parametrize("name", sorted(mechanisms.NAMES))
def test_every_mechanism_has_an_example(name: str) -> None:
    """So can each kind of noise."""
    assert shows_an_example(mechanisms.load(name))


@pytest.mark.parametrize("name", sorted(algorithms.NAMES))
def test_every_algorithm_has_an_example(name: str) -> None:
    """And each algorithm."""
    assert shows_an_example(algorithms.load(name))


@pytest.mark.parametrize("name", sorted(problems.NAMES))
def test_every_problem_has_an_example(name: str) -> None:
    """And what it runs on."""
    assert shows_an_example(problems.load(name))


def test_an_object_without_an_example_is_caught() -> None:
    """A documented class that shows nothing is found out, and so is a function."""

    class Silent:
        """Something."""

    assert not shows_an_example(Silent)
    assert not shows_an_example(public)
