"""The words and exit codes of a claim that somebody else states, in every command."""

import re
from pathlib import Path

from tests.command_line import dpaudit

FILE = """
[claim]
epsilon = {epsilon}
neighbours = "add_remove"
unit = "one person"

[declaration]
node = "stated"
epsilon = 1.0
source = "a README"
"""


def test_no_command_calls_a_stated_claim_proved_or_certified(tmp_path: Path) -> None:
    """Terminal, Markdown, report and registry; exit 4 of certify and verify, 1 of check."""
    path = tmp_path / "told.toml"
    path.write_text(FILE.format(epsilon=1.0), encoding="utf-8")
    shown = [dpaudit("certify", str(path), "--format", style) for style in ("text", "md")]
    assert [ended.exit_code for ended in shown] == [4, 4]
    dpaudit("certify", str(path), "--format", "json", "-o", str(tmp_path / "c.json"))
    checked = dpaudit("verify", str(tmp_path / "c.json"))
    assert checked.exit_code == 4
    gate = dpaudit("check", str(path))
    assert (gate.exit_code, "DPA105" in gate.stdout) == (1, True)
    dpaudit("report", str(path), "-o", str(tmp_path / "r"))
    pages = [(tmp_path / "r" / name).read_text(encoding="utf-8") for name in ("report.md", "annex.md", "report.html")]
    for text in (*(ended.stdout for ended in shown), checked.stdout):
        assert "CERTIFIED" not in text
        assert "certified" not in text
        assert "proved" not in re.sub("nothing (here|of that) was proved", "", text)
    for page in pages:
        assert "CERTIFIED" not in page
        assert "Covered by the guarantee" not in page
        assert "What is proved of the declaration" not in page
        assert "changes by a factor" not in page
    for cover in (pages[0], pages[2]):
        assert "STATED" in cover
        assert "The claim is epsilon = 1, delta = 0" in cover
        assert "At that word, epsilon is at most 1 at delta 0" in cover
        assert "The privacy stated by a README holds" in cover
    assert "- **stated**: At that word" in pages[0]
    assert '<span class="tag unassessed">stated</span>' in pages[2]
    assert "hatched bar stated by others and not proved" in pages[2]
