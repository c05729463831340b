"""Tables of a configuration: what their keys take, what is told of one that does not fit, and the report's own word."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import pytest

from dpaudit.configuration.config import config_of, read_config
from dpaudit.configuration.tables import parameters_of, read_section
from dpaudit.errors import ConfigError, Fault

HERE = Path("/somewhere")


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    number: float
    kind: Literal["small", "large"] = "small"
    times: int | None = None
    weights: tuple[float, ...] = ()
    file: Path | None = None


def test_a_whole_number_is_a_number_and_a_list_a_tuple() -> None:
    """TOML's 1 fits a float, and its lists arrive immutable."""
    held = read_section(Sample, {"number": 1, "weights": [1, 0.5]}, HERE)
    assert (held.number, held.weights) == (1, (1, 0.5))


def test_a_path_is_read_beside_the_configuration() -> None:
    """Relative files belong to the configuration's folder, absolute ones stay."""
    assert read_section(Sample, {"number": 1, "file": "data.csv"}, HERE).file == HERE / "data.csv"
    assert read_section(Sample, {"number": 1, "file": "/data.csv"}, HERE).file == Path("/data.csv")


@pytest.mark.parametrize(
    ("table", "key", "message"),
    [
        ({"number": "1"}, "number", "Expected number='1' to be a number."),
        ({"number": True}, "number", "Expected number=True to be a number."),
        ({"number": 1, "kind": "medium"}, "kind", "Expected kind='medium' to be one of: small, large."),
        ({"number": 1, "times": 1.0}, "times", "Expected times=1.0 to be a whole number; write 1."),
        ({"number": 1, "weights": "x"}, "weights", "Expected weights='x' to be a list."),
        ({"number": 1, "tims": 1}, "tims", "unknown key 'tims'; did you mean 'times'?"),
        ({"number": 1, "zzzz": 1}, "zzzz", "unknown key 'zzzz'; known: number, kind, times, weights, file."),
        ({}, "number", "missing key 'number', which is a number."),
        ({"times": "x", "number": "y"}, "times", "Expected times='x' to be a whole number."),
    ],
)
def test_the_first_key_that_does_not_fit_is_told(table: dict[str, Any], key: str, message: str) -> None:
    """In the order of the file, whatever the order of the parameters."""
    with pytest.raises(Fault) as caught:
        read_section(Sample, table, HERE)
    assert (caught.value.where, str(caught.value)) == ((key,), message)


def test_a_function_is_configured_by_its_keywords() -> None:
    """A problem's factory needs no class: its signature is the schema, defaults included."""

    def factory(*, rows: int, name: str = "x") -> tuple[int, str]:
        return rows, name

    assert {name: entry.required for name, entry in parameters_of(factory).items()} == {"rows": True, "name": False}
    assert read_section(factory, {"rows": 3}, HERE) == (3, "x")


def test_what_the_target_itself_refuses_is_told_on_the_key_it_names() -> None:
    """A ValueError that starts with "Expected rows=" belongs to the key `rows`."""

    def factory(*, rows: int) -> int:
        raise ValueError(f"Expected rows={rows} to be even.")

    with pytest.raises(Fault) as caught:
        read_section(factory, {"rows": 3}, HERE)
    assert (caught.value.where, str(caught.value)) == (("rows",), "Expected rows=3 to be even.")


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
