"""Small projects on which the gate and the plugin are run, in this process or in one of their own."""

import os
import subprocess
import sys
from collections.abc import Callable
from importlib.metadata import entry_points
from pathlib import Path
from subprocess import CompletedProcess

import pytest

from tests.command_line import Write
from tests.configurations import CLAIM

ROOT = Path(__file__).parents[2]

WRITTEN = f"""\
{CLAIM}
[declaration]
node = "sequential"

[[declaration.parts]]
node = "release"
label = "sums"
mechanism = {{ name = "gaussian", stddev = 8.0, l2_sensitivity = 1.0 }}

[[declaration.parts]]
node = "release"
label = "counts"
mechanism = {{ name = "gaussian", stddev = 20.0, l2_sensitivity = 1.0 }}
"""


@pytest.fixture
def write(write: Write) -> Write:
    """Return a function that writes a file, `release.toml` if it is not named, and returns its name."""
    return lambda text, name="release.toml": write(text, name)


def environment(folder: Path) -> dict[str, str]:
    """Return an environment whose `dpaudit`, `pytest` and `python` are those of this run."""
    programs = folder / "bin"
    programs.mkdir(exist_ok=True)
    starts = {
        "dpaudit": "-c 'from dpaudit.cli import main; main()'",
        "pytest": "-m pytest -p no:cacheprovider",
        "python": "",
    }
    for name, arguments in starts.items():
        script = programs / name
        script.write_text(f'#!/bin/sh\nexec "{sys.executable}" {arguments} "$@"\n', encoding="utf-8")
        script.chmod(0o755)
    installed = any(point.value == "dpaudit.pytest_plugin" for point in entry_points(group="pytest11"))
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST", "GITHUB", "CI_"))}
    return kept | {
        "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": str(ROOT),
        "PYTEST_ADDOPTS": "" if installed else "-p dpaudit.pytest_plugin",
        "OPENBLAS_NUM_THREADS": "1",
    }


@pytest.fixture
def shell(tmp_path: Path) -> Callable[..., CompletedProcess[str]]:
    """Return a function that runs a line of a shell in a folder, with the programs of this run."""
    held = environment(tmp_path)

    def run(line: str, folder: Path, **more: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            ["bash", "-c", line], check=False, capture_output=True, text=True, cwd=folder, env=held | more
        )

    return run
