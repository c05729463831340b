"""Every configuration that ships is certified as it stands."""

import tomllib
from importlib.util import find_spec
from pathlib import Path

import pytest
from typer.testing import CliRunner

from dpaudit.cli.app import app

ROOT = Path(__file__).parents[2]
FOLDERS = (ROOT / "examples", ROOT / "dpaudit" / "demo")
CONFIGURATIONS = sorted(
    path
    for folder in FOLDERS
    for path in folder.iterdir()
    if path.suffix in (".toml", ".json") and not path.is_symlink()
)


@pytest.mark.parametrize("path", CONFIGURATIONS, ids=lambda path: path.name)
def test_a_configuration_that_ships_is_certified(path):
    """Exit code 0: no example teaches a claim that does not hold."""
    if path.name.startswith("dp_sgd") and (find_spec("torch") is None or find_spec("opacus") is None):
        pytest.skip("not run: the extra 'opacus' is not installed")
    ended = CliRunner().invoke(app, ["certify", str(path)])
    assert ended.exit_code == 0, ended.output


def test_no_configuration_ships_twice():
    """One source each: no two files set up the same algorithm, model and calibration on the same problem."""
    coded = [tomllib.loads(path.read_text(encoding="utf-8")) for path in CONFIGURATIONS if path.suffix == ".toml"]
    subjects = [
        (held["problem"]["name"], *(held["algorithm"].get(key) for key in ("name", "model", "calibration")))
        for held in coded
        if "algorithm" in held
    ]
    assert len(set(subjects)) == len(subjects)


def test_there_are_examples_of_both_formats():
    """TOML and JSON, with and without code."""
    assert {path.suffix for path in CONFIGURATIONS} == {".toml", ".json"}
    assert len(CONFIGURATIONS) >= 4
