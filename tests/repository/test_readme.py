"""The README is run: its commands are read out of it, its examples are executed, its promises compared."""

import contextlib
import io
import re
import shlex
import tomllib
from pathlib import Path

import pytest
from typer.core import TyperGroup
from typer.main import get_command

from dpaudit.cli.app import app
from tests.command_line import dpaudit
from tests.narrowing import as_a

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(\w+)\n(.*?)^```", README, flags=re.M | re.S)


def _blocks(language: str) -> list[str]:
    """Return the README's code blocks of one language."""
    return [body for held, body in BLOCKS if held == language]


def _commands() -> list[str]:
    """Return the console blocks that set something up, as the two commands they are."""
    return [body.strip() for body in _blocks("console") if not body.startswith("$")]


def test_two_commands_do_all_the_set_up() -> None:
    """One installs and runs the demonstration, one runs the tests; each is one line and makes its own environment."""
    demo, tests = _commands()
    assert demo == "python3 -m venv .venv && . .venv/bin/activate && pip install -q . && dpaudit demo"
    assert tests == (
        "python3 -m venv .venv && .venv/bin/pip install -q torch==2.13.0 -e '.[dev,opacus]' && .venv/bin/pytest -n auto"
    )


def test_what_the_test_command_installs_is_what_the_project_declares() -> None:
    """The extra `dev` exists and brings the runner and the option that the command uses."""
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    names = {re.match(r"[\w-]+", requirement).group() for requirement in extras["dev"]}
    assert {"pytest", "pytest-xdist", "ruff", "mypy", "pyright", "import-linter", "build", "hatchling"} <= names


def test_ci_runs_the_command_that_the_readme_prints() -> None:
    """.ci/run reads the command out of the README and has none of its own."""
    script = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    assert "/^## Tests/" in script
    assert "pip install" not in script
    section = README[README.index("\n## Tests") :]
    assert re.search(r"```console\n(.*)\n```", section).group(1) == _commands()[1]
    assert (ROOT / ".ci" / "run").stat().st_mode & 0o111


@pytest.mark.parametrize("code", _blocks("python"))
def test_every_python_example_prints_what_its_comments_say(code: str) -> None:
    """`print(x)  # value` prints exactly the value."""
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(code, "README.md", "exec"), {})  # noqa: S102 - the README is ours
    expected = re.findall(r"^print\(.*\)  # (.*)$", code, flags=re.M)
    assert expected
    assert printed.getvalue().splitlines() == expected


def test_every_console_example_runs_on_the_configuration_above_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The lines that start with `$` end with exit code 0, in their order, in one folder."""
    monkeypatch.chdir(tmp_path)
    Path("weekly.toml").write_text(_blocks("toml")[0], encoding="utf-8")
    lines = [line[2:] for body in _blocks("console") for line in body.splitlines() if line.startswith("$")]
    assert len(lines) == 5
    for line in lines:
        program, *arguments = shlex.split(line)
        assert program == "dpaudit"
        ended = dpaudit(*arguments)
        assert ended.exit_code == 0, (line, ended.output)


def test_the_algorithm_example_is_certified(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The second configuration is valid and its claim holds."""
    monkeypatch.chdir(tmp_path)
    Path("capri.toml").write_text(_blocks("toml")[1], encoding="utf-8")
    assert dpaudit("certify", "capri.toml").exit_code == 0


def test_the_table_of_commands_is_the_one_that_the_program_has() -> None:
    """Every command is in the table, and nothing else is."""
    listed = re.findall(r"^\| `dpaudit (\w+)", README, flags=re.M)
    assert listed == list(as_a(TyperGroup, get_command(app)).commands)


def test_links_lead_to_files_that_exist() -> None:
    """Every relative link of the README and of the contributing page."""
    for page in ("README.md", "CONTRIBUTING.md"):
        links = re.findall(r"\]\(([^)#:]+)\)", (ROOT / page).read_text(encoding="utf-8"))
        assert links
        assert all((ROOT / link).exists() for link in links)


def test_the_changelog_and_the_citation_speak_of_this_version() -> None:
    """One version number, in three places."""
    version = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]
    assert re.search(rf"^## {re.escape(version)}\b", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), flags=re.M)
    assert f"version: {version}\n" in (ROOT / "CITATION.cff").read_text(encoding="utf-8")
