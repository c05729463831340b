"""Every configuration that ships is certified as it stands, but for targets that say in their name to be as printed."""

import tomllib
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.command_line import dpaudit

ROOT = Path(__file__).parents[2]
FOLDERS = (ROOT / "examples", ROOT / "dpaudit" / "demo")
CONFIGURATIONS = sorted(
    path
    for folder in FOLDERS
    for path in folder.iterdir()
    if path.suffix in (".toml", ".json") and not path.is_symlink()
)
_CHOICES = ("delta", "name", "model", "calibration", "variant", "noise")
KNOWN_BAD = {"lplr_paper.toml"}
"""Printed algorithms that are not private; their first line says so."""
STATED = {"mixed.json"}
"""Examples with a part that somebody else states."""


@pytest.mark.parametrize("path", CONFIGURATIONS, ids=lambda path: path.name)
def test_a_configuration_that_ships_is_certified(path: Path) -> None:
    """Exit code 0: no example teaches a claim that does not hold, unless it is there to be refuted or is stated."""
    if path.name.startswith("dp_sgd") and (find_spec("torch") is None or find_spec("opacus") is None):
        pytest.skip("not run: the extra 'opacus' is not installed")
    ended = dpaudit("certify", str(path))
    assert ended.exit_code == (1 if path.name in KNOWN_BAD else 4 if path.name in STATED else 0), ended.output
    if path.name in KNOWN_BAD:
        assert "known-bad" in path.read_text(encoding="utf-8").splitlines()[0]


def test_no_configuration_ships_twice() -> None:
    """One source each: no two files make the same choices for the same algorithm on the same problem."""
    coded = [tomllib.loads(path.read_text(encoding="utf-8")) for path in CONFIGURATIONS if path.suffix == ".toml"]
    subjects = [
        (held["problem"]["name"], *(held["algorithm"].get(key) for key in _CHOICES))
        for held in coded
        if "algorithm" in held
    ]
    assert len(set(subjects)) == len(subjects)


def test_there_are_examples_of_both_formats() -> None:
    """TOML and JSON, with and without code."""
    assert {path.suffix for path in CONFIGURATIONS} == {".toml", ".json"}
    assert len(CONFIGURATIONS) >= 4
