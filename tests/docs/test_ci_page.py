"""The page on pipelines says what is so: its commands run, and its tables are those of the program."""

import os
import re
import shlex
import shutil
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from importlib.metadata import entry_points
from pathlib import Path

import pytest

from dpaudit.cli.common.exits import Exit
from dpaudit.pytest_plugin.fixture import PrivacyChecks
from dpaudit.pytest_plugin.settings import PROFILES
from tests.command_line import dpaudit

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "how_to" / "check_in_a_pipeline.md").read_text(encoding="utf-8")


def test_the_commands_of_the_page_run_in_their_order(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In the example project with a false claim: 1, then accepted with 0, then 0."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("GITHUB_STEP_SUMMARY", raising=False)
    shutil.copytree(ROOT / "examples" / "ci" / "privacy", "privacy")
    path = Path("privacy/weekly.toml")
    path.write_text(path.read_text("utf-8").replace("epsilon = 1.0", "epsilon = 0.5"), "utf-8")
    soon = str(datetime.now(UTC).date() + timedelta(days=90))
    codes = []
    for line in re.findall(r"^\$ (.*)$", PAGE, flags=re.M):
        words = shlex.split(re.sub(r"\d{4}-\d{2}-\d{2}", soon, line).replace("privacy/*.toml", str(path)))
        assert words[0] == "dpaudit"
        codes.append(dpaudit(*words[1:]).exit_code)
    assert codes == [1, 0, 0]


def test_the_test_of_the_page_passes_and_its_twin_fails(tmp_path: Path) -> None:
    """The block is a whole file: it passes as it stands, and with half the noise it does not."""
    blocks = re.findall(r"^```python\n(.*?)^```", PAGE, flags=re.M | re.S)
    (block,) = (held for held in blocks if "import pytest" in held)
    (tmp_path / "pytest.ini").write_text("[pytest]\n", encoding="utf-8")
    (tmp_path / "test_good.py").write_text(block, encoding="utf-8")
    (tmp_path / "test_half.py").write_text(block.replace("scale=25.0", "scale=12.5"), encoding="utf-8")
    installed = any(point.value == "dpaudit.pytest_plugin" for point in entry_points(group="pytest11"))
    plugin = [] if installed else ["-p", "dpaudit.pytest_plugin"]
    ended = subprocess.run(
        [sys.executable, "-m", "pytest", "-v", *plugin, "-p", "no:cacheprovider"],
        check=False,
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT), "PYTEST_ADDOPTS": ""},
    )
    found = dict(re.findall(r"^test_(\w+)\.py::\w+ (\w+)", ended.stdout, flags=re.M))
    assert found == {"good": "PASSED", "half": "FAILED"}, ended.stdout + ended.stderr


def test_the_tables_of_the_page_are_complete() -> None:
    """Every exit code, profile and method is on the page; the rules are held by a test of the gate."""
    for code in (Exit.PASS, Exit.FINDING, Exit.USAGE, Exit.INTERNAL, Exit.INCONCLUSIVE):
        assert re.search(rf"^\| {code.value} \|", PAGE, flags=re.M)
    for name, runs in PROFILES.items():
        assert f"`{name}` {runs:,}" in PAGE
    methods = {name for name in vars(PrivacyChecks) if name == "certify" or name.startswith("check_")}
    assert set(re.findall(r"^\| `dp\.(\w+)\(", PAGE, flags=re.M)) == methods
