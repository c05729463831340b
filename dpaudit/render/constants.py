"""A paper's constants for a configuration, and from which horizon each width or bound speaks."""

import math
from dataclasses import asdict
from typing import Any

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from dpaudit.model.constants import PaperConstants, RegretLowerBound
from dpaudit.wording.markdown import table as markdown_table
from dpaudit.wording.numerals import at_least, at_most, nearest, whole

Bound = tuple[float, int, RegretLowerBound] | None
"""The certified epsilon, the horizon and the lower bound on regret there; None where it is not known."""


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
_BOUND_HEAD = ("Lower bound on regret", "At certified epsilon", "On the worst instance of", "Source")
_HORIZON_HEAD = ("Width or bound", "It speaks where", "From", "Source")


def _lower(bound: Bound) -> list[tuple[str, ...]]:
    """Return the row of the lower bound; unknown where there is none."""
    if bound is None:
        return [("unknown", "", "", "")]
    epsilon, horizon, found = bound
    return [(at_least(found.value), at_most(epsilon), f"{found.family}; T = {whole(horizon)}", found.source)]


def _tables(found: PaperConstants, bound: Bound) -> tuple[tuple[tuple[str, ...], list[tuple[str, ...]]], ...]:
    """Return the head and the rows of each table."""
    return (
        (_CONSTANT_HEAD, _constants(found)),
        (_HORIZON_HEAD, _horizons(found)),
        (_BOUND_HEAD, _lower(bound)),
    )


def constants_text(name: str, found: PaperConstants, bound: Bound) -> RenderableType:
    """Return all tables for a terminal."""
    tables: list[RenderableType] = [Text(f"Constants of {name} at this configuration")]
    for head, rows in _tables(found, bound):
        table = Table(*head, box=None, pad_edge=False, header_style="bold")
        for row in rows:
            table.add_row(*row)
        tables += [Text(""), table]
    return Group(*tables)


def constants_markdown(name: str, found: PaperConstants, bound: Bound) -> str:
    """Return all tables as Markdown."""
    tables = (markdown_table(head, rows) for head, rows in _tables(found, bound))
    return "\n\n".join((f"# Constants of {name}", *tables))


def constants_data(found: PaperConstants, bound: Bound) -> Any:
    """Return everything as plain data; infinity is "inf", and what is not defined is null."""
    lower = None if bound is None else asdict(bound[2]) | {"epsilon": bound[0], "horizon": bound[1]}
    return _plain(asdict(found) | {"lower_bound": lower})


def _plain(value: Any) -> Any:
    """Return plain data without infinities and NaN."""
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None if math.isnan(value) else "inf"
    return value
