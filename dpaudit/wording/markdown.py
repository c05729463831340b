"""Markdown tables and lists in which foreign text cannot become markup."""

from collections.abc import Iterable

from dpaudit.wording.escaping import markdown, one_line


def table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    """Return a Markdown table; every cell is plain text."""
    first, *others = (f"| {' | '.join(cell(text) for text in line)} |" for line in (head, *rows))
    return "\n".join((first, f"| {' | '.join('---' for _ in head)} |", *others))


def cell(text: str) -> str:
    r"""Return text on one line of bounded length that can change neither a table nor the page around it.

    >>> cell("a|b <i>")
    'a\\|b &lt;i&gt;'
    """
    return markdown(one_line(text))


def bullets(lines: Iterable[str]) -> str:
    """Return a list, empty where there is nothing to list."""
    return "\n".join(f"- {cell(line)}" for line in lines)
