"""The pages on adding an algorithm and an audit: their files run, are certified and audited, and find broken code."""

import ast
import importlib
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import algorithms
import audits
from audits import Settings, audit, when_refuted
from dpaudit import AuditCase, Claim, Streams, certify
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


ROOT = Path(audits.__file__).parents[1]
AUDIT_PAGE = (ROOT / "docs" / "how_to" / "add_an_audit.md").read_text(encoding="utf-8")
CLAIM = Claim(epsilon=1.0, neighbours="replace_one")


def skeleton(scale: float) -> dict[str, Any]:
    """The page's module, with this scale of noise."""
    source = next(text for text in re.findall(r"```python\n(.*?)```", AUDIT_PAGE, flags=re.DOTALL) if ">>>" not in text)
    held: dict[str, Any] = {"__name__": "histogram_audit"}
    exec(compile(source.replace("SCALE = 1.0", f"SCALE = {scale}"), "add_an_audit.md", "exec"), held)  # noqa: S102
    return held


@pytest.mark.parametrize(("scale", "verdict"), [(1.0, "violation"), (2.0, "not_refuted")])
def test_the_skeleton_tells_the_broken_histogram_from_the_repaired_one(scale: float, verdict: str) -> None:
    """With half the noise the bound comes near 2, and the claim of 1 falls; with all of it nothing is found."""
    found = skeleton(scale)["main"](np.random.default_rng(5))
    assert found.verdict == verdict
    assert found.epsilon_lower > 1.6 or scale == 2.0


def test_the_learner_of_the_page_finds_it_too() -> None:
    """An attack that only knows means refutes the claim as well."""
    held = skeleton(1.0)
    blind = replace(held["CASE"], score=None)
    found = audit(
        blind, claim=CLAIM, runs=20_000, rng=np.random.default_rng(5), how=Settings(learner=held["mean_difference"])
    )
    assert found.verdict == "violation"


def test_the_skeleton_passes_strict_type_checks(tmp_path: Path) -> None:
    """mypy --strict has nothing to say; a function without its types is found."""
    source = next(text for text in re.findall(r"```python\n(.*?)```", AUDIT_PAGE, flags=re.DOTALL) if ">>>" not in text)
    untyped = source.replace(" -> Callable[[np.ndarray], np.ndarray]:", ":")
    assert untyped != source
    for name, text in (("typed", source), ("untyped", untyped)):
        (tmp_path / f"{name}.py").write_text(text, encoding="utf-8")
    files = [f"{tmp_path / name}.py" for name in ("typed", "untyped")]
    command = [sys.executable, "-m", "mypy", "--strict", "--cache-dir", str(ROOT / ".mypy_cache"), *files]
    ended = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert ended.returncode == 1, ended.stderr
    *errors, summary = ended.stdout.splitlines()
    assert "in 1 file (checked 2 source files)" in summary
    assert all("untyped.py:" in error for error in errors), ended.stdout


def test_the_same_case_stops_early() -> None:
    """The sequential audit needs a few hundred runs at the most."""
    found = audit(skeleton(1.0)["CASE"], claim=CLAIM, runs=5_000, rng=np.random.default_rng(5), stop=when_refuted)
    assert found.verdict == "violation"
    assert found.runs < 1_000
