"""`check`, `explain`, `calibrate` and `audit` of claims in their own measure, on the command line."""

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from dpaudit.cli.app import app

SUM = """
[declaration]
node = "sequential"

[[declaration.parts]]
node = "release"
label = "sum"
mechanism = {name = "gaussian", stddev = 1.0, l2_sensitivity = 1.0}

[[declaration.parts]]
node = "release"
label = "count"
mechanism = {name = "gaussian", stddev = 1.0, l2_sensitivity = 1.0}
"""


def run(*words: str | Path) -> Any:
    """The result of a command line."""
    return CliRunner().invoke(app, [*map(str, words)])


def written(folder: Path, numbers: str) -> Path:
    """A configuration whose releases have rho 1 and mu sqrt(2) together."""
    file = folder / "claim.toml"
    file.write_text(f'[claim]\n{numbers}\nneighbours = "replace_one"\n{SUM}', encoding="utf-8")
    return file


@pytest.mark.parametrize(
    ("numbers", "code", "rule"),
    [
        ("rho = 1.0", 0, ""),
        ("mu = 1.4143", 0, ""),
        ("renyi = {order = 2, epsilon = 2}", 0, ""),
        ("rho = 0.9", 1, "DPA102"),
        ("rho = 0.4", 1, "DPA101"),
        ("mu = 0.9", 1, "DPA101"),
        ("profile = [{epsilon = 1, delta = 0.2}, {epsilon = 2, delta = 0.01}]", 1, "DPA101"),
        ("rho = 21", 1, "DPA107"),
        ("mu = 6.4", 1, "DPA107"),
    ],
)
def test_check_decides_in_the_measure_of_the_claim(tmp_path: Path, numbers: str, code: int, rule: str) -> None:
    result = run("check", written(tmp_path, numbers), "-o", tmp_path / "out")
    assert result.exit_code == code, result.output
    document = json.loads((tmp_path / "out" / "check.json").read_text(encoding="utf-8"))
    assert [issue["rule"] for issue in document["issues"]] == ([rule] if rule else [])
    assert {path.name for path in (tmp_path / "out").iterdir()} == {
        "check.json",
        "check.sarif",
        "junit.xml",
        "summary.md",
    }


def test_an_acceptance_of_a_claim_in_rho_lapses_with_another_rho(tmp_path: Path) -> None:
    """What was accepted for rho = .9 does not hold for rho = .8."""
    file, baseline = written(tmp_path, "rho = 0.9"), tmp_path / "baseline.json"
    accepting = ("--accept", "--reason", "known", "--expires", _soon())
    assert run("check", file, "--baseline", baseline, *accepting).exit_code == 0
    assert run("check", file, "--baseline", baseline).exit_code == 0
    result = run("check", written(tmp_path, "rho = 0.8"), "--baseline", baseline)
    assert (result.exit_code, "accepted for rho = 0.9, now 0.8" in result.output) == (1, True)


def _soon() -> str:
    """A day within the year for which an acceptance may hold."""
    from datetime import UTC, datetime, timedelta

    return (datetime.now(UTC) + timedelta(days=30)).date().isoformat()


def test_explain_gives_every_node_its_ends_in_the_measure(tmp_path: Path) -> None:
    """Rho of each release is .5, of both together 1; no epsilon is invented."""
    result = run("explain", written(tmp_path, "rho = 1.0"), "--format", "json")
    assert result.exit_code == 0, result.output
    nodes = json.loads(result.output)["nodes"]
    assert [node["ends"]["rho"]["upper"] for node in nodes] == [1.0, 0.5]
    assert all("epsilon" not in node for node in nodes)
    assert "rho = 0.5" in run("explain", written(tmp_path, "rho = 1.0")).output


def test_calibrate_writes_the_noise_that_a_rho_needs(tmp_path: Path) -> None:
    """Two releases of rho 1 / (2 s^2) each make rho = .5 together at s = sqrt(2)."""
    file = written(tmp_path, "rho = 0.5")
    assert run("calibrate", file, "--write").exit_code == 0
    assert "stddev = 1.41422" in file.read_text(encoding="utf-8")
    assert run("certify", file).exit_code == 0


def test_checks_of_claims_in_a_measure_are_compared_over_time(tmp_path: Path) -> None:
    """The claim that changed is told in its own measure; no epsilon is made up."""
    for number, rho in enumerate((1.0, 1.5), start=1):
        file = written(tmp_path, f"rho = {rho}")
        assert run("check", file, "-o", tmp_path / f"out{number}").exit_code == 0
    documents = [tmp_path / f"out{number}" / "check.json" for number in (1, 2)]
    result = run("compare", *documents, documents[1])
    assert result.exit_code == 0, result.output
    assert "rho 1.0" in result.output
    assert "epsilon" not in result.output


@pytest.mark.parametrize(
    ("before", "after", "code", "says"),
    [
        ("rho = 1.0", "rho = 2.0", 1, "claimed rho"),
        ("rho = 2.0", "rho = 1.0", 0, "claimed rho"),
        ("renyi = {order = 2, epsilon = 2}", "renyi = {order = 2, epsilon = 3}", 1, "claimed renyi epsilon at order 2"),
        ("mu = 1.4143", "rho = 1.0", 0, "claimed mu"),
    ],
)
def test_reports_of_claims_in_a_measure_are_compared(
    tmp_path: Path, before: str, after: str, code: int, says: str
) -> None:
    """In one measure more is worse; between two measures no order is known."""
    for name, numbers in (("before", before), ("after", after)):
        assert run("report", written(tmp_path, numbers), "-o", tmp_path / name).exit_code == 0
    result = run("compare", *(tmp_path / name / "report.json" for name in ("before", "after")), "--format", "json")
    assert result.exit_code == code, result.output
    assert says in result.output
