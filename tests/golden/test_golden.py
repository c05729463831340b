"""Derivations as a reader sees them, word for word; see `regenerate.py` for how to change them."""

import json
from pathlib import Path

import pytest

from dpaudit.rules import RULES
from tests.command_line import dpaudit
from tests.golden.regenerate import HERE, explained, goldens


@pytest.mark.parametrize("file", goldens(), ids=lambda file: file.stem)
def test_the_explanation_is_word_for_word_what_was_agreed(file: Path) -> None:
    assert explained(goldens()[file]) == file.read_text(encoding="utf-8")


@pytest.mark.parametrize("name", RULES)
def test_every_rule_explains_itself(name: str) -> None:
    """Formula, source, side-conditions and an example, in all three formats; dashes are as good as underscores."""
    data = json.loads(dpaudit("explain", name, "--format", "json").stdout)
    assert data["source"] == RULES[name].source
    assert data["example"]
    assert RULES[name].source.split(",")[0] in dpaudit("explain", name, "--format", "md").stdout
    assert explained(name.replace("_", "-")) == explained(name)


def test_a_file_called_like_a_rule_is_read_as_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A configuration named `basic` in the working folder is explained, and not the rule."""
    (tmp_path / "basic").write_text("nonsense = 1\n")
    monkeypatch.chdir(tmp_path)
    assert dpaudit("explain", "basic").exit_code == 2


def test_the_derivation_names_a_source_for_each_step() -> None:
    """Five annotated kinds of steps, each with author, year and theorem, its numbers, and whether it holds."""
    config = str(HERE / "nested_rl.json")
    data = json.loads(dpaudit("explain", config, "--format", "json").stdout)
    titles = [step["title"] for step in data["steps"]]
    assert len(titles) == 6
    assert all("(" in step["source"] and "=" in step["here"] for step in data["steps"])
    assert all(step["problems"] == [] for step in data["steps"])
