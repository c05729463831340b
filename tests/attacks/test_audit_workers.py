"""Where an audit runs changes nothing: one process, two, or a dask cluster."""

import sys
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from audits import audit
from audits.experiment.settings import Settings
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
        audit(noisy, rng=np.random.default_rng(1), how=Settings(jobs=jobs, chunk_runs=500), **ARGUMENTS)
        for jobs in (1, 2)
    )
    how = Settings(scheduler=cluster.scheduler_address, chunk_runs=500)
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
