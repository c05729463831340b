"""Exit codes: what a result and an error mean to a script, with one line on stderr for each error.

0    pass
1    finding: refuted, not proved, or a violation
2    usage or configuration
3    internal error
4    inconclusive, or stated: the claim follows only from what somebody else states
130  interrupted
"""

import os
import signal
import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager
from enum import IntEnum
from functools import wraps
from typing import Any, NoReturn

import typer

from dpaudit.cli.common.options import grouped
from dpaudit.errors import DPAuditError
from dpaudit.runtime.package_guard import require_packages
from dpaudit.wording.escaping import one_line


class Exit(IntEnum):
    """The exit codes of the process."""

    PASS = 0
    FINDING = 1
    USAGE = 2
    INTERNAL = 3
    INCONCLUSIVE = 4
    INTERRUPTED = 130
    UNREAD = 141


_EXIT = sys.exit  # as it is before any audited code is imported


def ending(command: Callable[..., Exit]) -> Callable[..., None]:
    """Return `command` in the form that typer calls: the result becomes the exit code, an error becomes one line.

    Options that the command takes as one object are single options of the command line.
    """
    called = grouped(command)

    @wraps(called)
    def run(**given: Any) -> None:
        raise typer.Exit(_outcome(lambda: called(**given)))

    return run


def _outcome(command: Callable[[], Exit]) -> Exit:
    """Return the exit code of a command, also if it raises or if the code that it runs ends the process."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    stdout = sys.stdout
    try:
        require_packages()
        with returning_exits():
            code = command()
        stdout.flush()
        if sys.stdout is stdout:
            return code
        sys.stdout = stdout
        return _say("The code that was run replaced sys.stdout; the result was not written.", Exit.USAGE)
    except DPAuditError as error:
        return _say(str(error), Exit(error.exit_code))
    except KeyboardInterrupt:
        return _say("Interrupted.", Exit.INTERRUPTED)
    except SystemExit as error:
        return _say(f"The code that was run ended the process (exit {error.code!r:.40}); no result.", Exit.USAGE)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return Exit.UNREAD
    except Exception as error:
        return internal_error(error)
    except BaseException as error:  # a signal of the user's own making, which is no Exception
        return _say(f"The code that was run raised {type(error).__name__}: {error}", Exit.USAGE)


@contextmanager
def returning_exits() -> Generator[None, None, None]:
    """Turn `os._exit` of this process into SystemExit, so that no audited code ends it without a word.

    A forked child, which ends by `os._exit`, keeps it. `sys.exit`, by which the exit code is handed on, is put back if
    the code replaced it.
    """
    process, original = os.getpid(), os._exit

    def ended(status: int) -> NoReturn:
        if os.getpid() == process:
            raise SystemExit(status)
        original(status)

    os._exit = ended
    try:
        yield
    finally:
        os._exit, sys.exit = original, _EXIT


def internal_error(error: Exception) -> Exit:
    """Write one line on a defect of dpaudit, of its installation or of a plug-in, and return its exit code.

    Raises: the error itself, where DPAUDIT_TRACEBACK=1 asks for the traceback.
    """
    if os.environ.get("DPAUDIT_TRACEBACK") == "1":
        raise error
    from dpaudit.runtime.plugins import plug_in_fault

    if fault := plug_in_fault(error):
        return _say(fault, Exit.USAGE)
    return _say(
        f"Internal error, {type(error).__name__}: {' '.join(str(error).split())} "
        "(set DPAUDIT_TRACEBACK=1 and run again for the traceback)",
        Exit.INTERNAL,
    )


def _say(message: str, code: Exit) -> Exit:
    """Write one message to stderr, unwrapped so that editors can follow `file:line:`."""
    sys.stderr.write(f"{one_line(message)}\n")
    return code
