"""A folder of results holds the files of one run; what a killed process left is removed by the next one."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from dpaudit.runtime.whole_files import replace_file, replace_files
from tests.command_line import Write, dpaudit
from tests.gate.conftest import WRITTEN

NAMES = ("a.txt", "b.txt", "below/c.txt", "below/d.txt")
WRITING = """
import sys
from pathlib import Path
from dpaudit.runtime.whole_files import replace_files
names = {names!r}
for number in range(10**6):
    replace_files(Path(sys.argv[1]), {{name: f"{{number}} ".encode() * 20_000 for name in names}})
"""


def contents(folder: Path) -> set[str]:
    """Return the numbers of the calls whose files lie in a folder; every file is whole."""
    found = [path.read_text(encoding="utf-8").split() for path in map(folder.joinpath, NAMES) if path.exists()]
    assert all(len(words) == 20_000 for words in found)
    return {word for words in found for word in words}


def hidden(folder: Path) -> list[str]:
    """Return the names of hidden files and folders."""
    return [path.name for path in folder.rglob(".*")]


def killed_while_something_is_hidden(command: list[str], folder: Path) -> bool:
    """Stop a writer until hidden files of it are seen, and kill it there; whether they were seen within a minute."""
    writer, ending = subprocess.Popen(command), time.monotonic() + 60
    seen = False
    while not seen and time.monotonic() < ending:
        time.sleep(0.001)
        writer.send_signal(signal.SIGSTOP)
        time.sleep(0.001)
        seen = bool(hidden(folder))
        if not seen:
            writer.send_signal(signal.SIGCONT)
    writer.send_signal(signal.SIGKILL)
    writer.wait()
    return seen


def test_a_killed_writer_leaves_files_of_one_call(tmp_path: Path) -> None:
    """Fifteen kills at odd moments: never files of two calls; the next call removes what was hidden."""
    (tmp_path / "own.txt").write_text("mine", encoding="utf-8")
    command = [sys.executable, "-c", WRITING.format(names=NAMES), str(tmp_path)]
    for number in range(15):
        writer = subprocess.Popen(command)
        started = time.monotonic()
        while not (tmp_path / "a.txt").exists() and time.monotonic() - started < 60:
            time.sleep(0.002)
        time.sleep(0.003 * number)
        writer.send_signal(signal.SIGKILL)
        writer.wait()
        assert len(contents(tmp_path)) <= 1
    assert killed_while_something_is_hidden(command, tmp_path)  # the twin: a kill does leave something
    replace_files(tmp_path, dict.fromkeys(NAMES, b"last " * 20_000))
    assert (contents(tmp_path), hidden(tmp_path)) == ({"last"}, [])
    assert (tmp_path / "own.txt").read_text(encoding="utf-8") == "mine"


def test_a_failure_leaves_what_was_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A full disk, or a folder with the path of a file: the old files stay, and nothing hidden."""
    replace_files(tmp_path, dict.fromkeys(NAMES, b"old " * 20_000))
    (tmp_path / "z.txt").mkdir()
    with pytest.raises(IsADirectoryError):
        replace_files(tmp_path, dict.fromkeys((*NAMES, "z.txt"), b"new"))

    def full(number: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space"):
        replace_files(tmp_path, dict.fromkeys(NAMES, b"new"))
    assert (contents(tmp_path), hidden(tmp_path)) == ({"old"}, [])


def test_a_file_that_a_killed_process_left_is_removed(tmp_path: Path) -> None:
    """The one of a process that is gone goes; the one of a process that runs stays, and so does a stranger's."""
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    for name in (f".a.txt.{gone.pid}-x1", f".a.txt.{os.getppid()}-x2", ".a.txt.mine"):
        (tmp_path / name).write_bytes(b"")
    replace_file(tmp_path / "a.txt", b"new")
    assert sorted(hidden(tmp_path)) == sorted([f".a.txt.{os.getppid()}-x2", ".a.txt.mine"])


def test_an_earlier_reports_own_files_go_and_others_stay(write: Write) -> None:
    """A PDF and a figure of an earlier report are not those of this one."""
    name = write(WRITTEN)
    Path("out/figures").mkdir(parents=True)
    for file in ("out/report.pdf", "out/figures/old.svg", "out/notes.txt"):
        Path(file).write_text("earlier", encoding="utf-8")
    assert dpaudit("report", name, "-o", "out").exit_code == 0
    assert not Path("out/report.pdf").exists()
    assert not Path("out/figures/old.svg").exists()
    assert Path("out/notes.txt").exists()
    assert hidden(Path("out")) == []
