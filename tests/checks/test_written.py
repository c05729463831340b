"""Files, names of files and commands as channels: data in them never pass, and harmless files raise no remark."""

import os
import subprocess
import sys
import tempfile
import uuid
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from audits import audit
from audits.experiment.unseen import unseen_outputs
from audits.experiment.written import written_files
from dpaudit import Claim

Write = Callable[[Path, Any], object]
"""write(folder, data): what a run writes before it returns an honest noisy answer."""
Maker = Callable[[Path], Callable[..., Any]]


def writing(write: Write, folder: Path) -> Callable[..., Any]:
    """Return a function of one run that writes, and returns its data with noise."""

    def run(data: Any, rng: np.random.Generator) -> Any:
        write(folder, data)
        return data + rng.laplace()

    return run


def appended(folder: Path, data: Any) -> None:
    with (folder / "log").open("a") as file:
        file.write(f"raw {data}\n")


def descriptor(folder: Path, data: Any) -> None:
    number = os.open(folder / "raw", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    os.write(number, str(data).encode())
    os.close(number)


def open_before(folder: Path) -> Callable[..., Any]:
    """Return a function whose file is opened before the first run."""
    file = (folder / "kept").open("w")
    return writing(lambda folder, data: file.write(f"raw {data}\n"), folder)


def commanded(folder: Path, data: Any) -> None:
    subprocess.run([sys.executable, "-c", f"raw = {data}"], check=True, cwd=folder)


def renamed(folder: Path, data: Any) -> None:
    (folder / "a").write_text("done")
    (folder / "a").rename(folder / f"b{data}")


LEAKS: dict[str, tuple[Write, str]] = {
    "text": (lambda folder, data: (folder / "log").write_text(f"raw {data}"), "the file '"),
    "appended": (appended, "the file '"),
    "saved": (lambda folder, data: np.save(folder / "model.npy", np.array([data])), "the file '"),
    "descriptor": (descriptor, "the file '"),
    "named": (lambda folder, data: (folder / f"raw {data}").write_text("done"), "the file '"),
    "varying name": (lambda folder, data: (folder / uuid.uuid4().hex).write_text(str(data)), "new files in '"),
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that is not below the one for temporary files."""
    (tmp_path / "temporary").mkdir()
    (tmp_path / "project").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    return tmp_path / "project"


MAKERS: dict[str, tuple[Maker, str]] = {
    "open before": (open_before, "the file '"),
    **{name: (partial(writing, write), channel) for name, (write, channel) in LEAKS.items()},
}


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning", "ignore::ResourceWarning")
@pytest.mark.parametrize(("make", "channel"), MAKERS.values(), ids=MAKERS)
def test_data_in_a_file_never_pass(make: Maker, channel: str, folder: Path) -> None:
    """The returned value is honest, the data stand in a file: undecided, and the remark names it."""
    claim = Claim(epsilon=2.0, neighbours="replace_one")
    result = audit(make(folder), neighbours=(0.0, 1.0), claim=claim, runs=200, rng=np.random.default_rng(1))
    assert result.verdict == "inconclusive"
    assert any(f"The data show in {channel}{folder}" in remark for remark in result.remarks), result.remarks


COMMANDS: dict[str, tuple[Write, str]] = {
    "a command": (commanded, "commands"),
    "a new name": (renamed, "names of files"),
}


@pytest.mark.parametrize(("write", "channel"), COMMANDS.values(), ids=COMMANDS)
def test_commands_and_names_with_data_are_channels(write: Write, channel: str, folder: Path) -> None:
    """What a run tells another program leaves the process, and a file's new name stays."""
    run = writing(write, folder)
    assert unseen_outputs(lambda d, r, n: [run(d, r)] * n, (0.0, 1.0)) == (channel,)


def counted(folder: Path, data: Any) -> None:
    path = folder / "counter"
    path.write_text(str(int(path.read_text()) + 1 if path.exists() else 0))


def scratch(folder: Path, data: Any) -> None:
    with tempfile.NamedTemporaryFile("w+") as file:
        file.write(str(data))
        file.flush()
    path = folder / "scratch"
    path.write_text(str(data))
    path.unlink()


def left_over(folder: Path, data: Any) -> None:
    number, _ = tempfile.mkstemp()
    os.write(number, str(data).encode())
    os.close(number)


HARMLESS: dict[str, Write] = {
    "counted": counted,
    "same bytes": lambda folder, data: (folder / "done").write_text("done"),
    "scratch": scratch,
    "left over": left_over,
    "once": lambda folder, data: (folder / "cache").exists() or (folder / "cache").write_text("table of constants"),
}


@pytest.mark.parametrize("write", HARMLESS.values(), ids=HARMLESS)
def test_harmless_files_raise_no_remark(write: Write, folder: Path) -> None:
    """Counters, the same bytes for all data, scratch files, and caches that are written once follow no data."""
    run = writing(write, folder)
    assert unseen_outputs(lambda d, r, n: [run(d, s) for s in r.spawn(n)], (0.0, 1.0)) == ()


def test_nothing_is_watched_outside_the_block(folder: Path) -> None:
    """Opening files after a block changes nothing that it found."""
    with written_files() as written:
        (folder / "inside").write_text("1")
    (folder / "outside").write_text("2")
    assert set(written.channels) == {f"the file {str(folder / 'inside')!r}", f"new files in {str(folder)!r}"}
    assert set(written.before) == {str(folder / "inside")}


def test_what_another_process_writes_to_an_open_file_is_no_channel(tmp_path: Path) -> None:
    path = tmp_path / "log"
    told = [sys.executable, "-c", f"open({str(path)!r}, 'a').write('beat')"]
    with path.open("a") as ours:
        with written_files() as written:
            subprocess.run(told, check=True)
        assert path.read_text() == "beat"
        with written_files() as own:
            ours.write("sum 3")
            ours.flush()
    assert set(written.channels) == {"commands"}
    assert own.channels == {f"the file {str(path)!r}": b"sum 3"}


def test_a_standard_stream_under_another_number_is_no_channel(tmp_path: Path) -> None:
    """A worker inherits the stream of the process that started it, which writes there on its own account."""
    program = """if True:
        import os, sys
        from audits.experiment.written import written_files
        number = os.dup(1)
        sys.stdout = None
        if sys.argv[1:] == ["worker"]:
            os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
            with written_files() as written:
                os.write(number, b"dots")
            os.write(2, repr(dict(written.channels)).encode())
        else:
            os.set_inheritable(number, True)
            import subprocess
            subprocess.run([sys.executable, "-c", sys.argv[1], "worker"], close_fds=False, check=True)
    """
    with (tmp_path / "log").open("w") as log:
        done = subprocess.run(
            [sys.executable, "-c", program, program], stdout=log, stderr=subprocess.PIPE, check=True, text=True
        )
    assert done.stderr == "{}"
    assert (tmp_path / "log").read_text() == "dots"
