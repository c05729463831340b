"""The configuration reference: its generated part is what the code says."""

import runpy
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]


WRITER: dict[str, Any] = runpy.run_path(str(ROOT / "docs" / "site" / "configuration.py"))


def test_the_page_is_what_its_command_writes() -> None:
    """`python docs/site/configuration.py` would change nothing; an altered default would be written anew."""
    text = WRITER["PAGE"].read_text(encoding="utf-8")
    assert WRITER["page"](text) == text, "run `python docs/site/configuration.py`"
    assert WRITER["page"](text.replace("`20000`", "`30000`")) == text


def test_the_page_has_every_key_with_its_meaning() -> None:
    """No row of a table is without a meaning."""
    rows = [line for line in WRITER["generated"]().splitlines() if line.startswith("| `")]
    assert len(rows) > 200
    assert [row for row in rows if row.endswith("|  |")] == []
