"""The command line: one command a file. Nothing heavy is imported before a command needs it."""

from io import TextIOWrapper


def main() -> None:
    """Run the command line and end the process with its exit code."""
    import sys

    from dpaudit.cli.app import app

    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="replace")
    app(prog_name="dpaudit")
