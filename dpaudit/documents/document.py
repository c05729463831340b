"""The neutral document of a result: a title and blocks. Each writer lays the blocks out in its own way.

Texts may be foreign: the writers escape them. A block that a writer cannot show is left out by it: bars belong to a
terminal, figures to a page. What is folded on a page stands in an annex of Markdown and of a PDF.
"""

from collections.abc import Iterable
from dataclasses import KW_ONLY, dataclass, replace
from typing import Literal

from dpaudit.documents.outcome import NO_OUTCOME, Outcome
from dpaudit.wording.verdicts import Tone, tone_of, verdict_label

Look = Literal["", "quiet", "value", "number"]
"""How a column looks: plain; less important; a value; a number, flush right."""

Form = Literal["", "declared", "proved", "measured", "unassessed", "caveat"]
"""How the tag of a line looks: what is claimed, proved, measured, looked at by nobody, or left to confirm."""

INDENT = "\N{EM SPACE}"
"""What stands before a cell, once for each step of its depth."""


@dataclass(frozen=True, slots=True)
class Mark:
    """A word with its tone, inside a cell, and what a page says of it on request."""

    text: str
    tone: Tone
    hint: str = ""


Cell = str | Mark


@dataclass(frozen=True, slots=True)
class Verdict:
    """The word of a verdict, its tone, the sentence that says what it means, and what it is about."""

    word: str
    tone: Tone
    sentence: str
    _: KW_ONLY
    subject: str = ""


@dataclass(frozen=True, slots=True)
class Heading:
    """The heading of the blocks that follow; that of a section has a number, and a name for links to it."""

    text: str
    _: KW_ONLY
    number: str = ""
    ident: str = ""


@dataclass(frozen=True, slots=True)
class Paragraph:
    """Some sentences; quiet ones are less important."""

    text: str
    _: KW_ONLY
    quiet: bool = False
    strong: bool = False


@dataclass(frozen=True, slots=True)
class Item:
    """A line of a list, with the lines below it, and a tag before it."""

    text: str
    below: tuple[str, ...] = ()
    _: KW_ONLY
    tag: str = ""
    form: Form = ""


@dataclass(frozen=True, slots=True)
class Items:
    """A list; each line begins with the sign, if there is one."""

    lines: tuple[Item, ...]
    _: KW_ONLY
    sign: str = ""
    tone: Tone = "plain"


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of equal length; of a table without names of columns `head` is empty, and its caption is not shown.

    On a terminal only the last column is wrapped, unless `wrapped` says that all may be.
    """

    rows: tuple[tuple[Cell, ...], ...]
    _: KW_ONLY
    head: tuple[str, ...] = ()
    looks: tuple[Look, ...] = ()
    wrapped: bool = False
    caption: str = ""


@dataclass(frozen=True, slots=True)
class Bar:
    """A name, the share of the axis that is filled, and the number as it is written."""

    name: str
    share: float
    written: str
    _: KW_ONLY
    detail: str = ""
    hatched: bool = False


@dataclass(frozen=True, slots=True)
class Bars:
    """Bars on one axis, `length` cells wide, below a note; `axis` draws the rest of the axis too."""

    rows: tuple[Bar, ...]
    _: KW_ONLY
    length: int = 44
    axis: bool = False
    note: str = ""


@dataclass(frozen=True, slots=True)
class Branch:
    """A node of a tree at its depth, the root at 0: a title, and details of which the quiet ones come last."""

    depth: int
    title: str
    _: KW_ONLY
    details: tuple[str, ...] = ()
    quiet: tuple[str, ...] = ()
    left_out: bool = False


@dataclass(frozen=True, slots=True)
class Tree:
    """Nodes, each after the one above it."""

    branches: tuple[Branch, ...]


@dataclass(frozen=True, slots=True)
class Code:
    """Lines that are shown as they are."""

    text: str


@dataclass(frozen=True, slots=True)
class Lines:
    """Lines that a program reads as well, such as `file:line: message`: each in one piece, from the first column."""

    lines: tuple[Mark, ...]


@dataclass(frozen=True, slots=True)
class Picture:
    """A drawing: SVG for a page, which was escaped where it was made; SVG for paper; the name of a file beside it.

    `caption` stands in place of the title on a page.
    """

    title: str
    _: KW_ONLY
    svg: str = ""
    paper: str = ""
    file: str = ""
    caption: str = ""


@dataclass(frozen=True, slots=True)
class Pictures:
    """Small drawings side by side."""

    pictures: tuple[Picture, ...]


Shown = Verdict | Heading | Paragraph | Items | Table | Bars | Tree | Code | Lines | Picture | Pictures


@dataclass(frozen=True, slots=True)
class Folded:
    """Details behind a line that names them."""

    title: str
    blocks: tuple[Shown, ...]


Block = Shown | Folded


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """A result: its blocks in order, the title that a page or Markdown shows above them, and a note at the foot.

    `outcome` is what programs read of it.
    """

    blocks: tuple[Block, ...]
    title: str = ""
    note: str = ""
    outcome: Outcome = NO_OUTCOME


def document(
    *parts: Block | Iterable[Block] | None, title: str = "", note: str = "", outcome: Outcome = NO_OUTCOME
) -> Document:
    """Return a document of blocks and of groups of blocks, without empty lists, tables and paragraphs."""
    groups = (() if part is None else (part,) if isinstance(part, Block) else part for part in parts)
    blocks = tuple(block for group in groups for block in group if not _empty(block))
    return Document(title=title, blocks=blocks, note=note, outcome=outcome)


def folded(title: str, blocks: Iterable[Shown]) -> Folded:
    """Return details behind their title, without empty lists, tables and paragraphs."""
    return Folded(title, tuple(block for block in blocks if not _empty(block)))


def unfolded(complete: Document) -> tuple[Document, tuple[Block, ...]]:
    """Return a document without what it folds, and that in its order, each below a heading with its section's number.

    >>> shown, annex = unfolded(document(Heading("Proof", number="6"), Folded("Rows", (Paragraph("one"),))))
    >>> shown.blocks == (Heading("Proof", number="6"),), annex == (Heading("Rows", number="6"), Paragraph("one"))
    (True, True)
    """
    annex: list[Block] = []
    number = ""
    for block in complete.blocks:
        if isinstance(block, Heading):
            number = block.number
        elif isinstance(block, Folded):
            annex += [Heading(block.title, number=number), *block.blocks]
    return replace(complete, blocks=tuple(b for b in complete.blocks if not isinstance(b, Folded))), tuple(annex)


def joined(documents: Iterable[Document]) -> Document:
    """Return the blocks of several documents as one."""
    return Document(blocks=tuple(block for part in documents for block in part.blocks))


def judged(verdict: str, sentence: str, subject: str = "") -> Verdict:
    """Return a verdict by its name in data, or by its word, with the tone of the table of verdicts."""
    word = verdict if verdict.isupper() else verdict_label(verdict)
    return Verdict(word, tone_of(word), sentence, subject=subject)


def items(lines: Iterable[str], sign: str = "", tone: Tone = "plain") -> Items:
    """Return a list of lines without lines below them."""
    return Items(tuple(map(Item, lines)), sign=sign, tone=tone)


def lines(texts: Iterable[str]) -> Lines:
    """Return lines without a tone."""
    return Lines(tuple(Mark(text, "plain") for text in texts))


def under(heading: str, *blocks: Block) -> tuple[Block, ...]:
    """Return blocks below a heading; nothing where all of them are empty.

    >>> under("Notes", items(()))
    ()
    """
    shown = tuple(block for block in blocks if not _empty(block))
    return (Heading(heading), *shown) if shown else ()


def _empty(block: Block) -> bool:
    """Return whether there is nothing to show."""
    match block:
        case Items(content) | Lines(content) | Table(content) | Bars(content) | Pictures(content) | Paragraph(content):
            return not content
        case Folded(blocks=content):
            return not content
        case _:
            return False
