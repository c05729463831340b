"""The help: its table of commands, -h everywhere, nothing cut at 80 columns, completion, a quick start."""

import inspect
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import pytest
import typer

from dpaudit.cli.app import COMMANDS, Command
from dpaudit.runtime.provenance import distribution_version
from tests.command_line import dpaudit

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "start" / "quick_start.md").read_text(encoding="utf-8")


def command_lines() -> Iterator[tuple[str, ...]]:
    """Yield the words of every command, those of groups included."""
    yield ()
    for entry in COMMANDS:
        yield (entry.name,)
        yield from ((entry.name, name) for name in getattr(entry.load(), "commands", {}))


LINES = list(command_lines())


def started(code: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Return how a process of its own ended that ran `code`."""
    held = {**os.environ, "PYTHONPATH": str(ROOT), **environment}
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, env=held)


ENVIRONMENT = {**os.environ, "PYTHONPATH": str(ROOT)}
MAIN = "import sys; from dpaudit.cli import main; sys.argv = ['dpaudit', *sys.argv[1:]]; main()"


@pytest.mark.parametrize("words", LINES, ids="-".join)
def test_dash_h_is_help_and_nothing_is_cut_at_80_columns(
    words: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both spellings print the same; only metavars of repeated arguments have dots, and no line is longer than 80."""
    monkeypatch.setenv("COLUMNS", "80")
    short, long = dpaudit(*words, "-h"), dpaudit(*words, "--help")
    assert short.exit_code == 0
    assert short.stdout == long.stdout
    lines = short.stdout.splitlines()
    assert [line for line in lines if line.endswith("...") and "Usage:" not in line] == []
    assert max(map(len, lines)) <= 80


def test_the_whole_line_of_every_command_is_in_the_list(monkeypatch: pytest.MonkeyPatch) -> None:
    """Joined again, the wrapped list has the table's words for each command; a line may end at a hyphen."""
    monkeypatch.setenv("COLUMNS", "80")
    text = "".join(dpaudit("-h").stdout.split())
    assert [command.name for command in COMMANDS if command.help.replace(" ", "") not in text] == []


def completed(words: str) -> list[str]:
    """Return what bash is offered after a command line."""
    count = str(len(words.split()) - (not words.endswith(" ")))
    ended = started(MAIN, _DPAUDIT_COMPLETE="complete_bash", COMP_WORDS=words, COMP_CWORD=count)
    return ended.stdout.split()


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        ("dpaudit cal", ["calibrate"]),
        ("dpaudit ledger bo", ["book"]),
        ("dpaudit list ", ["algorithms", "mechanisms", "audits", "problems", "schemas", "schema"]),
        ("dpaudit certify --fo", ["--format"]),
        ("dpaudit certify --format ", ["text", "json", "md"]),
        ("dpaudit --", ["--version", "--help"]),
    ],
)
def test_a_shell_completes_commands_options_and_values(words: str, offered: list[str]) -> None:
    """Commands of groups and values of options too; what installs completion is not among them."""
    assert completed(words) == offered


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_quick_start_has_the_line_of_each_shell_and_it_prints_a_script(shell: str, tmp_path: Path) -> None:
    """The script names the program; where the shell is installed, it accepts the script."""
    assert f"_DPAUDIT_COMPLETE=source_{shell} dpaudit" in PAGE
    ended = started(MAIN, _DPAUDIT_COMPLETE=f"source_{shell}")
    assert ended.returncode == 0
    assert "dpaudit" in ended.stdout
    if shell == "bash" and shutil.which("bash"):
        check = subprocess.run(["bash", "-n"], input=ended.stdout, text=True, capture_output=True, check=False)
        assert (check.returncode, check.stderr) == (0, "")


HELP = f"{MAIN.removesuffix('main()')}\ntry:\n    main()\nexcept SystemExit:\n    pass\nprint(*sys.modules)"


@pytest.mark.parametrize("words", [(), *((entry.name,) for entry in COMMANDS)], ids=" ".join)
def test_the_help_reads_signatures_alone(words: tuple[str, ...]) -> None:
    """Neither numpy nor what a command does is imported, and no other command: each takes longer than the help may."""
    ended = subprocess.run(
        [sys.executable, "-c", HELP, *words, "-h"], capture_output=True, text=True, check=True, env=ENVIRONMENT
    )
    loaded = set(ended.stdout.split())
    assert {"numpy", "scipy", "typst", "rich.console"} & loaded == set()
    assert {f"dpaudit.cli.{entry.module}" for entry in COMMANDS if entry.name not in words} & loaded == set()
    assert words or {"rich", "importlib.metadata"} & loaded == set()
    assert len([name for name in loaded if name.startswith("dpaudit")]) <= 20


def modules_after(code: str) -> set[str]:
    """Return the modules that a fresh process has imported, as the code prints them to stderr."""
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(ended.stderr.split())


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command.name)
def test_the_help_of_the_table_is_the_first_paragraph_of_the_command(command: Command) -> None:
    """The table's line and the docstring (of a group: its help) are the same words."""
    subject = getattr(import_module(f"dpaudit.cli.{command.module}"), command.module)
    stated = subject.info.help if isinstance(subject, typer.Typer) else inspect.getdoc(subject)
    assert command.help == " ".join(str(stated).split("\n\n")[0].split())


def test_every_command_file_stands_in_the_table() -> None:
    """A module of the command line that defines an object of its own name is a command of the table."""
    folder = ROOT / "dpaudit" / "cli"
    names = {path.stem for path in folder.glob("*.py")} - {"__init__", "app"}
    defining = {name for name in names if callable(getattr(import_module(f"dpaudit.cli.{name}"), name, None))}
    assert defining == {command.module for command in COMMANDS}


def test_importing_dpaudit_is_a_small_part_of_importing_numpy() -> None:
    """The root brings no more than 40 modules beside those of a bare interpreter."""
    bare = modules_after("import sys\nprint(*sorted(sys.modules), file=sys.stderr)")
    loaded = modules_after("import sys, dpaudit\nprint(*sorted(sys.modules), file=sys.stderr)")
    assert len(loaded - bare) <= 40


def test_python_dash_m_is_the_command_line() -> None:
    """`python -m dpaudit --version` prints what `dpaudit --version` prints."""
    ended = subprocess.run(
        [sys.executable, "-m", "dpaudit", "--version"], capture_output=True, text=True, check=True
    ).stdout
    assert ended.strip() == distribution_version("dpaudit")


def test_a_command_that_cannot_be_imported_is_an_internal_error_in_one_line() -> None:
    """Without numpy `dpaudit certify` ends with exit code 3 and names the missing module; the help still works."""
    blocked = "import sys\nsys.modules['numpy'] = None\nfrom dpaudit.cli import main\n"
    for arguments, code in ((["certify", "x.toml"], 3), (["--help"], 0)):
        script = f"{blocked}sys.argv = ['dpaudit', *{arguments}]\nmain()"
        ended = subprocess.run([sys.executable, "-c", script], check=False, capture_output=True, text=True)
        assert ended.returncode == code
        assert len(ended.stderr.splitlines()) == (1 if code else 0)
        assert "numpy" in ended.stderr or not code


AUDIT = """
import sys
import numpy as np
from audits import audit
from dpaudit import Claim
import dpaudit.gate.acceptance, dpaudit.gate.running
claim = Claim(epsilon=1.0, neighbours="replace_one")
audit(lambda data, rng: float(data.sum() + {noise}), np.ones(4), claim=claim, runs=100, rng=np.random.default_rng(0))
print(*({{"scipy.optimize", "scipy.stats", "torch"}} & set(sys.modules)))
"""


@pytest.mark.parametrize(
    ("noise", "loaded"), [("rng.laplace()", ""), ("(rng.laplace() > 0)", "scipy.optimize scipy.stats")]
)
def test_a_check_and_an_audit_of_added_noise_load_no_laws_and_no_optimisers(noise: str, loaded: str) -> None:
    """SciPy's laws and optimisers take half a second to load; a draw that is compared needs the place in its law."""
    ended = started(AUDIT.format(noise=noise))
    assert sorted(ended.stdout.split()) == loaded.split(), ended.stderr
