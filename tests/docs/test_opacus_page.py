"""The page on Opacus loops is one script that runs, and its two loops get the verdicts that it states."""

import ast
import re
import warnings
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

PAGE = Path(__file__).parents[2] / "docs" / "how_to" / "opacus_loop.md"
SCRIPT = "\n".join(re.findall(r"^```python\n(.*?)^```", PAGE.read_text("utf-8"), re.MULTILINE | re.DOTALL))


def test_the_page_compiles_and_imports_what_is_there() -> None:
    """Every name that it imports from the packages exists; at night the page runs."""
    imports = [node for node in ast.walk(ast.parse(SCRIPT)) if isinstance(node, ast.ImportFrom)]
    own = [node for node in imports if str(node.module).startswith(("dpaudit", "audits"))]
    assert own
    assert all(hasattr(import_module(str(node.module)), alias.name) for node in own for alias in node.names)


def test_the_page_runs_from_the_claim_to_the_report(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """All blocks in order, in an empty folder: right loop consistent, leak named, report written."""
    pytest.importorskip("opacus")
    monkeypatch.chdir(tmp_path)
    script = tmp_path / "script.py"
    script.write_text(SCRIPT, encoding="utf-8")
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
