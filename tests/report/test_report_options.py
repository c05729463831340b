"""`dpaudit report` with a deployment, a ledger and an earlier report: read before anything runs, refused in words."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from dpaudit.cli.app import app
from tests.configurations import CLAIM

FULL = Path(__file__).with_name("deployment.toml")
CONFIG = f"""\
[system]
name = "weekly sums"

{CLAIM}
[declaration]
node = "release"
label = "sums"
mechanism = {{ name = "gaussian", stddev = 30.0, l2_sensitivity = 1.0 }}
"""


@pytest.fixture
def dpaudit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Result]:
    """Return a function that runs a command in a folder that holds a configuration."""
    monkeypatch.chdir(tmp_path)
    Path("config.toml").write_text(CONFIG, encoding="utf-8")
    return lambda *arguments: CliRunner().invoke(app, arguments, catch_exceptions=False)


def values(folder: str, number: str) -> dict[Any, Any]:
    """Return the fields of one section of a written report."""
    data = json.loads(Path(folder, "report.json").read_text(encoding="utf-8"))
    section = next(one for one in data["sections"] if one["number"] == number)
    return {held["name"]: held["value"] for held in section["fields"]}


def test_a_budget_and_an_earlier_report_are_shown(dpaudit: Callable[..., Result]) -> None:
    """The booking of this very certificate is found, and nothing has changed since the report before."""
    assert dpaudit("report", "config.toml", "-o", "first").exit_code == 0
    dpaudit("certify", "config.toml", "--format", "json", "-o", "certificate.json")
    account = ("--account", "week")
    dpaudit("ledger", "open", "budget.db", *account, "--epsilon", "1", "--delta", "1e-4", "--unit", "one customer")
    dpaudit("ledger", "book", "budget.db", "certificate.json", *account, "--label", "week 1")
    more = ("--ledger", "budget.db", *account, "--previous", "first/report.json", "--deployment", str(FULL))
    ended = dpaudit("report", "config.toml", "-o", "second", *more)
    assert ended.exit_code == 0
    assert values("second", "10")["This certificate"] == "entry 2"
    assert values("second", "11")["Privacy officer"] == "C. Officer"
    assert "Nothing of what is compared has changed" in Path("second/report.md").read_text(encoding="utf-8")
    assert "second/registry.yaml" in ended.stdout.splitlines()


@pytest.mark.parametrize(
    ("version", "code"),
    [("2", 0), ("3", 0), ("4", 0), ("5", 0), ("6", 0), ("7", 0), ("8", 0), ("10", 0), ("1", 2), ("11", 2)],
)
def test_reports_of_older_schemas_are_compared_with_and_unknown_ones_refused(
    dpaudit: Callable[..., Result], version: str, code: int
) -> None:
    """A report of version 3 has no `theorems` in its rows; what is compared stands in all of them."""
    assert dpaudit("report", "config.toml", "-o", "first").exit_code == 0
    path = Path("first/report.json")
    data = json.loads(path.read_text(encoding="utf-8"))
    data["schema"] = f"urn:dpaudit:schema:report:{version}"
    for row in data["derivation"] if version < "4" else ():
        del row["theorems"]
    path.write_text(json.dumps(data), encoding="utf-8")
    ended = dpaudit("report", "config.toml", "-o", "second", "--previous", str(path))
    assert (ended.exit_code, "not a report of this version" in ended.stderr) == (code, code == 2)


def test_a_deployment_may_stand_in_the_configuration(dpaudit: Callable[..., Result]) -> None:
    """The tables are the same, one level deeper; a typo is found in its line."""
    Path("config.toml").write_text(f'{CONFIG}\n[deployment.scope]\npurpose = "sums"\n', encoding="utf-8")
    assert dpaudit("report", "config.toml", "-o", "out").exit_code == 0
    assert values("out", "1")["Purpose"] == "sums"
    Path("config.toml").write_text(f'{CONFIG}\n[deployment.scope]\npurpos = "sums"\n', encoding="utf-8")
    ended = dpaudit("report", "config.toml", "-o", "other")
    assert (ended.exit_code, Path("other").exists()) == (2, False)
    assert ended.stderr.startswith(f"config.toml:{CONFIG.count(chr(10)) + 3}: [deployment] unknown key 'scope.purpos'")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--ledger", "budget.db"), "--ledger and --account together"),
        (("--ledger", "none.db", "--account", "week"), "there is no ledger"),
        (("--deployment", "none.toml"), "no such file"),
        (("--previous", "config.toml"), "not JSON"),
        (("--previous", "other.json"), "not a report of this version"),
    ],
)
def test_what_cannot_be_shown_is_refused_before_anything_is_written(
    dpaudit: Callable[..., Result], options: tuple[str, ...], message: str
) -> None:
    """One line on stderr, exit code 2, no folder."""
    Path("other.json").write_text("{}", encoding="utf-8")
    ended = dpaudit("report", "config.toml", "-o", "out", *options)
    assert (ended.exit_code, ended.stdout, ended.stderr.count("\n")) == (2, "", 1)
    assert message in ended.stderr
    assert not Path("out").exists()
