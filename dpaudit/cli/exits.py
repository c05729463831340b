"""How a command ends: its exit code, and one line on stderr for everything that goes wrong.

0    pass
1    finding: refuted, not proved, or a violation
2    usage or configuration
3    internal error
4    inconclusive
130  interrupted
"""

import os
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
    """What the process tells a script."""

    PASS = 0
    FINDING = 1
    USAGE = 2
    INTERNAL = 3
    INCONCLUSIVE = 4
    INTERRUPTED = 130
    UNREAD = 141


def ending(command: Callable[P, Exit]) -> Callable[P, None]:
    """Return `command` as typer calls it: its result is the exit code, its errors are one line each."""

    @wraps(command)
    def run(*args: P.args, **kwargs: P.kwargs) -> None:
        raise typer.Exit(_outcome(lambda: command(*args, **kwargs)))

    return run


def worst(*codes: Exit) -> Exit:
    """Return the gravest of several outcomes: a finding over an inconclusive one over a pass."""
    order = (Exit.PASS, Exit.INCONCLUSIVE, Exit.FINDING)
    return max(codes, key=order.index, default=Exit.PASS)


def _outcome(command: Callable[[], Exit]) -> Exit:
    """Return the exit code of a command, whatever happens in it."""
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
        if os.environ.get("DPAUDIT_TRACEBACK") == "1":
            raise
        return _say(
            f"Internal error, {type(error).__name__}: {' '.join(str(error).split())} "
            "(set DPAUDIT_TRACEBACK=1 and run again for the traceback)",
            Exit.INTERNAL,
        )


def _say(message: str, code: Exit) -> Exit:
    """Write one message to stderr, unwrapped so that editors can follow `file:line:`."""
    sys.stderr.write(f"{message}\n")
    return code
