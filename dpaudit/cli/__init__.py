"""The command line: one command a file; the module of a command is imported when the command is called."""

import os
import sys
from io import TextIOWrapper

from dpaudit.cli.app import app as command_line


def main() -> None:
    """Run the command line and end the process with its exit code."""
    # The matrices here are small: on two threads linear algebra gains nothing on an idle machine, and waits for them
    # at several times the work on a busy one. OpenBLAS reads this once, when numpy loads, which no import above does;
    # a value that the user set stays.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="replace")
    command_line(prog_name="dpaudit")
