"""The page on adding an audit: its skeleton breaks the broken histogram and spares the repaired one."""

import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import audits
from audits import Settings, audit, when_refuted
from dpaudit import Claim

ROOT = Path(audits.__file__).parents[1]
PAGE = (ROOT / "docs" / "how_to" / "add_an_audit.md").read_text(encoding="utf-8")
CLAIM = Claim(epsilon=1.0, neighbours="replace_one")


def skeleton(scale: float) -> dict[str, Any]:
    """The page's module, with this scale of noise."""
    source = next(text for text in re.findall(r"```python\n(.*?)```", PAGE, flags=re.DOTALL) if ">>>" not in text)
    held: dict[str, Any] = {"__name__": "histogram_audit"}
    exec(compile(source.replace("SCALE = 1.0", f"SCALE = {scale}"), "add_an_audit.md", "exec"), held)  # noqa: S102
    return held


@pytest.mark.parametrize(("scale", "verdict"), [(1.0, "violation"), (2.0, "not_refuted")])
def test_the_skeleton_tells_the_broken_histogram_from_the_repaired_one(scale: float, verdict: str) -> None:
    """With half the noise the bound comes near 2, and the claim of 1 falls; with all of it nothing is found."""
    found = skeleton(scale)["main"](np.random.default_rng(5))
    assert found.verdict == verdict
    assert found.epsilon_lower > 1.6 or scale == 2.0


def test_the_learner_of_the_page_finds_it_too() -> None:
    """An attack that only knows means refutes the claim as well."""
    held = skeleton(1.0)
    blind = replace(held["CASE"], score=None)
    found = audit(
        blind, claim=CLAIM, runs=20_000, rng=np.random.default_rng(5), how=Settings(learner=held["mean_difference"])
    )
    assert found.verdict == "violation"


def test_the_skeleton_passes_strict_type_checks(tmp_path: Path) -> None:
    """mypy --strict has nothing to say; a function without its types is found."""
    source = next(text for text in re.findall(r"```python\n(.*?)```", PAGE, flags=re.DOTALL) if ">>>" not in text)
    untyped = source.replace(" -> Callable[[np.ndarray], np.ndarray]:", ":")
    assert untyped != source
    for name, text in (("typed", source), ("untyped", untyped)):
        (tmp_path / f"{name}.py").write_text(text, encoding="utf-8")
    files = [f"{tmp_path / name}.py" for name in ("typed", "untyped")]
    command = [sys.executable, "-m", "mypy", "--strict", "--cache-dir", str(ROOT / ".mypy_cache"), *files]
    ended = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert ended.returncode == 1, ended.stderr
    *errors, summary = ended.stdout.splitlines()
    assert "in 1 file (checked 2 source files)" in summary
    assert all("untyped.py:" in error for error in errors), ended.stdout


def test_the_same_case_stops_early() -> None:
    """The sequential audit needs a few hundred runs at the most."""
    found = audit(skeleton(1.0)["CASE"], claim=CLAIM, runs=5_000, rng=np.random.default_rng(5), stop=when_refuted)
    assert found.verdict == "violation"
    assert found.runs < 1_000
