"""Audits that are killed while they write, and disks that are full: no chunk that was stored is lost."""

import os
import resource
import signal
import sqlite3
import subprocess
import sys
import time
import warnings
from pathlib import Path

import numpy as np
import pytest

from audits.experiment.chunk_store import ChunkStore
from audits.experiment.execution import Observed
from tests.attacks.killing import audited

SCRIPT = Path(__file__).parent / "killing.py"


def chunks(store: Path) -> dict[tuple[str, str, int], str]:
    """Return the checksum of each stored chunk by its place; a write that was cut off is undone by SQLite first."""
    connection = sqlite3.connect(store, timeout=60)
    try:
        rows = connection.execute("SELECT key, phase, place, checksum FROM checked").fetchall()
    except sqlite3.OperationalError:
        rows = []
    finally:
        connection.close()
    return {(key, phase, place): checksum for key, phase, place, checksum in rows}


@pytest.mark.parametrize("kills", [2, pytest.param(12, marks=pytest.mark.slow)])
def test_kills_at_any_moment_lose_no_stored_chunk(tmp_path: Path, kills: int) -> None:
    """Kills by SIGKILL at moments drawn from a seed: every chunk that was there stays as it was.

    Then the audit goes on, and its numbers are those of an audit that was never killed.
    """
    store, rng = tmp_path / "runs.sqlite", np.random.default_rng(5)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    before: dict[tuple[str, str, int], str] = {}
    grown = 0
    for _ in range(kills):
        command = [sys.executable, str(SCRIPT), str(store), "1"]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, env=environment)
        assert process.stdout is not None
        process.stdout.readline()
        waited = time.monotonic() + 10
        while len(chunks(store)) <= len(before) and time.monotonic() < waited:
            time.sleep(0.001)
        time.sleep(float(rng.uniform(0.0, 0.02)))
        process.send_signal(signal.SIGKILL)
        process.wait()
        process.stdout.close()
        after = chunks(store)
        assert before.items() <= after.items()
        grown += len(after) > len(before)
        before = after
    assert grown
    assert audited(ChunkStore(path=store, key="killed"), 1) == audited(None, 1)
    assert before.items() <= chunks(store).items()


def test_a_full_disk_leaves_what_was_there(tmp_path: Path) -> None:
    """The file may not grow: the further chunk is not kept, with one warning, and the first one is whole."""
    store = ChunkStore(path=tmp_path / "runs.sqlite", key="k")
    first = Observed(labels=np.array([True, False]), kept=np.array([1.0, 2.0]))
    store.save("count", 0, first)
    limits, handler = resource.getrlimit(resource.RLIMIT_FSIZE), signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (store.path.stat().st_size, limits[1]))
    try:
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            store.save("count", 1, Observed(labels=np.ones(10**5, dtype=bool), kept=np.ones(10**5)))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        signal.signal(signal.SIGXFSZ, handler)
    assert [str(warning.message).count("was not kept") for warning in said] == [1]
    kept = store.load("count", 0)
    assert kept is not None
    assert kept.kept.tolist() == [1.0, 2.0]
    assert store.load("count", 1) is None


def test_the_seed_of_a_store_is_the_first_that_it_was_given(tmp_path: Path) -> None:
    """A second audit without a seed goes on with it; another key has its own."""
    store = ChunkStore(path=tmp_path / "runs.sqlite", key="a")
    assert [store.seed(5), store.seed(6)] == [5, 5]
    assert ChunkStore(path=tmp_path / "runs.sqlite", key="b").seed(7) == 7
