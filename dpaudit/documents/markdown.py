"""A document as Markdown, for a comment on a pull request or a step summary; no foreign text becomes markup."""

from collections.abc import Iterable

from dpaudit.documents import document as blocks
from dpaudit.wording.escaping import fenced, one_line
from dpaudit.wording.escaping import markdown as escaped


def markdown(document: blocks.Document) -> str:
    """Return a document as Markdown; bars are left out, and of pictures those that are no file."""
    parts = [f"## {cell(document.title)}"] if document.title else []
    parts += map(_written, document.blocks)
    return "\n\n".join(part for part in parts if part) + "\n"


def _written(block: blocks.Block) -> str:
    """Return one block; an empty text for one that Markdown does not show."""
    match block:
        case blocks.Verdict():
            about = f": {cell(block.subject)}" if block.subject else ""
            return f"## {cell(block.word)}{about}\n\n{cell(block.sentence)}"
        case blocks.Heading():
            return f"### {cell(block.text)}"
        case blocks.Paragraph():
            return f"<sub>{cell(block.text)}</sub>" if block.quiet else cell(block.text)
        case blocks.Items():
            return "\n".join(_items(block))
        case blocks.Table():
            head = block.head or ("",) * len(block.rows[0])
            return table(head, (tuple(_plain(text) for text in row) for row in block.rows))
        case blocks.Tree():
            return "\n".join(map(_branch, block.branches))
        case blocks.Code():
            return fenced(block.text)
        case blocks.Picture():
            return f"![{cell(block.title)}]({block.file})" if block.file else ""
        case blocks.Bars():
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
        for line in (f"- {cell(sign + item.text)}", *(f"  - {cell(below)}" for below in item.below))
    ]


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
    return escaped(one_line(text))
