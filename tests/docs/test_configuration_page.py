"""The configuration reference: its generated part is what the code says."""

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def writer() -> ModuleType:
    """Return the module that writes the page."""
    spec = importlib.util.spec_from_file_location("configuration_page", ROOT / "docs" / "site" / "configuration.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_page_is_what_its_command_writes(writer: ModuleType) -> None:
    """`python docs/site/configuration.py` would change nothing; an altered default would be written anew."""
    text = writer.PAGE.read_text(encoding="utf-8")
    assert writer.page(text) == text, "run `python docs/site/configuration.py`"
    assert writer.page(text.replace("`20000`", "`30000`")) == text


def test_the_page_has_every_key_with_its_meaning(writer: ModuleType) -> None:
    """No row of a table is without a meaning."""
    rows = [line for line in writer.generated().splitlines() if line.startswith("| `")]
    assert len(rows) > 200
    assert [row for row in rows if row.endswith("|  |")] == []
