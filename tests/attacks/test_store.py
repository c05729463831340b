"""Stored chunks: damaged and foreign ones are never used, and no kill or full disk loses one that was stored."""

import os
import resource
import shutil
import signal
import sqlite3
import subprocess
import sys
import threading
import time
import warnings
from pathlib import Path

import numpy as np
import pytest

from audits import audit
from audits.experiment.chunk_store import ChunkStore, StoreWarning
from audits.experiment.execution import Observed
from audits.experiment.settings import Settings
from dpaudit import AuditResult, Claim
from dpaudit.model.case import Run
from tests.attacks.killing import audited as audited_until_killed

ONE = Claim(epsilon=1.0, neighbours="replace_one")


def laplace(scale: float) -> Run:
    """Return a function that adds noise of a scale."""

    def noisy(data: float, rng: np.random.Generator, n_runs: int) -> object:
        return data + rng.laplace(0.0, scale, n_runs)

    return noisy


def audited(store: ChunkStore | None, scale: float = 1.0, runs: int = 600, seed: int = 0) -> AuditResult:
    return audit(
        laplace(scale),
        neighbours=(1.0, 2.0),
        claim=ONE,
        runs=runs,
        rng=np.random.default_rng(seed),
        how=Settings(control_runs=0, store=store, chunk_runs=100),
    )


def numbers(result: AuditResult) -> object:
    return result.verdict, result.bounds, result.counts, result.roc


def test_two_hundred_damaged_copies_give_no_other_number(tmp_path: Path) -> None:
    """Ten bytes of each copy are flipped: every chunk is what was stored, or missing; many are told."""
    path, rng = tmp_path / "whole.sqlite", np.random.default_rng(1)
    store = ChunkStore(path=path, key="laplace")
    whole = [Observed(labels=rng.random(50) < 0.5, kept=rng.random(50)) for _ in range(6)]
    for index, chunk in enumerate(whole):
        store.save("count", index, chunk)
    raw, missing, told = path.read_bytes(), 0, 0
    for number in range(200):
        copy, damaged = tmp_path / f"{number}.sqlite", bytearray(raw)
        for place in rng.integers(len(raw), size=10):
            damaged[place] ^= int(rng.integers(1, 256))
        copy.write_bytes(bytes(damaged))
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            for index, chunk in enumerate(whole):
                found = ChunkStore(path=copy, key="laplace").load("count", index)
                missing += found is None
                same = found is None or (
                    np.array_equal(found.labels, chunk.labels) and (found.kept == chunk.kept).all()
                )
                assert same
        told += any(issubclass(warning.category, StoreWarning) for warning in said)
        copy.unlink()
    assert missing > 50
    assert told > 50


def test_an_altered_chunk_is_missing_and_the_twin_without_a_checksum_would_use_it(tmp_path: Path) -> None:
    """A chunk under another phase or index is not the chunk that was stored."""
    store = ChunkStore(path=tmp_path / "s.sqlite", key="k")
    store.save("count", 0, Observed(labels=np.array([True]), kept=np.array([1.0])))
    with store._connected() as connection:
        connection.execute("UPDATE checked SET place = 1")
    assert store.load("count", 0) is None
    with pytest.warns(StoreWarning, match="damaged"):
        assert store.load("count", 1) is None


def test_a_store_does_not_serve_other_code_seeds_or_budgets(tmp_path: Path) -> None:
    """Scale 1.0 is stored: scale 0.3, another seed and another budget give what they give without a store."""
    store = ChunkStore(path=tmp_path / "s.sqlite", key="laplace")
    audited(store)
    for change in ({"scale": 0.3}, {"seed": 1}, {"runs": 900}, {"runs": 300}):
        scale, seed, runs = change.get("scale", 1.0), int(change.get("seed", 0)), int(change.get("runs", 600))
        other = numbers(audited(store, scale=scale, seed=seed, runs=runs))
        assert other == numbers(audited(None, scale=scale, seed=seed, runs=runs))
    assert audited(store, scale=0.3).verdict == "violation"


def test_an_anytime_audit_of_other_code_or_another_budget_gives_the_numbers_of_a_fresh_one(tmp_path: Path) -> None:
    """500 runs are stored; 200 and 800 runs, and less noise, give on the same store what they give without one."""
    store = ChunkStore(path=tmp_path / "s.sqlite", key="laplace")

    def never(state: object) -> bool:
        return False

    def sequential(runs: int, scale: float, kept: ChunkStore | None) -> object:
        rng = np.random.default_rng(2)
        how = Settings(control_runs=0, store=kept)
        pair = (1.0, 2.0)
        return numbers(audit(laplace(scale), neighbours=pair, claim=ONE, runs=runs, rng=rng, stop=never, how=how))

    for runs, scale in ((500, 1.0), (200, 1.0), (800, 1.0), (500, 0.3)):
        assert sequential(runs, scale, store) == sequential(runs, scale, None)


def test_two_audits_on_one_store_lose_nothing(tmp_path: Path) -> None:
    """Two threads write one file at once; each audit then finds all its chunks."""
    store = ChunkStore(path=tmp_path / "s.sqlite", key="laplace")
    threads = [threading.Thread(target=audited, args=(store,), kwargs={"seed": seed}) for seed in (1, 2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    with store._connected() as connection:
        assert connection.execute("SELECT count(*) FROM checked").fetchone()[0] == 2 * 6
    assert numbers(audited(store, seed=1)) == numbers(audited(None, seed=1))


def test_a_store_that_cannot_be_written_changes_no_number(tmp_path: Path) -> None:
    """A full or unwritable disk: one warning a chunk, the same result, and what was there stays."""
    folder = tmp_path / "folder.sqlite"
    folder.mkdir()
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        result = audited(ChunkStore(path=folder, key="laplace"))
    assert any("was not kept" in str(warning.message) for warning in said)
    assert numbers(result) == numbers(audited(None))
    shutil.rmtree(folder)


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
    assert audited_until_killed(ChunkStore(path=store, key="killed"), 1) == audited_until_killed(None, 1)
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
