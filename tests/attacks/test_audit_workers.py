"""Where an audit runs changes nothing: one process, two, a dask cluster, or killed and resumed."""

import importlib
import os
import signal
import sqlite3
import subprocess
import sys
import textwrap
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from audits import audit
from audits.experiment.chunk_store import ChunkStore
from audits.experiment.execution import Execution
from audits.experiment.workers import perform
from dpaudit import AuditResult, Claim, UnsupportedError
from dpaudit.model.audit_result import Counts, LowerBound, Power
from dpaudit.model.mechanism import Array

ONE = Claim(epsilon=1.0, neighbours="replace_one")
ARGUMENTS: dict[str, Any] = {"neighbours": (0.0, 1.0), "claim": ONE, "runs": 4_000}


def noisy(data: Array, rng: np.random.Generator, n_runs: int) -> Array:
    return data + rng.laplace(0.0, 0.5, n_runs)


def numbers(result: AuditResult) -> tuple[Counts, tuple[LowerBound, ...], tuple[tuple[float, float], ...], str, Power]:
    return result.counts, result.bounds, result.roc, result.verdict, result.power


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    distributed = pytest.importorskip("distributed", reason="needs the extra 'dask'")
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=False, host="127.0.0.1", protocol="tcp", dashboard_address=None
    ) as held:
        yield held


@pytest.mark.filterwarnings("ignore")
def test_a_dask_cluster_gives_the_same_bits_as_one_process_and_two(cluster: Any) -> None:
    """All counts, bounds, curves: equal, not close."""
    one, two = (
        audit(noisy, rng=np.random.default_rng(1), how=Execution(jobs=jobs, chunk_runs=500), **ARGUMENTS)
        for jobs in (1, 2)
    )
    how = Execution(scheduler=cluster.scheduler_address, chunk_runs=500)
    far = audit(noisy, rng=np.random.default_rng(1), how=how, **ARGUMENTS)
    assert numbers(one) == numbers(two) == numbers(far)


@pytest.mark.filterwarnings("ignore")
def test_tasks_really_run_on_the_cluster(cluster: Any) -> None:
    """The twin of the test above: what a task sees there is a dask worker, and nobody sees one here."""

    def inside() -> str:
        from distributed import get_worker

        try:
            return get_worker().address
        except ValueError:
            return ""

    assert all(perform([inside, inside], 1, cluster.scheduler_address))
    assert list(perform([inside, inside], 1, None)) == ["", ""]


def test_an_absent_cluster_is_an_error_in_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither a traceback of dask's nor an audit that quietly runs here."""
    pytest.importorskip("distributed", reason="needs the extra 'dask'")
    monkeypatch.setattr("audits.experiment.workers._TIMEOUT", "1s")
    with pytest.raises(UnsupportedError, match="No dask scheduler answers"):
        list(perform([lambda: 1], 1, "tcp://127.0.0.1:1"))


def test_without_dask_the_error_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    """`pip install` is the remedy."""
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(UnsupportedError, match=r"dpaudit\[dask\]"):
        list(perform([lambda: 1], 1, "tcp://127.0.0.1:1"))


FUNCTION = """
    import os, time

    CALLS = []

    def slow(data, rng, n_runs):
        time.sleep(float(os.environ.get("PAUSE", "0")))
        CALLS.append(n_runs)
        return data + rng.laplace(0.0, 0.5, n_runs)
"""
SLOW = """
    import sys
    import numpy as np
    from audits import audit
    from audits.experiment.chunk_store import ChunkStore
    from audits.experiment.execution import Execution
    from dpaudit import Claim
    from slow_function import slow

    audit(slow, neighbours=(0.0, 1.0), claim=Claim(epsilon=1.0, neighbours="replace_one"), runs=4_000,
          rng=np.random.default_rng(3), how=Execution(chunk_runs=100, store=ChunkStore(path=sys.argv[1], key="slow")))
"""


def stored(path: Path) -> int:
    if not path.exists():
        return 0
    with sqlite3.connect(path, timeout=5) as connection:
        try:
            result: int = connection.execute("SELECT count(*) FROM checked").fetchone()[0]
            return result
        except sqlite3.OperationalError:
            return 0


def test_kill_nine_in_the_middle_and_resume_gives_the_same_numbers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A process killed without a chance to clean up: what it stored is used, and every number is the same."""
    path = tmp_path / "runs.sqlite"
    (tmp_path / "slow_function.py").write_text(textwrap.dedent(FUNCTION), encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr("threading.active_count", lambda: 2)  # neither audit looks at state in a copy of the process
    function = importlib.import_module("slow_function")
    places = os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")])
    paused = {**os.environ, "PYTHONPATH": places, "PAUSE": "0.01"}
    process = subprocess.Popen([sys.executable, "-c", textwrap.dedent(SLOW), str(path)], env=paused)
    deadline = time.monotonic() + 60
    while stored(path) < 8 and process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.02)
    process.send_signal(signal.SIGKILL)
    assert process.wait() == -signal.SIGKILL
    kept = stored(path)
    assert 8 <= kept < 34
    how = Execution(chunk_runs=100, store=ChunkStore(path=path, key="slow"))
    resumed = audit(function.slow, rng=np.random.default_rng(3), how=how, **ARGUMENTS)
    resumed_calls = sum(function.CALLS)
    function.CALLS.clear()
    whole = audit(function.slow, rng=np.random.default_rng(3), how=Execution(chunk_runs=100), **ARGUMENTS)
    assert numbers(resumed) == numbers(whole)
    looked_at = 2 * 8
    saved = sum(function.CALLS) - resumed_calls + looked_at
    assert saved - 100 * kept in (-8, 0, 8)  # what another thread logs during a look costs 8 runs: one further look
