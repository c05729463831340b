"""The page of a study: it says in a few lines what privacy costs, and follows the document alone."""

import copy
import json
from pathlib import Path
from typing import Any

import pytest

from dpaudit.documents.markdown import markdown
from dpaudit.study.summary import HEAD, summary_of

TABLES = Path(__file__).resolve().parents[2] / "docs" / "measured" / "studies"
STUDIES = sorted(path.parent.name for path in TABLES.glob("*/study.json"))


def _study(name: str) -> dict[str, Any]:
    """Return the document of a shipped study."""
    found: dict[str, Any] = json.loads((TABLES / name / "study.json").read_text(encoding="utf-8"))
    return found


def _text(study: dict[str, Any]) -> str:
    """Return the page as Markdown."""
    return markdown(summary_of(study))


def _lines(text: str) -> list[str]:
    """Return the lines of the table without its head."""
    return [line for line in text.splitlines() if line.startswith("|")][2:]


@pytest.mark.parametrize("name", STUDIES)
def test_the_page_has_every_point_of_the_longest_horizon_once(name: str) -> None:
    """One line for each private row with a place on the axis, of the columns of the head; the figure stands below."""
    study = _study(name)
    longest = max(row["T"] for row in study["rows"])
    points = [row for row in study["rows"] if row["T"] == longest and row["role"] == "private" and not row["remark"]]
    text = _text(study)
    lines = _lines(text)
    assert len(lines) == len(points)
    assert all(line.count(" | ") == len(HEAD) - 1 for line in lines)
    assert sum(" | shown | " in line for line in lines) == sum(row["visible"] == "yes" for row in points)
    assert "Users are simulated" in text
    assert "(front.png)" in text


def test_the_page_names_the_best_ceiling_with_its_chosen_settings_and_the_first_epsilon_that_shows_learning() -> None:
    """On the smooth grid: kernel UCB at a width chosen on other seeds, and the printed noise at epsilon .022."""
    text = _text(_study("capri_grid"))
    assert "Of the methods without privacy kernel UCB, tuned loses the least" in text
    assert "(chosen on other seeds: growth = " in text
    assert "The smallest certified epsilon at which learning is shown is 0.02165, by joint, printed" in text


def test_a_page_of_a_study_that_shows_nothing_says_so() -> None:
    """No visible row: no smallest epsilon; no row at all: the errors are elsewhere; a refuted row has its reason."""
    study = _study("capri_grid")
    hidden = copy.deepcopy(study)
    for row in hidden["rows"]:
        row["visible"] = None if row["visible"] is None else "no"
    assert "Learning is shown at no certified epsilon of this study" in _text(hidden)
    refuted = copy.deepcopy(study)
    for row in refuted["rows"]:
        if row["label"] == "joint, printed":
            row["remark"] = "no certificate: the claim is refuted"
    text = _text(refuted)
    assert len(_lines(text)) < len(_lines(_text(study)))
    assert "joint, printed (claim 1): no certificate: the claim is refuted" in text
    assert "No cell has a result" in _text(study | {"rows": []})
