"""Audits of scores that a configuration names, in everything that a pipeline reads."""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as Xml

import pytest
from jsonschema import Draft202012Validator

from audits.bounds import GaussianTradeOff
from dpaudit import schemas
from dpaudit.history import observations_in
from dpaudit.model.scores_result import ScoresResult
from tests.command_line import dpaudit
from tests.scores.normal_scores import CONFIGURATION, scored


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder with a configuration that names scores."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("GITHUB_STEP_SUMMARY", raising=False)
    (tmp_path / "count.toml").write_text(CONFIGURATION, encoding="utf-8")
    return tmp_path


def checked(folder: Path, result: ScoresResult, *options: str) -> tuple[int, dict[str, Any], Xml.Element]:
    """Return the exit code of a check of these scores, its JSON and its JUnit."""
    (folder / "scores.json").write_text(result.to_json(), encoding="utf-8")
    code = dpaudit("check", "count.toml", "-o", "out", *options).exit_code
    document = json.loads(Path("out/check.json").read_text(encoding="utf-8"))
    Draft202012Validator(schemas.load("check")).validate(document)
    return code, document, Xml.parse("out/junit.xml").getroot()  # noqa: S314 - our own file


@pytest.mark.parametrize(("shift", "code"), [(0.5, 0), (4.0, 1)])
def test_scores_above_the_claim_stop_a_pipeline(folder: Path, shift: float, code: int) -> None:
    """Exit 1, one issue, one failing case of JUnit, a row of the summary; scores within the claim pass."""
    ended, document, junit = checked(folder, scored(shift))
    assert ended == code
    assert [issue["rule"] for issue in document["issues"]] == ["DPA301"] * code
    cases = {case.get("name"): case for case in junit.iter("testcase")}
    assert set(cases) == {"certificate", "scores: scores.json"}
    assert (cases["scores: scores.json"].find("failure") is not None) == bool(code)
    assert cases["certificate"].find("failure") is None
    names = {held.get("name") for held in junit.iter("property")}
    assert "scores: scores.json.epsilon_lower" in names
    text = Path("out/summary.md").read_text(encoding="utf-8")
    assert "800 scores" in text
    assert ("VIOLATION" in text or "scores violation" in text) == bool(code)
    held = document["configurations"][0]["scores"][0]
    assert held["result"]["epsilon_lower"] == scored(shift).epsilon_lower
    if code:
        assert document["issues"][0]["line"] == 2
        assert "sampling is stated" in document["issues"][0]["message"]


def test_a_refuted_trade_off_beside_the_claim_is_no_issue_of_the_claim(folder: Path) -> None:
    """Nobody compared that trade-off with the declaration: the check passes, and the verdict is named."""
    result = scored(0.9, declared=GaussianTradeOff(mu=0.01))
    assert result.verdict == "violation"
    code, document, junit = checked(folder, result)
    assert (code, document["issues"]) == (0, [])
    assert not list(junit.iter("failure"))


def test_an_acceptance_lapses_when_scores_show_more(folder: Path) -> None:
    """Accepted once, open again with a larger bound or fewer scores."""
    assert checked(folder, scored(3.0))[0] == 1
    last = str(datetime.now(UTC).date() + timedelta(days=30))
    accept = ("--baseline", "b.json", "--accept", "--reason", "known", "--expires", last)
    assert checked(folder, scored(3.0), *accept)[0] == 0
    assert checked(folder, scored(3.0), "--baseline", "b.json")[0] == 0
    assert checked(folder, scored(4.5), "--baseline", "b.json")[0] == 1


def test_history_reads_scores_of_reports_and_checks(folder: Path) -> None:
    """The bound of the scores is what was attacked, with its significance."""
    result = scored(0.9)
    checked(folder, result)
    assert dpaudit("report", "count.toml", "-o", "report").exit_code == 0
    seen = observations_in((folder,)).observations
    assert len(seen) == 2
    for one in seen:
        assert (one.attacked, one.error, one.audits) == (result.epsilon_lower, 0.01, 1)


@pytest.mark.parametrize(("shift", "group"), [(0.0, "warnedTests"), (0.9, "passedTests"), (4.0, "failedTests")])
def test_scores_are_tests_of_the_statement_and_marks_of_the_axis(folder: Path, shift: float, group: str) -> None:
    """The in-toto test result lists them by verdict, the privacy report has their bound; the axis draws them."""
    result = scored(shift)
    (folder / "scores.json").write_text(result.to_json(), encoding="utf-8")
    dpaudit("report", "count.toml", "-o", "report")
    statements = {
        path.name: json.loads(path.read_text(encoding="utf-8"))["predicate"]
        for path in Path("report").rglob("*.json")
        if "predicateType" in path.read_text(encoding="utf-8")
    }
    (tests,) = (held for held in statements.values() if "passedTests" in held)
    (privacy,) = (held for held in statements.values() if "audits" in held)
    assert "scores: scores.json" in tests[group]
    assert tests["result"] == ("FAILED" if shift == 4 else "WARNED")
    assert privacy["scores"][0]["epsilon_lower"] == result.epsilon_lower
    axis = Path("report/figures/epsilons.svg").read_text(encoding="utf-8")
    assert "scores of scores.json" in axis
    assert "nobody attacked the code" not in axis
    page = Path("report/report.html").read_text(encoding="utf-8")
    assert "scores of scores.json" in page
