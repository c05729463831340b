"""Where and when an audit runs changes nothing: stored chunks, refutation files, processes and clusters."""

import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from audits import audit, function_case
from audits.experiment.chunk_store import ChunkStore
from audits.experiment.probes import probe
from audits.experiment.settings import Settings
from audits.experiment.workers import perform
from audits.procedures.fixed_size import audit_of_fixed_size
from audits.procedures.witness import Refutation, recheck, refute
from dpaudit import AuditCase, AuditResult, Claim, UnsupportedError
from dpaudit.errors import CertificateError
from dpaudit.model.audit_result import Counts, LowerBound, Power
from dpaudit.model.mechanism import Array

ONE = Claim(epsilon=1.0, neighbours="replace_one")


class KilledError(BaseException):
    pass


def case(
    scale: float = 0.5,
    score: Callable[..., Any] | None = None,
    calls: list[Any] | None = None,
    die_at: int | None = None,
) -> AuditCase:
    def run(data: Array, rng: np.random.Generator, n_runs: int) -> Array:
        if calls is not None:
            calls.append(n_runs)
            if die_at is not None and len(calls) > die_at:
                raise KilledError
        return data + rng.laplace(0.0, scale, n_runs)

    return AuditCase(
        name="laplace", view="o", description="", neighbours=(0.0, 1.0), relation="replace_one", run=run, score=score
    )


def ratio(view: Array) -> Array:
    return np.abs(view) - np.abs(view - 1)


def test_a_killed_audit_goes_on_and_ends_with_the_same_numbers(tmp_path: Path) -> None:
    """KilledError after five chunks and resumed: equal counts and bounds, and only missing chunks run again."""
    arguments: dict[str, Any] = {"runs": 4000}
    chunks = Settings(chunk_runs=400)
    whole = audit(case(score=ratio), claim=ONE, rng=np.random.default_rng(1), how=chunks, **arguments)
    store = ChunkStore(path=tmp_path / "runs.sqlite", key="laplace/1/4000/400")
    probes: list[int] = []
    probe(case(score=ratio, calls=probes), 4000)
    dying = case(score=ratio, calls=[], die_at=len(probes) + 10)
    with pytest.raises(KilledError):
        audit(dying, claim=ONE, rng=np.random.default_rng(1), how=replace(chunks, store=store), **arguments)
    calls: list[int] = []
    resumed = audit(
        case(score=ratio, calls=calls),
        claim=ONE,
        rng=np.random.default_rng(1),
        how=replace(chunks, store=store),
        **arguments,
    )
    assert (resumed.counts, resumed.bounds, resumed.roc) == (whole.counts, whole.bounds, whole.roc)
    looked_at = 2 * 8 + sum(probes)
    assert sum(calls) <= 4000 - 4 * 400 + looked_at
    other = ChunkStore(path=tmp_path / "runs.sqlite", key="another")
    assert other.load("count", 0) is None


@pytest.mark.parametrize("score", [ratio, None])
def test_a_refutation_is_found_again_on_fresh_runs(score: Callable[..., Any] | None) -> None:
    """JSON there and back, then a re-count with another seed: the claim falls again, a true claim does not."""
    result = audit(case(score=score), claim=ONE, runs=3000, rng=np.random.default_rng(7))
    found = Refutation.from_json(refute(case(score=score), result, np.random.default_rng(7)).to_json())
    assert found.event.high > found.event.low
    again = recheck(found, case(score=score), np.random.default_rng(99), taught=np.random.default_rng(list(found.seed)))
    assert again.epsilon > found.against
    assert found.seed == (7,)
    with pytest.raises(CertificateError, match="another event"):
        recheck(found, case(score=score), np.random.default_rng(99), taught=np.random.default_rng(8))


def test_a_repaired_mechanism_passes_the_recheck() -> None:
    """The same event on correct noise shows less than the claim."""
    result = audit(case(score=ratio), claim=ONE, runs=3000, rng=np.random.default_rng(7))
    found = refute(case(score=ratio), result, np.random.default_rng(7))
    repaired = case(scale=1.0, score=ratio)
    try:
        bound = recheck(found, repaired, np.random.default_rng(99), taught=np.random.default_rng(7)).epsilon
    except CertificateError:
        bound = 0.0
    assert bound <= 1.0


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"format": 1}', '{"format": 2, "claim": 3}'])
def test_a_damaged_refutation_is_refused_in_one_message(text: str) -> None:
    """Never a traceback of another kind."""
    with pytest.raises(CertificateError):
        Refutation.from_json(text)


def test_a_consistent_audit_has_nothing_to_hand_on() -> None:
    """Only violations make a refutation."""
    result = audit(case(scale=1.0, score=ratio), claim=ONE, runs=2000, rng=np.random.default_rng(3))
    with pytest.raises(ValueError, match="violation"):
        refute(case(scale=1.0, score=ratio), result, np.random.default_rng(3))


def coarse(data: Array, rng: np.random.Generator, n_runs: int) -> Array:
    return data + np.round(256 * rng.laplace(0.0, 3.0, n_runs)) / 256


def test_bits_show_what_values_hide() -> None:
    """Noise on a grid, added to 0 or to 1/3, can be told apart by its last bits and not by its size, or by a replay."""
    pair = (0.0, 1 / 3)
    values = function_case(coarse, pair, ONE, score=np.asarray)
    assert audit_of_fixed_size(values, ONE, runs=2000, rng=np.random.default_rng(1)).epsilon_lower < 1
    assert audit(values, claim=ONE, runs=2000, rng=np.random.default_rng(1)).verdict == "violation"


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
