"""The shapes of terminal text: headline, section, paragraph, columns."""

import io
from collections.abc import Iterable

from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

_INDENT = 3


def headline(word: str, colour: str, sentence: str) -> RenderableType:
    """Return a verdict on its own line, and its meaning below."""
    return Group(Text(), Text.assemble(" ", (f" {word} ", f"bold reverse {colour}")), Text(), inset(sentence))


def section(title: str) -> RenderableType:
    """Return a heading, with an empty line above."""
    return Group(Text(), Text(f" {title}", style="bold"))


def inset(content: str | RenderableType, style: str = "") -> RenderableType:
    """Return a paragraph, indented."""
    body = Text(content, style=style) if isinstance(content, str) else content
    return Padding(body, (0, 1, 0, _INDENT))


def columns(rows: Iterable[tuple[str | Text, ...]], *styles: str, right: bool = False) -> RenderableType:
    """Return rows as columns, indented; all but the last keep their lines whole, the first may be flush right."""
    table = Table.grid(padding=(0, 2))
    for number, style in enumerate(styles):
        last = number == len(styles) - 1
        table.add_column(style=style, no_wrap=not last, justify="right" if right and number == 0 else "left")
    for row in rows:
        table.add_row(*(Text(cell) if isinstance(cell, str) else cell for cell in row))
    return inset(table)


def to_text(rendered: RenderableType, width: int) -> str:
    """Return what a terminal of `width` columns without colour would show."""
    file = io.StringIO()
    console = Console(file=file, width=width, color_system=None, force_terminal=False, legacy_windows=False)
    console.print(rendered)
    return "\n".join(line.rstrip() for line in file.getvalue().splitlines()) + "\n"
