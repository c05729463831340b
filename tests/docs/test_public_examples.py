"""Every public object shows how it is used: an example in its own words, which runs as a doctest."""

import inspect
from collections.abc import Callable
from types import ModuleType
from typing import Any

import pytest

import algorithms
import audits
import audits.bounds
import audits.scores
import dpaudit
import dpaudit.budgets
import dpaudit.model.losses
import dpaudit.training
import mechanisms
from algorithms import problems

ALIASES = {"Declaration", "Loss", "Model", "Neighbours", "PowerKind"}
"""Names of types, which carry no docstring that could run."""

INNER = {"Check", "SampledOrder", "ThreeLaws", "group_delta"}
"""What others of these rooms return or use; nobody starts from them."""


def shows_an_example(thing: type[Any] | Callable[..., list[str]]) -> bool:
    """Whether the docstring of `thing`, or of one of its own members, holds a line to run."""
    if ">>>" in (inspect.getdoc(thing) or ""):
        return True
    members = vars(thing).values() if inspect.isclass(thing) else ()
    texts = (getattr(getattr(member, "__func__", member), "__doc__", None) for member in members)
    return any(">>>" in text for text in texts if isinstance(text, str))


def public(package: ModuleType) -> list[str]:
    known = ALIASES | INNER | {"NAMES", "load"}
    things = {name: getattr(package, name) for name in dir(package) if not name.startswith("_") and name not in known}
    return sorted(name for name, thing in things.items() if callable(thing))


PUBLIC = [
    (package, name)
    for package in (
        dpaudit,
        dpaudit.budgets,
        dpaudit.model.losses,
        dpaudit.training,
        audits,
        audits.bounds,
        audits.scores,
    )
    for name in public(package)
]
SHIPPED = [(home, name) for home in (mechanisms, algorithms, problems) for name in sorted(home.NAMES)]


@pytest.mark.parametrize(("package", "name"), PUBLIC, ids=lambda value: getattr(value, "__name__", value))
def test_every_public_name_has_an_example(package: ModuleType, name: str) -> None:
    """What a package exports can be learnt from its docstring."""
    assert shows_an_example(getattr(package, name))


@pytest.mark.parametrize(("home", "name"), SHIPPED, ids=lambda value: getattr(value, "__name__", value))
def test_every_mechanism_algorithm_and_problem_has_an_example(home: Any, name: str) -> None:
    """So can each kind of noise, each algorithm and what it runs on."""
    assert shows_an_example(home.load(name))


def test_an_object_without_an_example_is_caught() -> None:
    """A documented class that shows nothing is found out, and so is a function."""

    class Silent:
        """Something."""

    assert not shows_an_example(Silent)
    assert not shows_an_example(public)
