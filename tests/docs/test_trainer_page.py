"""The page on a Hugging Face Trainer is a script that runs, with the verdict that it states."""

import re
import warnings
from pathlib import Path
from typing import Any

import pytest

PAGE = Path(__file__).parents[2] / "docs" / "how_to" / "trainer_loop.md"


def test_the_page_audits_a_trainer_with_adapters(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The adapters are watched by name, and moved."""
    for package in ("opacus", "transformers", "accelerate", "peft"):
        pytest.importorskip(package, reason=f"{package} is not installed")
    monkeypatch.chdir(tmp_path)
    block = re.findall(r"^```python\n(.*?)^```", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)[0]
    script = tmp_path / "script.py"
    script.write_text(block, encoding="utf-8")
    names: dict[str, Any] = {"__name__": "page"}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        exec(compile(block, str(script), "exec"), names)  # noqa: S102 - the page's own code
    audit = names["audit"]
    assert audit.findings == ()
    assert any("lora_A" in name for name in audit.watched)
