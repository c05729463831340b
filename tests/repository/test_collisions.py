"""A project with a folder called like one of our packages gets one clear message, never an AttributeError."""

import subprocess
import sys
from importlib.metadata import entry_points
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
MARKED = """
import pytest


@pytest.mark.dp(epsilon=1.0, neighbours="replace_one")
def test_noise(dp):
    dp.check_function(lambda data, rng, n: data + rng.laplace(size=n), (0.0, 1.0))
"""
IMPORTED = """
from audits import audit


def test_nothing():
    pass
"""
USES = {"the fixture": MARKED, "an import": IMPORTED}


def _run(folder: Path, *command: str) -> subprocess.CompletedProcess[str]:
    """Run Python in a project that comes first on the path."""
    environment = {"PYTHONPATH": f"{folder}:{ROOT}", "COLUMNS": "300"}
    return subprocess.run(
        [sys.executable, *command], check=False, capture_output=True, text=True, cwd=folder, env=environment
    )


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """Make a project with a package `audits` of its own."""
    (tmp_path / "audits").mkdir()
    (tmp_path / "audits" / "__init__.py").write_text("", encoding="utf-8")
    return tmp_path


@pytest.mark.parametrize("use", USES)
def test_pytest_names_the_folder_that_is_in_the_way(project: Path, use: str) -> None:
    """On the first use of the fixture, and beside the error of an import: package, expected and actual place."""
    (project / "test_privacy.py").write_text(USES[use], encoding="utf-8")
    installed = any(point.value == "dpaudit.pytest_plugin" for point in entry_points(group="pytest11"))
    plugin = () if installed else ("-p", "dpaudit.pytest_plugin")
    ended = _run(project, "-m", "pytest", "-q", "-p", "no:cacheprovider", *plugin)
    assert ended.returncode != 0
    assert f"Expected the package 'audits' in {ROOT / 'audits'}" in ended.stdout
    assert str(project / "audits") in ended.stdout
    assert "AttributeError" not in ended.stdout


def test_a_plug_in_search_names_the_folder_that_is_in_the_way(project: Path) -> None:
    """From Python too: looking for an algorithm in a foreign package is a configuration error."""
    (project / "audits").rename(project / "algorithms")
    ended = _run(project, "-c", "from dpaudit.runtime.plugins import find_plugin; find_plugin('algorithms', 'capri')")
    assert "ConfigError: Expected the package 'algorithms' in" in ended.stderr
    assert "AttributeError" not in ended.stderr


def test_a_folder_without_an_init_file_is_not_in_the_way(project: Path) -> None:
    """Python prefers a package to a folder of loose files, so nothing is refused."""
    (project / "audits" / "__init__.py").unlink()
    ended = _run(project, "-c", "from dpaudit.runtime.package_guard import require_packages as r; r()")
    assert ended.returncode == 0, ended.stderr
