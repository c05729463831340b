"""The notebooks: run from top to bottom, each output is the one that stands in the text."""

import runpy
import warnings
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
SCRIPTS = sorted((ROOT / "examples" / "notebooks").glob("*.py"))
TOOL: dict[str, Any] = runpy.run_path(str(ROOT / "docs" / "site" / "notebooks.py"))


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.stem)
def test_a_notebook_repeats_its_outputs(script: Path) -> None:
    """No warning, and not one character differs; `python docs/site/notebooks.py` writes them anew."""
    text = script.read_text(encoding="utf-8")
    assert text.startswith("# %% [markdown]\n# # ")
    assert text.count("# Out: ") >= 5
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert TOOL["written"](text) == text


def test_another_number_in_the_text_is_found() -> None:
    """The twin: a digit that the code does not compute is written anew."""
    text = "# %% [markdown]\n# # A sum\n\n# %%\nx = 2\nx + 2\n# Out: 4\n"
    assert TOOL["written"](text) == text
    assert TOOL["written"](text.replace("Out: 4", "Out: 5")) == text
    assert TOOL["written"](text.replace("x + 2", "x + 3")) != text


def test_a_page_of_the_site_has_text_code_and_outputs_apart() -> None:
    """Markdown loses its hashes, code its outputs."""
    text = "# %% [markdown]\n# # A sum\n#\n# Of two.\n\n# %%\n2 + 2\n# Out: 4\n"
    assert TOOL["page"](text) == "# A sum\n\nOf two.\n\n```python\n2 + 2\n```\n\n```text\n4\n```\n"


def test_every_notebook_stands_in_the_navigation() -> None:
    """And there are six."""
    navigation = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    assert len(SCRIPTS) == 6
    assert [script.stem for script in SCRIPTS if f"notebooks/{script.stem}.md" not in navigation] == []
