"""`dpaudit compare`: many documents, one page; what it says is what the documents say."""

import json
import re
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from dpaudit.cli.app import app
from dpaudit.documents.page import page as page_of
from dpaudit.errors import ConfigError
from dpaudit.figures.over_time import Line, over_time_figure
from dpaudit.history import observations_in, trends_of
from dpaudit.history.text import history_document
from dpaudit.history.trends import summary_of

RUNNER = CliRunner()


def document(day: str, **changes: Any) -> dict[str, Any]:
    """Return the fields of a report that a history reads."""
    proved, attacked = changes.pop("proved", 0.9), changes.pop("attacked", 0.5)
    claim = {"epsilon": 1.0, "delta": 1e-5, "neighbours": "replace_one", "model": "joint", "unit": "a visit"}
    audits = (
        [{"epsilon_lower": attacked, "significance": 0.01, "verdict": "consistent"}] if attacked is not None else []
    )
    certificate = {
        "verdict": changes.pop("certified", "certified"),
        "claim": claim | changes.pop("claim", {}),
        "tight": {"epsilon": {"lower": 0.8, "upper": proved}},
        "findings": changes.pop("findings", []),
        "conditions": [{"status": changes.pop("status", "assumed")}],
    }
    return {
        "schema": "urn:dpaudit:schema:report:4",
        "created": day,
        "system": {"name": changes.pop("name", "visits")},
        "verdict": changes.pop("verdict", "CERTIFIED"),
        "certificate": certificate,
        "audits": audits,
        "ledger": changes.pop("ledger", {}),
    }


@pytest.fixture
def write(tmp_path: Path) -> Callable[[str, Any], None]:
    """Return a function that writes one document below the folder."""

    def written(name: str, data: Any) -> None:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(data if isinstance(data, str) else json.dumps(data))

    return written


def test_documents_are_ordered_by_day_and_changes_are_named(tmp_path: Path, write: Callable[..., None]) -> None:
    """The later document is compared with the one before it, whatever the files are called."""
    write("a/report.json", document("2026-03-02", proved=1.4, verdict="REFUTED", findings=[{}], attacked=None))
    write("b/report.json", document("2026-03-01"))
    (trend,) = trends_of(observations_in((tmp_path,)).observations)
    assert [seen.day for seen in trend.observations] == [date(2026, 3, 1), date(2026, 3, 2)]
    assert [turn.sentence for turn in trend.turns] == [
        "The verdict was CERTIFIED and is REFUTED.",
        "The proved epsilon grew from 0.9 to 1.4.",
        "Differences between code and declaration: 0 before, 1 now.",
        "There were audits before, and there is none now.",
    ]


def test_the_error_of_many_bounds_is_their_sum(tmp_path: Path, write: Callable[..., None]) -> None:
    """Thirty audits at .01 may hold a wrong bound with probability .3; the sentence says so."""
    for number in range(1, 31):
        write(f"{number}.json", document(f"2026-01-{number:02}", attacked=0.01 * number))
    (trend,) = trends_of(observations_in((tmp_path,)).observations)
    assert trend.risk == pytest.approx(0.3)
    assert "0.3, of 2026-01-30" in summary_of(trend)
    assert "is wrong is at most 0.3." in summary_of(trend)
    assert not trend.turns  # a lower bound that moved is no change


def test_a_violated_condition_leaves_nothing_proved(tmp_path: Path, write: Callable[..., None]) -> None:
    """No finite figure stands where a condition fails; an infinite one is read as such."""
    write("1.json", document("2026-01-01", status="violated"))
    write("2.json", document("2026-01-02", proved="inf"))
    first, second = observations_in((tmp_path,)).observations
    assert first.proved is None
    assert second.proved == float("inf")
    said = summary_of(trends_of((first,))[0])
    assert "Proved" not in said
    assert "at most" not in said.split("Where the assumptions")[0]


def test_a_check_gives_one_subject_a_configuration(tmp_path: Path, write: Callable[..., None]) -> None:
    """Open issues are counted by configuration; accepted ones do not count."""
    certificate = document("2026-01-01")["certificate"]
    issues = [{"config": "a.toml"}, {"config": "a.toml", "accepted": {}}, {"config": "b.toml"}]
    rows = [{"path": "a.toml", "audits": [], "certificate": certificate}, {"path": "b.toml", "audits": []}]
    check = {"schema": "urn:dpaudit:schema:check:3", "created": "2026-01-01", "configurations": rows, "issues": issues}
    write("check.json", check)
    seen = {one.subject: one for one in observations_in((tmp_path,)).observations}
    assert {name: one.open_issues for name, one in seen.items()} == {"a.toml": 1, "b.toml": 1}
    assert (seen["a.toml"].verdict, seen["b.toml"].verdict) == ("certified", "unusable")


@pytest.mark.parametrize("broken", ["{", "[" * 700, '{"schema": "urn:dpaudit:schema:report:4"}', '{"a": NaN}'])
def test_a_broken_document_is_named_and_not_dropped(tmp_path: Path, write: Callable[..., None], broken: str) -> None:
    """What cannot be read stands on the page; the rest is shown."""
    write("good.json", document("2026-01-01"))
    write("broken.json", broken)
    observed = observations_in((tmp_path,))
    assert observed.documents == 1
    assert len(observed.unread) == 1
    assert "broken.json" in observed.unread[0]
    assert "broken.json" in page_of(history_document(observed))


def test_other_json_is_passed_over(tmp_path: Path, write: Callable[..., None]) -> None:
    """A package.json is no document of ours and no fault either."""
    write("package.json", {"name": "x"})
    write("list.json", [1])
    assert observations_in((tmp_path,)) == observations_in((tmp_path / ".",))
    assert not observations_in((tmp_path,)).unread
    result = RUNNER.invoke(app, ["compare", str(tmp_path)])
    assert result.exit_code == 2


def test_no_folder_is_one_line() -> None:
    """A missing folder is an error of use."""
    with pytest.raises(ConfigError, match="no such file or folder"):
        observations_in((Path("nowhere"),))


def test_the_command_writes_one_page(tmp_path: Path, write: Callable[..., None]) -> None:
    """Page and text come from the same documents."""
    write("1.json", document("2026-01-01"))
    write("2.json", document("2026-02-01", proved=0.7))
    page = tmp_path / "page.html"
    result = RUNNER.invoke(app, ["compare", str(tmp_path), "--page", str(page)])
    assert result.exit_code == 0, result.output
    assert "The proved epsilon fell from 0.9 to 0.7." in result.output
    text = page.read_text()
    assert text.count("<circle") == 2 * 2  # one for each document, in the drawing of each width
    assert not re.search(r"(?<!xmlns=\")https?:|<script|@import|url\(", text)


def test_the_page_of_two_reports_says_what_changed(tmp_path: Path, write: Callable[..., None]) -> None:
    """A page holds what the command found; a delta too small to print is bounded from above."""
    for name, proved, delta in (("1.json", 0.9, 5e-324), ("2.json", 0.7, 1e-9)):
        data = document("2026-01-01", proved=proved, attacked=None)
        data["certificate"]["conditions"] = []
        data["certificate"]["tight"]["delta"] = {"lower": 0.0, "upper": delta}
        write(name, data)
    page = tmp_path / "page.html"
    result = RUNNER.invoke(app, ["compare", str(tmp_path / "1.json"), str(tmp_path / "2.json"), "--page", str(page)])
    assert result.exit_code == 1, result.output
    for text in (page.read_text(), result.output):
        assert all(told in text for told in ("certified epsilon", "0.9", "0.7", "certified delta", "1e-300")), text


@pytest.mark.parametrize("times", [1, 2, 3])
def test_the_documents_of_one_day_are_drawn(times: int) -> None:
    """A path between equal points is invisible; a line of one day has a width, and the day is written below it."""
    points = tuple((date(2026, 1, 5), value) for value in (1.0, 0.5, 0.75)[:times])
    drawn = over_time_figure("one", "One day", (Line("curve", points),), 1.0, str).inline()
    (path,) = re.findall(r'<path class="curve" d="M([^"]*)"', drawn)[:1]
    places = [float(place.split()[0]) for place in path.split("L")]
    assert len(set(places)) > 1
    (label,) = re.findall(r'x="([^"]*)" y="[^"]*" text-anchor="middle">2026-01-05', drawn)[:1]
    assert float(label) == pytest.approx((places[0] + places[-1]) / 2)


def test_files_are_read_as_folders_are(tmp_path: Path, write: Callable[..., None]) -> None:
    """Three files and more are shown over time; one file alone is an error of use."""
    for month in (1, 2, 3):
        write(f"{month}.json", document(f"2026-0{month}-01", proved=1.0 / month))
    files = [str(tmp_path / f"{month}.json") for month in (3, 1, 2)]
    result = RUNNER.invoke(app, ["compare", *files])
    assert result.exit_code == 0, result.output
    assert "The proved epsilon fell from 0.5 to 0.3334." in " ".join(result.output.split())
    assert RUNNER.invoke(app, ["compare", files[0]]).exit_code == 2


def test_claims_in_other_measures_and_what_is_proved_of_them_are_told_in_words(tmp_path: Path) -> None:
    """From points of Renyi divergences to epsilon and back; a list of Python is no word for a reader."""
    told = {"neighbours": "replace_one", "model": "central", "unit": "a visit"}
    points: Any = {"renyi": [{"order": 2.0, "epsilon": 0.5}, {"order": 4.0, "epsilon": 1.5}]}
    ends = {"renyi": [{"order": row["order"], "lower": 0.0, "upper": row["epsilon"]} for row in points["renyi"]]}
    for day in (1, 2, 3):
        held = document(f"2026-01-0{day}")
        if day != 2:
            held["certificate"] |= {"claim": told | points, "tight": ends}
        (tmp_path / f"{day}.json").write_text(json.dumps(held), encoding="utf-8")
    (trend,) = trends_of(observations_in((tmp_path,)).observations)
    said = " ".join(turn.sentence for turn in trend.turns)
    assert "renyi epsilon 0.5 at order 2.0 and epsilon 1.5 at order 4.0, neighbours" in said
    assert "renyi epsilon at order 4 at most 1.5, and is epsilon at most 0.9." in said
    assert "What was proved was epsilon at most 0.9, and is renyi" in said
    assert not {"[", "{", "nothing"} & {*said, *said.split()}
