"""The command line: one command a file. Nothing heavy is imported before a command needs it."""

from io import TextIOWrapper


def main() -> None:
    """Run the command line and end the process with its exit code."""
    import os
    import sys

    # The matrices here are small: on two threads linear algebra gains nothing on an idle machine, and waits for them
    # at several times the work on a busy one. OpenBLAS reads this once, when numpy loads; whoever set it keeps theirs.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

    from dpaudit.cli.app import app

    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="replace")
    app(prog_name="dpaudit")
