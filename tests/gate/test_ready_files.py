"""The files one copies: workflows, hook and first steps do what they say, run as they stand."""

import re
import shlex
import shutil
import time
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.command_line import Shell

ROOT = Path(__file__).parents[2]
CI = ROOT / "examples" / "ci"


@pytest.fixture
def copied(tmp_path: Path) -> Callable[..., Any]:
    """Return a function that copies a folder of examples, as a user would, and returns the copy."""

    def copy(name: str) -> Path:
        folder = tmp_path / "copy"
        shutil.copytree(ROOT / "examples" / name, folder, ignore=shutil.ignore_patterns("__pycache__"))
        (folder / "pytest.ini").write_text("[pytest]\n", encoding="utf-8")
        return folder

    return copy


def commands(name: str) -> list[Any]:
    """The shell lines of a workflow in their order, job by job, without those that install."""
    held = yaml.safe_load((CI / name).read_text(encoding="utf-8"))
    lines = [
        step.get("run", "") if isinstance(step, dict) else step
        for job in held.get("jobs", held).values()
        for step in (*job.get("before_script", ()), *job.get("steps", ()), *job.get("script", ()))
    ]
    return [line for line in lines if line and not line.startswith("pip install")]


@pytest.mark.parametrize("name", ["github.yml", "gitlab.yml"])
def test_every_command_of_a_workflow_runs_and_passes(name: str, copied: Callable[..., Any], shell: Shell) -> None:
    """In a copy of the example project each line ends with 0; the files that later steps upload are there."""
    folder = copied("ci")
    lines = commands(name)
    assert len(lines) == 3
    for line in lines:
        quick = line.replace("--dp-profile nightly", "--dp-profile fast").replace(
            "--dp-profile ci", "--dp-profile fast"
        )
        ended = shell(quick, folder)
        assert ended.returncode == 0, (line, ended.stdout + ended.stderr)
    assert {"check.sarif", "junit.xml", "tests.xml"} <= {path.name for path in (folder / "privacy-results").iterdir()}
    assert (folder / ".dpaudit" / "evidence.sqlite").is_file()


@pytest.mark.parametrize("name", ["github.yml", "gitlab.yml"])
def test_a_workflow_needs_no_file_but_those_of_the_project(name: str, copied: Callable[..., Any]) -> None:
    """Every file that a line names is in the example project or is written by a line."""
    folder = copied("ci")
    written = {"privacy-results/tests.xml", ".dpaudit/evidence.sqlite", "privacy-results"}
    named = {word for line in commands(name) for word in line.split() if "/" in word} - written
    assert {"privacy/*.toml", "privacy/accepted.json"} == named
    assert all(list(folder.glob(word)) for word in named)


def test_our_own_workflow_covers_every_supported_python_the_wheel_and_the_proofs() -> None:
    """The matrix begins at requires-python; each job runs files that are here, and none may fail quietly."""
    held = yaml.safe_load((ROOT / ".github" / "workflows" / "tests.yml").read_text(encoding="utf-8"))
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    versions = held["jobs"]["change"]["strategy"]["matrix"]["python-version"]
    assert versions == ["3.11", "3.12", "3.13", "3.14"]
    assert project["requires-python"] == f">={versions[0]}"
    stated = [line.rsplit(" ", 1)[1] for line in project["classifiers"] if "Python :: 3." in line]
    assert stated == versions
    lines = [step["run"] for job in held["jobs"].values() for step in job["steps"] if "run" in step]
    assert [line for line in lines if "install " not in line] == [
        ".ci/run ${{ github.event_name == 'schedule' && '--all' || '' }}",
        "python .github/check_installation.py wheels/*.whl",
        "docs/proofs/check",
    ]
    for file in (".ci/run", "docs/proofs/check", ".github/check_installation.py"):
        assert (ROOT / file).is_file()
    assert held["jobs"]["proofs"]["container"] == "debian:bookworm"
    for job in held["jobs"].values():
        assert not {"if", "continue-on-error"} & {*job, *(key for step in job["steps"] for key in step)}


@pytest.mark.parametrize("name", ["github.yml", "gitlab.yml"])
def test_workflows_have_what_their_hosts_ask_for(name: str) -> None:
    """Each job has a place to run and steps; what is uploaded is what the commands write; nights wait their turn."""
    text = (CI / name).read_text(encoding="utf-8")
    held = yaml.safe_load(text)
    if name == "github.yml":
        assert set(held) == {"name", True, "permissions", "env", "jobs"}, "YAML 1.1 reads `on` as true"
        assert set(held[True]) == {"push", "pull_request", "schedule"}
        for job in held["jobs"].values():
            assert job["runs-on"]
            assert all(("run" in step) != ("uses" in step) for step in job["steps"])
        assert held["permissions"]["security-events"] == "write"
        assert held["jobs"]["nightly"]["concurrency"]
    else:
        assert {"script", "extends"} <= set(held["privacy"])
        assert held["privacy"]["artifacts"]["reports"]["junit"] == "privacy-results/*.xml"
        assert held["privacy-nightly"]["resource_group"]
    assert "check.sarif" in text or name == "gitlab.yml"


def test_the_reusable_action_checks_what_it_is_given_and_stops_for_a_false_claim(
    copied: Callable[..., Any], shell: Shell
) -> None:
    """`action.yml`: each input reaches the command by a variable of its own, and none is pasted into a line."""
    held = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
    assert {"name", "description", "inputs", "runs"} == set(held)
    install, check = held["runs"]["steps"]
    assert held["runs"]["using"] == "composite"
    assert all(step["shell"] == "bash" and "${{" not in step["run"] for step in (install, check))
    used = {value for step in (install, check) for value in step["env"].values()}
    assert used == {f"${{{{ inputs.{name} }}}}" for name in held["inputs"]}
    assert all(entry["description"] for entry in held["inputs"].values())
    given = {name.upper(): entry["default"] for name, entry in held["inputs"].items()}

    def ended(**changes: str) -> int:
        lines = [f"export {name}={shlex.quote(value)}" for name, value in (given | changes).items()]
        return shell("\n".join([*lines, check["run"]]), folder).returncode

    folder = copied("ci")
    assert ended(BASELINE="privacy/accepted.json", OPTIONS="--proof-only") == 0
    assert (folder / "privacy-results" / "check.sarif").is_file()
    text = (folder / "privacy" / "weekly.toml").read_text(encoding="utf-8")
    (folder / "privacy" / "false.toml").write_text(text.replace("epsilon = 1.0", "epsilon = 0.5"), encoding="utf-8")
    assert ended(OPTIONS="--proof-only") == 1


def test_the_hook_certifies_the_files_it_is_given_and_stops_for_a_false_claim(
    copied: Callable[..., Any], shell: Shell
) -> None:
    """The entry of .pre-commit-hooks.yaml on the example's configurations: 0, and 1 for a false claim."""
    (hook,) = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))
    assert {"id", "name", "entry", "language"} <= set(hook)
    assert "--proof-only" in hook["entry"]
    folder = copied("ci")
    assert re.search(hook["files"], "privacy/weekly.toml")
    assert not re.search(hook["files"], "pyproject.toml")
    assert shell(f"{hook['entry']} privacy/weekly.toml", folder).returncode == 0
    text = (folder / "privacy" / "weekly.toml").read_text(encoding="utf-8")
    (folder / "privacy" / "false.toml").write_text(text.replace("epsilon = 1.0", "epsilon = 0.5"), encoding="utf-8")
    assert shell(f"{hook['entry']} privacy/weekly.toml privacy/false.toml", folder).returncode == 1


def test_a_newcomer_needs_five_commands_and_a_minute(copied: Callable[..., Any], shell: Shell) -> None:
    """First certificate, audit, failing test and report, beside the installation: each command does its own."""
    folder = copied("first_steps")
    text = (folder / "run.sh").read_text(encoding="utf-8")
    lines = [line for line in text.splitlines() if line and not line.startswith(("#", "set"))]
    assert len(lines) == 5
    assert lines[0].startswith("pip install")
    (folder / "run.sh").write_text(text.replace(lines[0], ""), encoding="utf-8")
    started = time.monotonic()
    ended = shell("bash run.sh", folder)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert time.monotonic() - started < 60, "the bar itself: a minute, on any machine that runs these tests"
    for shown in ("CERTIFIED", "violation: epsilon is at least", "VIOLATION  mean_age", "report.html"):
        assert shown in ended.stdout
    assert (folder / "report" / "report.html").is_file()


def test_the_plugin_is_an_entry_point_and_the_core_imports_no_pytest(shell: Shell, tmp_path: Path) -> None:
    """pytest finds the plugin by its name; `dpaudit certify` and `dpaudit check` never import pytest."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert project["entry-points"]["pytest11"] == {"dpaudit": "dpaudit.pytest_plugin"}
    assert not any(held.startswith("pytest") for held in project["dependencies"])
    code = (
        "import sys; from typer.testing import CliRunner; from dpaudit.cli.app import app; "
        f"r = CliRunner().invoke(app, ['check', '{CI / 'privacy' / 'weekly.toml'}']); "
        "print(r.exit_code, 'pytest' in sys.modules)"
    )
    assert shell(f'python -c "{code}"', tmp_path).stdout.split() == ["0", "False"]
    light = (
        "import sys, dpaudit.pytest_plugin; print(sorted({'numpy', 'scipy', 'rich', 'pydantic'} & set(sys.modules)))"
    )
    assert shell(f'python -c "{light}"', tmp_path).stdout.strip() == "[]"
