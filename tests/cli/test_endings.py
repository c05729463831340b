"""How a command ends when something goes wrong: one line on stderr, the right exit code, never a traceback."""

import os
import resource
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Generator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest

from dpaudit.errors import EngineDisagreementError
from tests.cli.conftest import CODED, WRITTEN
from tests.command_line import Write, dpaudit

MAIN = "from dpaudit.cli import main; main()"


def _raising(error: ZeroDivisionError | EngineDisagreementError | KeyboardInterrupt) -> Callable[..., None]:
    def certify(*_: Any, **__: Any) -> None:
        raise error

    return certify


def test_an_unexpected_exception_is_one_line_and_exit_code_3(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    """The line names the exception and how to see the traceback."""
    monkeypatch.setattr("dpaudit.workflow.certify", _raising(ZeroDivisionError("one\ntwo")))
    ended = dpaudit("certify", write(WRITTEN))
    assert ended.exit_code == 3
    assert ended.stdout == ""
    assert ended.stderr == (
        "Internal error, ZeroDivisionError: one two (set DPAUDIT_TRACEBACK=1 and run again for the traceback)\n"
    )


def test_the_traceback_is_there_for_who_asks(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    """With DPAUDIT_TRACEBACK=1 the exception is raised as it is."""
    monkeypatch.setattr("dpaudit.workflow.certify", _raising(ZeroDivisionError("one")))
    monkeypatch.setenv("DPAUDIT_TRACEBACK", "1")
    with pytest.raises(ZeroDivisionError):
        dpaudit("certify", write(WRITTEN))


def test_a_contradiction_of_our_own_is_exit_code_3(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    """An InternalError is not blamed on the configuration."""
    from dpaudit.errors import EngineDisagreementError

    monkeypatch.setattr("dpaudit.workflow.certify", _raising(EngineDisagreementError("A says 1, B says 2.")))
    ended = dpaudit("certify", write(WRITTEN))
    assert (ended.exit_code, ended.stderr) == (3, "A says 1, B says 2.\n")


def test_an_interrupt_is_one_line_and_exit_code_130(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C ends a command quietly."""
    monkeypatch.setattr("dpaudit.workflow.certify", _raising(KeyboardInterrupt()))
    ended = dpaudit("certify", write(WRITTEN))
    assert (ended.exit_code, ended.stdout, ended.stderr) == (130, "", "Interrupted.\n")


@pytest.mark.parametrize(
    "arguments", [["certify"], ["certfy", "x"], ["certify", "x", "--format", "xml"], ["report", "x"]]
)
def test_wrong_usage_is_exit_code_2_with_nothing_on_stdout(arguments: list[str]) -> None:
    """A missing argument, an unknown command, an unknown format, a missing option."""
    ended = dpaudit(*arguments)
    assert (ended.exit_code, ended.stdout) == (2, "")
    assert "Usage: dpaudit" in ended.stderr


def test_a_reader_that_leaves_early_causes_no_traceback(write: Write) -> None:
    """`dpaudit explain ... | true` ends without a word, with the code of a broken pipe."""
    command = [sys.executable, "-c", MAIN, "certify", write(WRITTEN)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    process.stdout.close()
    stderr = process.stderr.read()
    process.stderr.close()
    assert process.wait(60) == 141
    assert stderr == b""


def test_a_terminal_without_unicode_gets_what_it_can_show(write: Write) -> None:
    """Bars and exponents that an ASCII stream cannot hold are replaced; the result is there and the code is 0."""
    command = [sys.executable, "-c", MAIN, "certify", write(WRITTEN)]
    environment = {**os.environ, "PYTHONIOENCODING": "ascii"}
    ended = subprocess.run(command, check=False, capture_output=True, env=environment)
    assert (ended.returncode, ended.stderr) == (0, b"")
    assert b"CERTIFIED" in ended.stdout


@pytest.mark.parametrize(("given", "seen"), [(None, "1"), ("3", "3")])
def test_linear_algebra_runs_on_one_thread_unless_somebody_asked_for_more(given: str | None, seen: str) -> None:
    """The command line sets it before numpy loads, and leaves alone what the environment says."""
    code = (
        "import atexit, os, sys\n"
        "from dpaudit.cli import main\n"
        "assert 'numpy' not in sys.modules\n"
        "atexit.register(lambda: print(os.environ['OPENBLAS_NUM_THREADS']))\n"
        "sys.argv = ['dpaudit', '--version']\n"
        "main()\n"
    )
    kept = {name: held for name, held in os.environ.items() if name != "OPENBLAS_NUM_THREADS"}
    environment = kept | ({"OPENBLAS_NUM_THREADS": given} if given else {})
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment)
    assert ended.stdout.split()[-1] == seen


STORE = "runs.sqlite"


@contextmanager
def full_disk(size: int) -> Generator[None, None, None]:
    """Let no file of this process grow beyond `size` bytes, as on a full disk."""
    limits, handler = resource.getrlimit(resource.RLIMIT_FSIZE), signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, limits[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        signal.signal(signal.SIGXFSZ, handler)


def test_a_store_on_a_full_disk_ends_the_audit_with_one_line(write: Write, fakes: None) -> None:
    """With and without a seed of the file; with room again the audit goes on, and its store has chunks."""
    for text in (CODED, CODED.replace("seed = 1\n", "")):
        name = write(text.replace("runs = 2000", "runs = 200000"))
        with full_disk(16_384):
            ended = dpaudit("audit", name, "--store", STORE)
        assert ended.exit_code == 2, ended.output
        assert ended.stdout == ""
        said = [line for line in ended.stderr.splitlines() if not line.startswith("seed ")]
        assert len(said) == 1, ended.stderr
        assert "Free the disk or name another file" in said[0]
    assert dpaudit("audit", write(CODED), "--store", STORE).exit_code == 0
    with closing(sqlite3.connect(Path(STORE))) as connection:
        assert connection.execute("SELECT count(*) FROM checked").fetchone()[0] > 0
