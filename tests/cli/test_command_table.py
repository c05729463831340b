"""The lazy table of commands: it agrees with the commands, and the help imports none of them."""

import inspect
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest
import typer

import dpaudit
from dpaudit.cli.app import COMMANDS, Command
from dpaudit.runtime.provenance import distribution_version

HELP = (
    "import sys\nfrom dpaudit.cli import main\nsys.argv = ['dpaudit', '--help']\n"
    "try:\n    main()\nexcept SystemExit:\n    pass\n"
    "print(*sorted(sys.modules), file=sys.stderr)"
)


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
    folder = Path(str(dpaudit.__file__)).parent / "cli"
    names = {path.stem for path in folder.glob("*.py")} - {"__init__", "app"}
    defining = {name for name in names if callable(getattr(import_module(f"dpaudit.cli.{name}"), name, None))}
    assert defining == {command.module for command in COMMANDS}


def test_the_help_imports_no_module_of_a_command() -> None:
    """`dpaudit --help` imports the table alone, and at most 60 modules more than typer needs."""
    bare = modules_after("import sys, typer\nprint(*sorted(sys.modules), file=sys.stderr)")
    loaded = modules_after(HELP)
    commands = {f"dpaudit.cli.{command.module}" for command in COMMANDS}
    assert loaded & commands == set()
    assert loaded & {"numpy", "scipy", "rich", "importlib.metadata"} == set()
    assert len(loaded - bare) <= 60


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
