"""Exit codes: what a result and an error mean to a script, with one line on stderr for each error.

0    pass
1    finding: refuted, not proved, or a violation
2    usage or configuration
3    internal error
4    inconclusive
130  interrupted
"""

import os
import signal
import sys
from collections.abc import Callable
from enum import IntEnum
from functools import wraps
from typing import ParamSpec

import typer

from dpaudit.errors import DPAuditError
from dpaudit.runtime.package_guard import require_packages

P = ParamSpec("P")


class Exit(IntEnum):
    """The exit codes of the process."""

    PASS = 0
    FINDING = 1
    USAGE = 2
    INTERNAL = 3
    INCONCLUSIVE = 4
    INTERRUPTED = 130
    UNREAD = 141


def ending(command: Callable[P, Exit]) -> Callable[P, None]:
    """Return `command` in the form that typer calls: the result becomes the exit code, an error becomes one line."""

    @wraps(command)
    def run(*args: P.args, **kwargs: P.kwargs) -> None:
        raise typer.Exit(_outcome(lambda: command(*args, **kwargs)))

    return run


def _outcome(command: Callable[[], Exit]) -> Exit:
    """Return the exit code of a command, also if it raises."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        require_packages()
        code = command()
        sys.stdout.flush()
        return code
    except DPAuditError as error:
        return _say(str(error), Exit(error.exit_code))
    except KeyboardInterrupt:
        return _say("Interrupted.", Exit.INTERRUPTED)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return Exit.UNREAD
    except Exception as error:
        return internal_error(error)


def internal_error(error: Exception) -> Exit:
    """Write one line on an error that is a defect of dpaudit or of its installation, and return its exit code.

    Raises: the error itself, where DPAUDIT_TRACEBACK=1 asks for the traceback.
    """
    if os.environ.get("DPAUDIT_TRACEBACK") == "1":
        raise error
    return _say(
        f"Internal error, {type(error).__name__}: {' '.join(str(error).split())} "
        "(set DPAUDIT_TRACEBACK=1 and run again for the traceback)",
        Exit.INTERNAL,
    )


def _say(message: str, code: Exit) -> Exit:
    """Write one message to stderr, unwrapped so that editors can follow `file:line:`."""
    sys.stderr.write(f"{message}\n")
    return code
