"""Running the command line in this process, and the types of the fixtures that write its files."""

from collections.abc import Callable
from subprocess import CompletedProcess

from typer.testing import CliRunner, Result

from dpaudit.cli.app import app

Write = Callable[..., str]
"""Writes a text to a file of a name and returns the name."""
Shell = Callable[..., CompletedProcess[str]]
"""Runs a line of a shell in a folder."""


def dpaudit(*words: object) -> Result:
    """Return exit code, stdout and stderr of `dpaudit WORDS`; an exception that the command lets through is raised."""
    return CliRunner().invoke(app, [str(word) for word in words], prog_name="dpaudit", catch_exceptions=False)
