"""The section [report] of a configuration: the word for a proved claim, and no other key."""

from pathlib import Path

import pytest

from dpaudit.configuration.config import config_of, read_config
from dpaudit.errors import ConfigError

WRITTEN = Path(__file__).parents[2] / "examples" / "written.toml"


def test_the_word_is_certified_unless_the_file_says_otherwise() -> None:
    """Without the section the word is *certified*; with it, what it says."""
    text = WRITTEN.read_text(encoding="utf-8")
    assert read_config(WRITTEN).report.word == "certified"
    assert config_of(WRITTEN, f'{text}\n[report]\nword = "proved"\n').report.word == "proved"


@pytest.mark.parametrize("line", ['word = "approved"', 'wrod = "proved"', "word = 1"])
def test_another_word_or_key_is_refused_with_its_line(line: str) -> None:
    """A word that a report cannot print, or a misspelt key, names file and line."""
    text = WRITTEN.read_text(encoding="utf-8")
    with pytest.raises(ConfigError, match=r"written\.toml:\d+: "):
        config_of(WRITTEN, f"{text}\n[report]\n{line}\n")
