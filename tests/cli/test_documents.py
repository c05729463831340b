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
    Lines,
    Mark,
    Paragraph,
    Picture,
    Pictures,
    Table,
    Tree,
    document,
    folded,
    items,
    judged,
    under,
    unfolded,
)
from dpaudit.documents.markdown import markdown
from dpaudit.documents.page import page
from dpaudit.documents.paper import paper
from dpaudit.documents.terminal import terminal, to_text
from dpaudit.model.audit_result import AuditVerdict
from dpaudit.model.readings import Verdict
from dpaudit.model.scores_result import ScoresVerdict
from dpaudit.wording.verdicts import VERDICTS, tone_of, verdict_label

PAYLOAD = "<script>alert(1)</script> [x](http://evil) | ![y](z)"
EVERY: dict[str, Block] = {
    "verdict": judged("refuted", f"a sentence {PAYLOAD}", subject=f"the subject {PAYLOAD}"),
    "heading": Heading(f"a heading {PAYLOAD}"),
    "paragraph": Paragraph(f"a paragraph {PAYLOAD}"),
    "quiet": Paragraph(f"a quiet one {PAYLOAD}", quiet=True),
    "items": Items((Item(f"an item {PAYLOAD}", (f"a line below {PAYLOAD}",)),), sign="✗", tone="bad"),
    "table": Table(
        ((f"a cell {PAYLOAD}", Mark(f"a mark {PAYLOAD}", "good", hint=PAYLOAD)),),
        head=(f"name {PAYLOAD}", ""),
        looks=("quiet", "number"),
    ),
    "tree": Tree(
        (
            Branch(0, "a root", details=(f"a detail {PAYLOAD}",)),
            Branch(1, f"a leaf {PAYLOAD}", quiet=(f"a source {PAYLOAD}",)),
        )
    ),
    "code": Code(f"a formula {PAYLOAD}"),
    "bars": Bars((Bar("a bar", 0.5, "1.5"),)),
    "picture": Picture(f"a picture {PAYLOAD}", file="front.svg"),
    "section": Heading(f"a section {PAYLOAD}", number="7", ident="audits"),
    "tagged": Items((Item(f"a tagged line {PAYLOAD}", ("a line below",), tag=f"proved {PAYLOAD}", form="proved"),)),
    "captioned": Table((("a", f"a captioned cell {PAYLOAD}"),), head=("name", PAYLOAD), caption=f"a caption {PAYLOAD}"),
    "lines": Lines((Mark(f"a line {PAYLOAD}", "bad"), Mark("a line below", "plain"))),
    "folded": folded(f"a fold {PAYLOAD}", [Paragraph(f"a folded one {PAYLOAD}")]),
    "pictures": Pictures((Picture(f"one of the pictures {PAYLOAD}", file="roc.svg"),)),
}
WORDS = {
    "verdict": "a sentence",
    "quiet": "a quiet one",
    "items": "an item",
    "table": "a mark",
    "tree": "a leaf",
    "code": "a formula",
    "bars": "a bar",
    "captioned": "a captioned cell",
    "lines": "a line below",
    "pictures": "one of the pictures",
    "tagged": "a tagged line",
}
LEFT_OUT = {"terminal": {"picture", "pictures"}, "markdown": {"bars"}, "page": {"bars"}}


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
    """No element, link, image or cell of a payload, in Markdown and on a page."""
    shown = written(EVERY[name])
    shown["markdown"] = re.sub(r"^```\n.*?^```$", "", shown["markdown"], flags=re.MULTILINE | re.DOTALL)
    rows = [re.findall(r"(?<!\\)\|", line) for line in shown["markdown"].splitlines() if line.startswith("|")]
    assert len({len(bars) for bars in rows}) <= 1
    assert "<script" not in shown["page"]
    assert "<script" not in shown["markdown"]
    assert not re.search(r"(?<!\\)\]\(http", shown["markdown"])


@pytest.mark.parametrize("name", EVERY)
def test_every_block_is_set_on_paper_whatever_it_says(name: str) -> None:
    """The same bytes twice; the twin with a block that the template does not know has a page without it."""
    held = document(EVERY[name], title=PAYLOAD, note=PAYLOAD)
    first = paper(held, "2026-03-01")
    assert first.startswith(b"%PDF-")
    assert first == paper(held, "2026-03-01")
    if name not in ("bars", "picture", "pictures"):  # a picture needs its drawing
        assert len(first) > len(paper(document(title=PAYLOAD, note=PAYLOAD), "2026-03-01"))


def test_details_leave_the_document_with_the_number_of_their_section() -> None:
    """Every folded block once, in its order, and nothing of it where the rest stands."""
    details = [folded("rows", [Paragraph("one")]), folded("notes", [Paragraph("two")])]
    whole = document(Heading("proof", number="6", ident="proof"), details[0], Heading("end", ident="end"), details[1])
    shown, annex = unfolded(whole)
    assert shown.blocks == (Heading("proof", number="6", ident="proof"), Heading("end", ident="end"))
    assert annex == (Heading("rows", number="6"), Paragraph("one"), Heading("notes"), Paragraph("two"))


def test_a_line_for_a_program_stays_in_one_piece() -> None:
    """A problem matcher reads `file:line: message` from the first column; the same words as a paragraph are wrapped."""
    long = f"privacy/release.toml:3: DPA101 {'a long message ' * 20}".strip()
    shown = to_text(terminal(document(Lines((Mark(long, "bad"),)), Paragraph(long))), 100).splitlines()
    assert shown[0] == long
    assert not any(long in line for line in shown[1:])
    assert to_text(terminal(document(Lines((Mark("a\nb", "bad"),)))), 100) == "a\ufffdb\n"


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
