"""One document, three writers: every block is shown or left out on purpose, and no foreign text becomes markup."""

import re
from pathlib import Path
from typing import get_args

import pytest

from dpaudit.documents.document import (
    Bar,
    Bars,
    Block,
    Branch,
    Code,
    Heading,
    Item,
    Items,
    Mark,
    Paragraph,
    Picture,
    Table,
    Tree,
    document,
    items,
    judged,
    under,
)
from dpaudit.documents.markdown import markdown
from dpaudit.documents.page import page
from dpaudit.documents.terminal import terminal, to_text
from dpaudit.model.audit_result import AuditVerdict
from dpaudit.model.readings import Verdict
from dpaudit.model.scores_result import ScoresVerdict
from dpaudit.wording.verdicts import VERDICTS, tone_of, verdict_label

PAYLOAD = "<script>alert(1)</script> [x](http://evil) | ![y](z)"
EVERY: dict[str, Block] = {
    "verdict": judged("refuted", f"a sentence {PAYLOAD}", subject="the subject"),
    "heading": Heading(f"a heading {PAYLOAD}"),
    "paragraph": Paragraph(f"a paragraph {PAYLOAD}"),
    "quiet": Paragraph(f"a quiet one {PAYLOAD}", quiet=True),
    "items": Items((Item(f"an item {PAYLOAD}", ("a line below",)),), sign="✗", tone="bad"),
    "table": Table(((f"a cell {PAYLOAD}", Mark("a mark", "good")),), head=("name", ""), looks=("quiet", "number")),
    "tree": Tree((Branch(0, "a root", details=("a detail",)), Branch(1, f"a leaf {PAYLOAD}", quiet=("a source",)))),
    "code": Code("a formula"),
    "bars": Bars((Bar("a bar", 0.5, "1.5"),)),
    "picture": Picture("a picture", file="front.png"),
}
WORDS = {
    "verdict": "a sentence",
    "quiet": "a quiet one",
    "items": "an item",
    "table": "a mark",
    "tree": "a leaf",
    "code": "a formula",
    "bars": "a bar",
}
LEFT_OUT = {"terminal": {"picture"}, "markdown": {"bars"}, "page": {"bars"}}


def written(block: Block) -> dict[str, str]:
    """Return a document of one block, by writer."""
    held = document(block)
    return {"terminal": to_text(terminal(held), 100), "markdown": markdown(held), "page": page(held)}


@pytest.mark.parametrize("name", EVERY)
def test_every_block_is_shown_by_every_writer_that_can(name: str) -> None:
    """What a writer leaves out is listed; nothing else is lost."""
    shown = written(EVERY[name])
    words = WORDS.get(name, f"a {name}")
    assert {writer for writer, text in shown.items() if words not in text} == {
        writer for writer, names in LEFT_OUT.items() if name in names
    }


@pytest.mark.parametrize("name", EVERY)
def test_foreign_text_becomes_no_markup(name: str) -> None:
    """No element, link or image of a payload, in Markdown and on a page."""
    shown = written(EVERY[name])
    assert "<script" not in shown["page"]
    assert "<script" not in shown["markdown"]
    assert not re.search(r"(?<!\\)\]\(http", shown["markdown"])


def test_what_is_empty_is_left_out_with_its_heading() -> None:
    """Lists, tables, bars and paragraphs without content; a heading with content below it stays."""
    empty = document(under("Notes", items(()), Table(()), Bars(()), Paragraph("")), items(()))
    assert empty.blocks == ()
    assert under("Notes", items(()), Paragraph("one")) == (Heading("Notes"), Paragraph("one"))


def test_a_narrow_table_keeps_the_name_of_a_file_whole() -> None:
    """An editor follows it; the other cells wrap."""
    row = ("privacy/release.toml", *("several words of a cell",) * 4)
    table = Table((row,), head=("configuration", "a", "b", "c", "d"), wrapped=True)
    assert "privacy/release.toml " in to_text(terminal(document(table)), 80)


def test_there_are_ten_words_of_verdicts_and_every_result_has_one() -> None:
    """The table is the only place of words, tones and exit codes."""
    assert len(VERDICTS) == 10
    names = {*get_args(Verdict), *get_args(AuditVerdict), *get_args(ScoresVerdict)}
    assert {verdict_label(name) for name in names} <= set(VERDICTS)
    assert {word.exit_code for word in VERDICTS.values()} == {0, 1, 4}
    assert tone_of("CERTIFIED WITH CAVEATS") != tone_of("CERTIFIED")
    with pytest.raises(KeyError):
        verdict_label("verified")


def test_the_guide_has_the_table_of_words() -> None:
    """Word, meaning and exit code, as the code has them."""
    guide = (Path(__file__).parents[2] / "docs" / "how_to" / "read_a_report.md").read_text(encoding="utf-8")
    for name, word in VERDICTS.items():
        assert f"| {name} | {word.meaning} | {word.exit_code} |" in guide
