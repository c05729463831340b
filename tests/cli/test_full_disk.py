"""An audit whose store cannot grow ends with one line and exit code 2; what it kept stays usable."""

import resource
import signal
import sqlite3
from collections.abc import Generator
from contextlib import closing, contextmanager
from pathlib import Path

from tests.cli.conftest import CODED
from tests.command_line import Write, dpaudit

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
