"""The page on Opacus loops is one script that runs, and its two loops get the verdicts that it states."""

import re
import warnings
from pathlib import Path
from typing import Any

import pytest

PAGE = Path(__file__).parents[2] / "docs" / "how_to" / "opacus_loop.md"


def test_the_page_runs_from_the_claim_to_the_report(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """All blocks in order, in an empty folder: right loop consistent, leak named, report written."""
    pytest.importorskip("opacus")
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"^```python\n(.*?)^```", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    script = tmp_path / "script.py"
    script.write_text("\n".join(blocks), encoding="utf-8")
    names: dict[str, Any] = {"__name__": "page"}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        exec(compile(script.read_text(encoding="utf-8"), str(script), "exec"), names)  # noqa: S102 - the page's own code
    finding = names["broken"].findings[0]
    assert (finding.rule, finding.where) == ("DPA224", "0.weight")
    assert "after step 1" in finding.message
    assert "seen at script.py:" in finding.message
    assert set(names["audit"].watched) >= {"0.weight", "0.bias", "2.weight", "2.bias", "lr of group 0"}
    assert (tmp_path / "report" / "report.html").exists()
