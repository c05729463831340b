"""A document on a terminal of any width."""

import io
from itertools import pairwise
from typing import Literal

from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.table import Table as Grid
from rich.text import Text
from rich.tree import Tree as Drawn

from dpaudit.documents import document as blocks
from dpaudit.wording.verdicts import Tone

_INDENT = 3
_COLOURS: dict[Tone, str] = {"good": "green", "open": "yellow", "bad": "red", "plain": ""}
_STYLES: dict[blocks.Look, str] = {"": "", "quiet": "dim", "value": "cyan", "number": ""}
_EIGHTHS = ("", "▏", "▎", "▍", "▌", "▋", "▊", "▉")
_LONGEST_NAME = 40  # letters of a first column that no line break divides


def terminal(document: blocks.Document) -> RenderableType:
    """Return a document for a terminal; its title is left out, and so are pictures."""
    parts: list[RenderableType] = []
    shown = [block for block in document.blocks if not isinstance(block, blocks.Picture | blocks.Pictures)]
    for before, block in pairwise((None, *shown)):
        if block is not None:
            parts += [Text()] * _apart(before, block) + _laid_out(block)
    return Group(*parts)


def to_text(rendered: RenderableType, width: int) -> str:
    """Return what a terminal of `width` columns without colour would show."""
    file = io.StringIO()
    console = Console(file=file, width=width, color_system=None, force_terminal=False, legacy_windows=False)
    console.print(rendered, crop=False)
    return "\n".join(line.rstrip() for line in file.getvalue().splitlines()) + "\n"


def bar(share: float, length: int) -> str:
    """Return a bar that fills `share` of `length` cells, to an eighth of a cell; never empty above zero.

    >>> bar(0.5, 4)
    '██  '
    """
    eighths = max(1 if share > 0 else 0, round(min(1.0, share) * length * 8))
    full, remainder = divmod(eighths, 8)
    return ("█" * full + _EIGHTHS[remainder]).ljust(length)


def _apart(before: blocks.Block | None, block: blocks.Block) -> bool:
    """Return whether an empty line stands above a block."""
    match block:
        case blocks.Heading() | blocks.Verdict() | blocks.Bars():
            return True
        case blocks.Paragraph():
            return not isinstance(before, blocks.Heading)
        case blocks.Table():
            return isinstance(before, blocks.Paragraph | blocks.Items | blocks.Verdict)
        case _:
            return isinstance(before, blocks.Verdict)


def _laid_out(block: blocks.Block) -> list[RenderableType]:
    """Return the lines of one block."""
    match block:
        case blocks.Verdict():
            word = Text.assemble(" ", (f" {block.word} ", f"bold reverse {_COLOURS[block.tone]}"))
            about = [Text(), Text(f" {block.subject}", style="bold")] if block.subject else []
            return [word, Text(), _inset(Text(block.sentence)), *about]
        case blocks.Heading():
            return [Text(f" {block.number}  {block.text}" if block.number else f" {block.text}", style="bold")]
        case blocks.Paragraph():
            return [_inset(Text(block.text, style="dim" if block.quiet else "bold" if block.strong else ""))]
        case blocks.Items():
            return list(_items(block))
        case blocks.Table():
            return [_inset(_grid(block))]
        case blocks.Bars():
            return [*([_inset(Text(block.note))] if block.note else []), _inset(_bars(block))]
        case blocks.Tree():
            return [_inset(_tree(block.branches))]
        case blocks.Lines():
            return [_line(line) for line in block.lines]
        case blocks.Code():
            return [_inset(Text(block.text))]
        case blocks.Folded():
            inside = (line for shown in block.blocks for line in _laid_out(shown))
            return [Text(f" {block.title}", style="bold"), *inside]
        case blocks.Picture() | blocks.Pictures():
            return []


def _line(line: blocks.Mark) -> Text:
    """Return a line in one piece, whatever its length and whatever it holds."""
    return Text(line.text.replace("\n", "\ufffd"), style=_COLOURS[line.tone], no_wrap=True, overflow="ignore")


def _inset(content: RenderableType, depth: int = 1) -> RenderableType:
    """Return content, indented."""
    return Padding(content, (0, depth, 0, _INDENT * depth))


def _items(block: blocks.Items) -> list[RenderableType]:
    """Return the lines of a list, and those below each."""
    sign = f"{block.sign} " if block.sign else ""
    lines: list[RenderableType] = []
    for item in block.lines:
        tag = f"{item.tag}: " if item.tag else ""
        lines.append(_inset(Text(f"{tag}{sign}{item.text}", style=_COLOURS[block.tone])))
        lines += [_inset(Text(line), 2) for line in item.below]
    return lines


def _grid(block: blocks.Table) -> Grid:
    """Return rows as columns, below their names where any has one."""
    grid = Grid.grid(padding=(0, 2))
    width = len(block.rows[0])
    for column in range(width):
        look = block.looks[column] if column < len(block.looks) else ""
        named = column == 0 and all(len(_cell(row[0])) <= _LONGEST_NAME for row in block.rows)
        wide = column == width - 1 or (block.wrapped and not named)
        justify: Literal["left", "right"] = "right" if look == "number" else "left"
        overflow: Literal["fold", "ellipsis"] = "fold" if wide else "ellipsis"
        grid.add_column(style=_STYLES[look], no_wrap=not wide, overflow=overflow, justify=justify)
    if any(block.head):
        grid.add_row(*(Text(name, style="dim") for name in block.head))
    for row in block.rows:
        grid.add_row(*map(_cell, row))
    return grid


def _cell(cell: blocks.Cell) -> Text:
    """Return a cell with its tone."""
    if isinstance(cell, blocks.Mark):
        return Text(cell.text, style=f"bold {_COLOURS[cell.tone]}" if cell.tone == "bad" else _COLOURS[cell.tone])
    return Text(cell)


def _bars(block: blocks.Bars) -> Grid:
    """Return one bar a row."""
    detailed = any(row.detail for row in block.rows)
    grid = Grid.grid(padding=(0, 2))
    for style in ("dim", *(["dim"] if detailed else []), "cyan", ""):
        grid.add_column(style=style, no_wrap=True)
    for row in block.rows:
        grid.add_row(
            row.name, *([row.detail] if detailed else []), _filled(row, block.length, axis=block.axis), row.written
        )
    return grid


def _filled(row: blocks.Bar, length: int, *, axis: bool) -> str:
    """Return a bar: hatched where nothing of it was proved, with the rest of the axis where that has a meaning."""
    if axis:
        full = min(length, max(1 if row.share else 0, int(row.share * length)))
        return f"{'█' * full}{'·' * (length - full)}"
    drawn = bar(row.share, length)
    return drawn.replace("█", "▨") if row.hatched else drawn


def _tree(branches: tuple[blocks.Branch, ...]) -> Drawn:
    """Return nodes, which come parents first with their depth, as a tree."""
    first, *others = branches
    path = [Drawn(_label(first), guide_style="dim")]
    root = path[0]
    for branch in others:
        del path[branch.depth :]
        path.append(path[-1].add(_label(branch)))
    return root


def _label(branch: blocks.Branch) -> Text:
    """Return a node with its details below it."""
    label = Text(branch.title, style="dim italic" if branch.left_out else "bold")
    for lines, style in ((branch.details, "not bold"), (branch.quiet, "not bold dim")):
        for line in lines:
            label.append(f"\n{line}", style=style)
    return label
