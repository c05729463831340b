"""The page of a study: it says in a few lines what privacy costs, and follows the document alone."""

import copy
import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from dpaudit.documents.markdown import markdown
from dpaudit.errors import ConfigError
from dpaudit.study import running
from dpaudit.study.summary import HEAD, RATIO, summary_of

TABLES = Path(__file__).resolve().parents[2] / "docs" / "measured" / "studies"
STUDIES = sorted(path.parent.name for path in TABLES.glob("*/study.json"))


def _study(name: str) -> dict[str, Any]:
    """Return the document of a shipped study."""
    return json.loads((TABLES / name / "study.json").read_text(encoding="utf-8"))


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
    assert "(front.svg)" in text


def test_the_page_names_the_best_ceiling_with_its_chosen_settings_and_the_first_epsilon_that_shows_learning() -> None:
    """On the smooth grid: kernel UCB at a width chosen on other seeds, and the printed noise at epsilon .022."""
    text = _text(_study("capri_grid"))
    assert "Of the methods without privacy kernel UCB, tuned loses the least" in text
    assert "(chosen on other seeds: growth = " in text
    floors = {row["label"] for row in _study("capri_grid")["rows"] if row["role"] == "floor"}
    assert floors
    assert all(f"The floor {label} loses " in text for label in floors)
    assert " runs each, of which the first is described." in text
    assert "The smallest certified epsilon at which learning is shown is 0.02165, by joint, printed" in text


def test_the_page_says_what_is_proved_of_whom_and_what_a_ratio_means() -> None:
    """A published bound that says nothing, one that does, one that is unknown; the ratio with its interval."""
    study = _study("capri_grid")
    text = _text(study)
    assert "The proved bound on the regret of joint, tight (Theorem 6.7) is vacuous below log10 T = " in text
    assert RATIO not in text
    told = copy.deepcopy(study)
    longest = max(row["T"] for row in told["rows"])
    for row in told["rows"]:
        if row["label"] == "joint, printed":
            row["upper_bound"] = None
        elif row["upper_bound"]:
            row["upper_bound"]["regret"] = 0.5 * longest
            row["upper_bound"]["most"] = 0.7 * longest
            worst = {"mean": 6.0, "error": 0.1, "lower": 4.0, "upper": 8.0, "count": 3}
            row["lower_bound"] = row["lower_bound"] | {"regret": 2.0, "worst": worst, "ratio": 3.0}
    text = _text(told)
    assert "joint, tight is proved to lose at most 0.5 at certified epsilon" in text
    assert "No proof gives a number for: joint, printed." in text
    assert "3 times the bound (interval 2 to 4)." in text
    assert RATIO in text


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


def test_contenders_of_different_units_are_named_with_the_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    def certified(_: Any, cell: Any, *__: Any) -> Any:
        return SimpleNamespace(unit=f"one {cell.label}")

    monkeypatch.setattr(running, "certified_at", certified)
    study: Any = SimpleNamespace(contender=lambda label: SimpleNamespace(role="private", label=label))
    cells: Any = [SimpleNamespace(key=(label, 1.0, 10), label=label) for label in ("round", "person")]
    how: Any = SimpleNamespace(certify=None, perform=lambda tasks: [task() for task in tasks])
    with pytest.raises(ConfigError, match=r"person protects 'one person'; round protects 'one round'. Let claim\(\)"):
        running._known(study, cells, Path(), how)
