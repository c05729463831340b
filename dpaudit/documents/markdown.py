"""A document as Markdown, for a comment on a pull request or a step summary; no foreign text becomes markup."""

from collections.abc import Iterable

from dpaudit.documents import document as blocks
from dpaudit.wording.escaping import fenced, one_line
from dpaudit.wording.escaping import markdown as escaped


def markdown(document: blocks.Document, level: int = 2) -> str:
    """Return a document as Markdown, its title at a level of headings; bars and pictures without files are left out."""
    marks = "#" * level
    parts = [f"{marks} {cell(document.title)}"] if document.title else []
    parts += (_written(block, marks) for block in document.blocks)
    parts += ["---", cell(document.note)] if document.note else []
    return "\n\n".join(part for part in parts if part) + "\n"


def _written(block: blocks.Block, marks: str) -> str:
    """Return one block; an empty text for one that Markdown does not show. `marks` are those of the title."""
    match block:
        case blocks.Verdict():
            about = f": {cell(block.subject)}" if block.subject else ""
            # a file has one title
            word = f"{marks} {cell(block.word)}" if len(marks) > 1 else f"**{cell(block.word)}**"
            return f"{word}{about}\n\n{cell(block.sentence)}"
        case blocks.Heading():
            number = f"{cell(block.number)} · " if block.number else ""
            return f"{marks}# {number}{cell(block.text)}"
        case blocks.Paragraph():
            return f"<sub>{cell(block.text)}</sub>" if block.quiet else cell(block.text)
        case blocks.Items():
            return "\n".join(_items(block))
        case blocks.Table():
            head = block.head or ("",) * len(block.rows[0])
            caption = f"{cell(block.caption)}\n\n" if block.caption and block.head else ""
            return caption + table(head, (tuple(_plain(text) for text in row) for row in block.rows))
        case blocks.Tree():
            return "\n".join(map(_branch, block.branches))
        case blocks.Lines():
            return "\n".join(f"- {cell(line.text)}" for line in block.lines)
        case blocks.Code():
            return fenced(block.text)
        case _:
            return _drawn(block, marks)


def _drawn(block: blocks.Block, marks: str) -> str:
    """Return a block of drawings or of details; an empty text for bars."""
    match block:
        case blocks.Picture():
            return f"![{cell(block.title)}]({block.file})" if block.file else ""
        case blocks.Pictures():
            return "\n\n".join(_written(picture, marks) for picture in block.pictures)
        case blocks.Folded():
            inside = (_written(shown, marks) for shown in block.blocks)
            return "\n\n".join((f"{marks}# {cell(block.title)}", *inside))
        case _:
            return ""


def _branch(branch: blocks.Branch) -> str:
    """Return a node as a line of a nested list."""
    details = cell("; ".join(branch.details + branch.quiet))
    return f"{'  ' * branch.depth}- **{cell(branch.title)}** {details}".rstrip()


def _items(block: blocks.Items) -> list[str]:
    """Return the lines of a list, and those below each."""
    sign = f"{block.sign} " if block.sign else ""
    return [
        line
        for item in block.lines
        for line in (f"- {_tag(item)}{cell(sign + item.text)}", *(f"  - {cell(below)}" for below in item.below))
    ]


def _tag(item: blocks.Item) -> str:
    """Return the tag of a line, if it has one."""
    return f"**{cell(item.tag)}**: " if item.tag else ""


def _plain(text: str | blocks.Mark) -> str:
    """Return a cell without its tone."""
    return text.text if isinstance(text, blocks.Mark) else text


def table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    """Return a Markdown table; every cell is plain text."""
    first, *others = (f"| {' | '.join(cell(text) for text in line)} |" for line in (head, *rows))
    return "\n".join((first, f"| {' | '.join('---' for _ in head)} |", *others))


def cell(text: str) -> str:
    r"""Return text on one line of bounded length that can change neither a table nor the page around it.

    >>> cell("a|b <i>")
    'a\\|b &lt;i&gt;'
    """
    inset = len(text) - len(text.lstrip(blocks.INDENT))
    return "&nbsp;&nbsp;" * inset + escaped(one_line(text))
