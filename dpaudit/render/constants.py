"""A paper's constants for a configuration, and from which horizon each width or bound speaks."""

import math
from dataclasses import asdict
from typing import Any

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from dpaudit.model.constants import PaperConstants
from dpaudit.wording.markdown import table as markdown_table
from dpaudit.wording.numerals import nearest


def _constants(found: PaperConstants) -> list[tuple[str, ...]]:
    """Return a row for each constant."""
    return [
        (line.name, "none" if math.isnan(line.value) else nearest(line.value, 6), line.source)
        for line in found.constants
    ]


def _horizons(found: PaperConstants) -> list[tuple[str, ...]]:
    """Return a row for each horizon."""
    return [(line.name, line.speaks, _power(line.log10), line.source) for line in found.horizons]


def _power(log10: float) -> str:
    """Return a horizon as a power of ten."""
    return f"10^{log10:.3f}" if math.isfinite(log10) else "nowhere up to 10^80"


_CONSTANT_HEAD = ("Constant", "Value", "Source")
_HORIZON_HEAD = ("Width or bound", "It speaks where", "From", "Source")


def constants_text(name: str, found: PaperConstants) -> RenderableType:
    """Return both tables for a terminal."""
    tables: list[RenderableType] = [Text(f"Constants of {name} at this configuration")]
    for head, rows in ((_CONSTANT_HEAD, _constants(found)), (_HORIZON_HEAD, _horizons(found))):
        table = Table(*head, box=None, pad_edge=False, header_style="bold")
        for row in rows:
            table.add_row(*row)
        tables += [Text(""), table]
    return Group(*tables)


def constants_markdown(name: str, found: PaperConstants) -> str:
    """Return both tables as Markdown."""
    parts = (markdown_table(_CONSTANT_HEAD, _constants(found)), markdown_table(_HORIZON_HEAD, _horizons(found)))
    return "\n\n".join((f"# Constants of {name}", *parts))


def constants_data(found: PaperConstants) -> Any:
    """Return everything as plain data; infinity is "inf", and what is not defined is null."""
    return _plain(asdict(found))


def _plain(value: Any) -> Any:
    """Return plain data without infinities and NaN."""
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None if math.isnan(value) else "inf"
    return value
