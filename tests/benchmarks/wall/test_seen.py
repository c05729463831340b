"""The table of what the objects of libraries show: the page has the lines of the libraries that are installed here."""

import re
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import pytest

from benchmarks.wall.rows import LISTS
from benchmarks.wall.seen import line_of
from dpaudit.errors import UnsupportedError

PAGE = (Path(__file__).parents[3] / "docs" / "how_to" / "audit_a_library.md").read_text(encoding="utf-8")
HERE = ("dp-accounting", "opacus")


def without_version(line: str) -> str:
    """Return a line of the table without the version of its library."""
    return re.sub(r"^(\| [\w-]+) [\d.]+ \|", r"\1 |", line)


@pytest.mark.filterwarnings("ignore:Optimal order is the largest alpha")
@pytest.mark.parametrize("library", HERE)
def test_the_page_has_the_line_of_an_installed_library(library: str) -> None:
    """Another line, as after a change of an adapter, would not be on the page."""
    try:
        version(library)
    except PackageNotFoundError:
        pytest.skip("the library is not installed")
    lines = {without_version(line) for line in PAGE.splitlines()}
    line = without_version(line_of(library))
    assert line in lines
    assert line.replace(" of ", " or ") not in lines


def test_the_page_has_a_line_for_every_library_with_an_adapter() -> None:
    """Two lists of the wall have no adapter: a function of theirs is run at its claim."""
    rows = {match.group(1) for match in re.finditer(r"^\| ([\w-]+) [\d.]+ \| \d+ of \d+", PAGE, re.MULTILINE)}
    assert rows == set(LISTS) - {"synthcity", "mostlyai-engine"}


def test_a_library_that_is_not_installed_says_so() -> None:
    with pytest.raises(UnsupportedError, match="not installed"):
        line_of("synthcity")
