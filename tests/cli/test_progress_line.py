"""What takes long says on a terminal what is being done, on one line that is gone at the end; pipes see nothing."""

import io
import os
import subprocess
import sys
from pathlib import Path

import pytest

from dpaudit.cli.common.output import doing

WRITTEN = Path(__file__).parents[2] / "examples" / "written.toml"
SLOW = ("calibrate", "certify", "check", "curve", "doctor", "demo", "explain", "report", "verify")
COMMANDS = Path(__file__).parents[2] / "dpaudit" / "cli"


class Terminal(io.StringIO):
    """A stream that says that it is a terminal."""

    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize("stream", [Terminal(), io.StringIO()])
def test_a_line_is_shown_on_a_terminal_and_erased(stream: io.StringIO, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is there while the work lasts, also where the work fails, and nowhere else than on a terminal."""
    monkeypatch.setattr(sys, "stderr", stream)
    shown = "Proving the claim …" if stream.isatty() else ""

    def broken() -> None:
        with doing("Proving the claim"):
            assert stream.getvalue() == shown
            raise ValueError("broken")

    with pytest.raises(ValueError, match="broken"):
        broken()
    assert stream.getvalue().endswith("\r" if shown else "")
    assert "\n" not in stream.getvalue()


@pytest.mark.parametrize("command", SLOW)
def test_every_slow_command_says_what_it_does(command: str) -> None:
    """Each command that proves, checks or writes for seconds uses the line; audits and studies have their bar."""
    text = (COMMANDS / f"{command}.py").read_text(encoding="utf-8")
    assert "with doing(" in text


def test_pipes_see_the_result_alone() -> None:
    """The same result stands on stdout with and without a terminal at stderr; a pipe at stderr stays empty."""
    pty = pytest.importorskip("pty")
    command = [sys.executable, "-m", "dpaudit", "certify", str(WRITTEN)]
    piped = subprocess.run(command, capture_output=True, check=True)
    assert piped.stderr == b""
    mine, its = pty.openpty()
    shown = subprocess.run(command, stdout=subprocess.PIPE, stderr=its, check=True)
    os.close(its)
    said = os.read(mine, 4096)
    os.close(mine)
    assert b"Proving the claim" in said
    assert b"\n" not in said
    assert shown.stdout == piped.stdout
