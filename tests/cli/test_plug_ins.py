"""Plug-ins of every kind: listed by their docstrings, used in configurations, verified and booked as stated."""

import json
from dataclasses import dataclass
from importlib.metadata import EntryPoint
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from dpaudit import Claim, Release, certify
from dpaudit.certification.as_stated import as_stated
from dpaudit.errors import DeclarationError
from dpaudit.runtime.plugins import descriptions, find_plugin
from mechanisms import Laplace
from tests.command_line import Write, dpaudit

WRITTEN = """\
[claim]
epsilon = 1.0
neighbours = "replace_one"
unit = "one vote"

[declaration]
node = "repeat"
times = 3

[declaration.part]
node = "release"
label = "votes"
mechanism = { name = "foreign", scale = 5.0, l1_sensitivity = 1.0 }
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Foreign(Laplace):
    """Adds noise that no table of ours knows.

    A second paragraph.
    """

    name = "foreign"


def two_towns(*, people: int = 100) -> tuple[int, ...]:
    """Return the votes of two towns."""
    return (people, people)


PLUGGED: dict[str, dict[str, Any]] = {
    "dpaudit.mechanisms": {"foreign": Foreign, "broken": None},
    "dpaudit.problems": {"two_towns": two_towns},
}


@pytest.fixture
def plugged(monkeypatch: pytest.MonkeyPatch) -> None:
    """Register the plug-ins of this file."""

    def load(subject: Any) -> Any:
        if subject is None:
            raise ImportError("no such module")
        return subject

    def points(group: str) -> list[Any]:
        held = PLUGGED.get(group, {})
        return [
            SimpleNamespace(name=name, value=f"elsewhere:{name}", load=lambda subject=subject: load(subject))
            for name, subject in held.items()
        ]

    monkeypatch.setattr("dpaudit.runtime.plugins.entry_points", points)


def test_a_plug_in_is_listed_with_the_first_line_of_its_docstring(plugged: None) -> None:
    """Mechanisms and problems alike; one that cannot be imported says so, and the list goes on."""
    held = json.loads(dpaudit("list", "--format", "json").stdout)
    assert held["mechanisms"]["foreign"] == "Adds noise that no table of ours knows (from elsewhere:foreign)"
    assert held["problems"]["two_towns"] == "Return the votes of two towns (from elsewhere:two_towns)"
    assert held["mechanisms"]["broken"] == "cannot be imported (ImportError) (from elsewhere:broken)"
    assert held["mechanisms"]["laplace"] == descriptions("mechanisms")["laplace"]
    assert find_plugin("problems", "two_towns") is two_towns
    assert hasattr(EntryPoint, "load"), "what stands for an entry point here has its names"


def test_a_plug_in_mechanism_is_verified_and_booked_as_stated(plugged: None, write: Write) -> None:
    """Certificate and statement verify and say whose word they rest on; the statement is booked once."""
    path = write(WRITTEN)
    assert dpaudit("certify", path, "--format", "json", "-o", "own.json").exit_code == 4
    assert dpaudit("verify", "own.json").exit_code == 4
    listed = [row["text"] for row in json.loads(Path("own.json").read_text(encoding="utf-8"))["conditions"]]
    assert any("plug-in mechanism foreign" in text for text in listed)

    assert dpaudit("certify", path, "--as-stated", "--format", "json", "-o", "stated.json").exit_code == 4
    assert dpaudit("verify", "stated.json").exit_code == 4
    data = json.loads(Path("stated.json").read_text(encoding="utf-8"))
    own = json.loads(Path("own.json").read_text(encoding="utf-8"))
    assert data["claim"] == own["claim"]
    assert data["tight"]["epsilon"] == {**data["tight"]["epsilon"], "lower": 0.0, "upper": 0.6}
    assert data["declaration"]["source"] == f"certificate {own['digest']}, by the mechanisms foreign"

    budget = ("open", "budget.sqlite", "--account", "votes", "--epsilon", "1", "--unit", "one vote")
    assert dpaudit("ledger", *budget).exit_code == 0
    booking = ("ledger", "book", "budget.sqlite", "stated.json", "--account", "votes", "--label")
    assert dpaudit(*booking, "spring").exit_code == 0
    assert dpaudit("ledger", "verify", "budget.sqlite").exit_code == 0
    assert dpaudit(*booking, "autumn").exit_code == 1, "0.6 twice is more than 1"


def test_a_claim_that_is_not_certified_is_not_stated(plugged: None, write: Write) -> None:
    """A refuted claim has nothing to state: one line, and no file."""
    path = write(WRITTEN.replace("epsilon = 1.0", "epsilon = 0.3"))
    refused = dpaudit("certify", path, "--as-stated", "--format", "json", "-o", "stated.json")
    assert refused.exit_code == 2
    assert refused.stderr.count("\n") == 1
    assert not Path("stated.json").exists()
    noise = Laplace(scale=1.0, l1_sensitivity=1.0, neighbours="replace_one")
    false = certify(Release(label="sum", mechanism=noise), Claim(epsilon=0.5, neighbours="replace_one"))
    with pytest.raises(DeclarationError, match="it is refuted"):
        as_stated(false)


def test_the_statement_of_a_local_release_is_local() -> None:
    """The view that the declaration protects stays; the claim of another view would not be certified."""
    from dpaudit import Local

    noise = Laplace(scale=2.0, l1_sensitivity=1.0, neighbours="replace_one")
    claim = Claim(epsilon=1.0, neighbours="replace_one", model="local")
    stated = as_stated(certify(Local(part=Release(label="answer", mechanism=noise)), claim))
    assert stated.verdict == "stated"
    assert isinstance(stated.declaration, Local)
