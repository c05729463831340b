"""Files around an audit: witnesses that are checked again, stores that resume, clusters that must answer."""

import json
from pathlib import Path
from typing import Any

import pytest

from dpaudit.configuration import config as configuration
from tests.cli.conftest import CODED
from tests.command_line import Write, dpaudit


@pytest.fixture
def broken() -> str:
    """Return a configuration of an algorithm that samples a third of the noise that it declares."""
    return CODED.replace("one_sum", "third_of_the_noise")


def test_a_violation_leaves_a_witness_that_verify_confirms_on_fresh_runs(
    write: Write, broken: str, fakes: None
) -> None:
    """One file a violation, without data; counted again with two other seeds it is a finding."""
    broken = broken.replace("runs = 2000", "runs = 8000")
    found = dpaudit("audit", write(broken), "--witness", "witnesses", "--format", "json")
    assert found.exit_code == 1
    files = sorted(Path("witnesses").glob("*.witness.json"))
    assert len(files) == len(json.loads(found.stdout)) == 2
    held = json.loads(files[0].read_text())
    assert set(held) == {"address", "configuration", "witness"}
    assert held["configuration"]["text"] == broken
    for seed in ("5", "6"):
        again = dpaudit("verify", str(files[0]), "--seed", seed, "--format", "json")
        assert again.exit_code == 1
        told = json.loads(again.stdout)
        assert told["stands"]
        assert told["epsilon_lower"] > told["against"]
    assert "falls again" in dpaudit("verify", str(files[0]), "--seed", "5").stdout
    assert "seed" in dpaudit("verify", str(files[0])).stderr


def test_repaired_code_does_not_confirm_an_old_witness(
    write: Write, broken: str, fakes: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same witness, the noise repaired: no finding. Its attack is fixed, so nothing is chosen anew to save it."""
    dpaudit("audit", write(broken), "--witness", "witnesses")
    file = sorted(Path("witnesses").glob("*.witness.json"))[0]
    kind = vars(configuration)["find_plugin"]("algorithms", "third_of_the_noise")
    monkeypatch.setattr(kind, "sampled", kind.mechanism)
    ended = dpaudit("verify", str(file), "--seed", "5")
    assert ended.exit_code in (2, 4)


def test_honest_code_leaves_no_witness(write: Write, fakes: None) -> None:
    """And no empty folder either."""
    assert dpaudit("audit", write(CODED), "--witness", "witnesses").exit_code == 0
    assert not Path("witnesses").exists()


@pytest.mark.parametrize("change", [{"witness": 3}, {"witness": {}, "configuration": {}}, {"witness": {}, "x": 1}])
def test_a_damaged_witness_is_refused_in_one_line(write: Write, change: dict[str, int | dict[Any, Any]]) -> None:
    """Exit code 2 and no traceback."""
    ended = dpaudit("verify", write(json.dumps(change), "bad.json"))
    assert ended.exit_code == 2
    assert len(ended.stderr.strip().splitlines()) == 2  # the seed, the fault


def test_a_store_resumes_and_changes_no_number(write: Write, fakes: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """The second audit runs nothing that is counted, no control, and prints the same; another seed finds nothing."""
    config, calls = write(CODED), list[int]()
    plain = dpaudit("audit", config, "--format", "json")
    first = dpaudit("audit", config, "--store", "runs.sqlite", "--format", "json")
    from audits.experiment import trials

    real = trials.Chunk.__call__

    def counted(self: trials.Chunk) -> Any:
        calls.append(self.n_runs)
        return real(self)

    monkeypatch.setattr(trials.Chunk, "__call__", counted)
    second = dpaudit("audit", config, "--store", "runs.sqlite", "--format", "json")
    assert calls == []

    def bare(text: str) -> list[dict[Any, Any]]:
        return [{k: v for k, v in result.items() if k != "seconds"} for result in json.loads(text)]

    assert bare(plain.stdout) == bare(first.stdout) == bare(second.stdout)
    dpaudit("audit", config, "--store", "runs.sqlite", "--seed", "2")
    controls = 1_000 + 1_000
    assert sum(calls) == 2 * (2_000 + controls)


def test_an_audit_without_a_seed_goes_on_with_the_seed_of_the_store(write: Write, fakes: None) -> None:
    """Two audits on one store have one seed, and a third of another configuration its own; without a store, two."""
    config = write(CODED.replace("seed = 1\n", ""))
    stored = ("--store", "runs.sqlite", "--format", "json")
    first, second = (dpaudit("audit", config, *stored) for _ in range(2))
    assert json.loads(first.stdout)[0]["seed"] == json.loads(second.stdout)[0]["seed"]
    assert "from the store" in second.stderr
    other = dpaudit("audit", write(CODED.replace("seed = 1\n", "").replace("2000", "1000"), "o.toml"), *stored)
    assert json.loads(other.stdout)[0]["seed"] != json.loads(first.stdout)[0]["seed"]
    seeds = {json.loads(dpaudit("audit", config, "--format", "json").stdout)[0]["seed"] for _ in range(2)}
    assert len(seeds) == 2


@pytest.mark.parametrize(("arguments", "word"), [(("--store", "nowhere/runs.sqlite"), "cannot keep")])
def test_options_that_do_not_fit_are_usage_errors(
    write: Write, fakes: None, arguments: tuple[str, str], word: str
) -> None:
    """Exit code 2, before anything is run."""
    ended = dpaudit("audit", write(CODED), *arguments)
    assert ended.exit_code == 2
    assert word in ended.stderr


def test_a_dask_cluster_prints_what_one_process_prints(write: Write, fakes: None) -> None:
    """`--scheduler ...` on a cluster of this machine."""
    distributed = pytest.importorskip("distributed", reason="needs the extra 'dask'")
    config = write(CODED)
    here = dpaudit("audit", config, "--format", "md")
    with distributed.LocalCluster(
        n_workers=1, processes=False, host="127.0.0.1", protocol="tcp", dashboard_address=None
    ) as cluster:
        there = dpaudit("audit", config, "--scheduler", cluster.scheduler_address, "--format", "md")
    assert there.exit_code == here.exit_code == 0

    def timeless(text: str) -> list[Any]:
        return [line for line in text.splitlines() if "second" not in line]

    assert timeless(there.stdout) == timeless(here.stdout)
