"""The installation job of our own pipeline: it passes for our wheel, and fails where it should."""

import os
import runpy
import subprocess
import sys
import sysconfig
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = ROOT / ".github" / "check_installation.py"


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Our wheel, built with what is installed here."""
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(folder), str(ROOT)]
    ended = subprocess.run(command, check=False, capture_output=True, text=True)
    assert ended.returncode == 0, ended.stderr
    return next(folder.glob("*.whl"))


@pytest.fixture
def python(tmp_path: Path, wheel: Path) -> Path:
    """The interpreter of an environment in which the wheel is installed, with the libraries of this environment."""
    folder = tmp_path / "environment"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder)], check=True)
    interpreter = folder / "bin" / "python"
    paths = {"base": str(folder), "platbase": str(folder)}
    (Path(sysconfig.get_path("purelib", vars=paths)) / "libraries.pth").write_text(sysconfig.get_path("purelib") + "\n")
    command = [str(interpreter), "-m", "pip", "install", "-q", "--no-deps", "--no-index", "--force-reinstall", "-I"]
    subprocess.run([*command, str(wheel)], check=True, env=clean())
    return interpreter


def clean() -> dict[str, str]:
    """The environment without paths that would put this repository in front of what is installed."""
    return {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "COVERAGE_PROCESS_START")}


def test_the_job_passes_because_doctor_reports_the_foreign_package(python: Path, wheel: Path, tmp_path: Path) -> None:
    """The script ends with 0: the wheel is as it should be, and doctor failed once the foreign package was there."""
    ended = subprocess.run(
        [str(python), str(SCRIPT), str(wheel)], check=False, capture_output=True, text=True, cwd=tmp_path, env=clean()
    )
    assert ended.returncode == 0, ended.stdout + ended.stderr


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda names: [*names, "tests/test_x.py"], "at the top"),
        (lambda names: [name for name in names if not name.startswith("audits/")], "at the top"),
        (lambda names: [name for name in names if name != "mechanisms/py.typed"], "mechanisms"),
    ],
)
def test_a_wheel_with_more_or_less_than_the_four_packages_fails(
    wheel: Path, tmp_path: Path, change: Callable[..., Any], message: str
) -> None:
    """A fifth folder, a missing package and a missing type marker end the script."""
    check = runpy.run_path(str(SCRIPT))["check_contents"]
    check(wheel)
    broken = tmp_path / "broken.whl"
    with zipfile.ZipFile(broken, "w") as archive:
        for name in change(zipfile.ZipFile(wheel).namelist()):
            archive.writestr(name, "")
    with pytest.raises(SystemExit, match=message):
        check(broken)
