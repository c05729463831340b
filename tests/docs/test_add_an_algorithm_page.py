"""The page on adding an algorithm: its rooms are certified, admitted and audited, and its tables are complete."""

import ast
import importlib
import re
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import algorithms
from audits import Settings, audit
from dpaudit import AuditCase, Streams, certify
from dpaudit.configuration.config import read_config
from dpaudit.errors import ConfigError
from dpaudit.model.algorithm import Algorithm
from dpaudit.model.trace import admit
from dpaudit.workflow import cases_of

PAGE = (Path(algorithms.__file__).parents[1] / "docs" / "how_to" / "add_an_algorithm.md").read_text(encoding="utf-8")
FOLDER = "batched_elimination"
ROOMS = dict(re.findall(r'```python title="(\w+)\.py"\n(.*?)```', PAGE, flags=re.DOTALL))
PROBLEM = (0.2, 0.5, 0.9)


@pytest.fixture
def room(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Callable[..., ModuleType]]:
    """Return a function that imports a room of the page's folder, written beside the real algorithms."""
    folder = tmp_path / FOLDER
    folder.mkdir()
    (face,) = re.findall(r"```py\n(.*?)```", PAGE, flags=re.DOTALL)
    (folder / "__init__.py").write_text(face, encoding="utf-8")
    for name, source in ROOMS.items():
        (folder / f"{name}.py").write_text(source, encoding="utf-8")
    monkeypatch.setattr(algorithms, "__path__", [*algorithms.__path__, str(tmp_path)])
    importlib.invalidate_caches()

    def imported(name: str) -> ModuleType:
        return importlib.import_module(f"algorithms.{FOLDER}.{name}")

    yield imported
    for name in [name for name in sys.modules if name.startswith(f"algorithms.{FOLDER}")]:
        del sys.modules[name]
    if hasattr(algorithms, FOLDER):
        delattr(algorithms, FOLDER)


def test_the_rooms_of_the_page_are_certified_admitted_and_consistent(room: Callable[[str], ModuleType]) -> None:
    """The folder as printed: a valid printed argument, no finding in the trace, no violation, no note."""
    ((made, problem),) = room("algorithm").EXAMPLES
    assert problem == PROBLEM
    algorithm: object = made
    assert isinstance(algorithm, Algorithm)
    certificate = certify(made.declaration(), made.claim())
    assert (certificate.verdict, certificate.printed.valid) == ("certified", True)
    run = made.run(PROBLEM, Streams.spawn(np.random.default_rng(1)), 5)
    assert admit(made.declaration(), run.trace) == ()
    assert [condition.status for condition in run.conditions] == ["checked"]
    assert run.arrays["alive"][:, -1].tolist() == [[False, False, True]] * 5
    (case,) = made.cases()
    upper = certificate.tight.epsilon.upper
    result = audit(case, claim=made.claim(), runs=20_000, rng=np.random.default_rng(1), how=Settings(certified=upper))
    assert result.verdict in ("consistent", "not_refuted")
    assert made.notes() == ()
    assert replace(made, horizon=24).notes() != ()


def test_the_configuration_of_the_page_names_the_class_and_is_audited_without_a_problem(
    room: Callable[[str], ModuleType], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Its audits need none; without that default the command asks for one."""
    monkeypatch.setitem(algorithms.NAMES, FOLDER, "a bandit")
    (text,) = re.findall(r"```toml\n(.*?)```", PAGE, flags=re.DOTALL)
    file = tmp_path / "bandit.toml"
    file.write_text(text, encoding="utf-8")
    configuration = read_config(file)
    ((_, case),) = cases_of(configuration, "transcript")
    assert case.name == "first reward"

    def cases(self: object, problem: object) -> tuple[AuditCase, ...]:
        return (case,)

    monkeypatch.setattr(room("algorithm").BatchedElimination, "cases", cases)
    with pytest.raises(ConfigError, match="an audit needs a \\[problem\\]"):
        cases_of(configuration, "transcript")


def test_half_the_noise_is_found_by_the_trace_and_by_the_audit(
    room: Callable[[str], ModuleType], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The twin: the plan that runs has half the noise of the plan that is declared."""
    made = room("algorithm").BatchedElimination(epsilon=1.0, horizon=50_000, arms=3)
    declared, plan = made.declaration(), room("plan").plan_of(made)

    def halved(settings: Any) -> Any:
        return replace(plan, mechanism=plan.mechanism.scaled(0.5))

    monkeypatch.setattr(room("algorithm"), "plan_of", halved)
    monkeypatch.setattr(room("cases"), "plan_of", halved)
    run = made.run(PROBLEM, Streams.spawn(np.random.default_rng(1)), 5)
    assert {finding.rule for finding in admit(declared, run.trace)} == {"DPA212"}
    result = audit(made.cases()[0], claim=made.claim(), runs=20_000, rng=np.random.default_rng(1))
    assert result.verdict == "violation"


def test_the_table_names_every_member_of_the_protocol() -> None:
    named = set(re.findall(r"^\| `(\w+)\(.*?\)` \| [a-z]", PAGE.partition("## The modules")[0], flags=re.MULTILINE))
    assert named == {name for name in vars(Algorithm) if not name.startswith("_")}


def imported_rooms(source: str) -> set[str]:
    """The rooms of the folder that a room's source imports."""
    nodes = (node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.ImportFrom))
    return {str(node.module).rpartition(".")[2] for node in nodes if FOLDER in str(node.module)}


def upward_imports(rooms: dict[str, str], order: list[str]) -> set[tuple[str, str]]:
    """Every pair (room, imported room) in which the imported room does not stand above the importing one."""
    pairs = {(name, other) for name, source in rooms.items() for other in imported_rooms(source)}
    return {(name, other) for name, other in pairs if order.index(other) >= order.index(name)}


def test_rooms_import_only_what_stands_above_them_in_the_table() -> None:
    """The table lists every file once, in the order of the imports; and an import of the roof is caught."""
    order = re.findall(r"^\| `(\w+)\.py` \|", PAGE, flags=re.MULTILINE)
    assert order == list(ROOMS)
    assert upward_imports(ROOMS, order) == set()
    broken = {**ROOMS, "plan": ROOMS["plan"] + f"\nfrom algorithms.{FOLDER}.algorithm import BatchedElimination\n"}
    assert upward_imports(broken, order) == {("plan", "algorithm")}


def test_no_room_is_longer_than_the_house_allows() -> None:
    """The class fills at most 60 lines, and no room more than 120."""
    assert len(ROOMS["algorithm"].splitlines()) <= 60
    assert max(len(source.splitlines()) for source in ROOMS.values()) <= 120
