"""`dpaudit list`: the names that a configuration may use."""

import json
from enum import StrEnum
from typing import Annotated

import typer

from dpaudit.cli.common.exits import Exit, ending
from dpaudit.cli.common.options import Format, Output, OutputFormat
from dpaudit.cli.common.output import emit
from dpaudit.render.listing import listing_markdown, listing_text
from dpaudit.runtime.plugins import descriptions, load_package


class Kind(StrEnum):
    """The kinds of things that have names."""

    ALGORITHMS = "algorithms"
    MECHANISMS = "mechanisms"
    AUDITS = "audits"
    PROBLEMS = "problems"


@ending
def listing(
    kind: Annotated[Kind | None, typer.Argument(help="One kind only; all where absent.")] = None,
    style: OutputFormat = Format.TEXT,
    output: Output = None,
) -> Exit:
    """List the algorithms, mechanisms, audits and problems there are, plug-ins included.

    Text and Markdown also say where a problem comes from: source, licence, and whether users are simulated.
    """
    names_by_kind = {shown.value: descriptions(shown.value) for shown in ([kind] if kind else Kind)}
    described = names_by_kind | {
        kind: {name: _with_origin(name, line) for name, line in names_by_kind[kind].items()}
        for kind in names_by_kind
        if kind == Kind.PROBLEMS
    }
    emit(
        lambda: listing_text(described),
        lambda: listing_markdown(described),
        lambda: json.dumps(names_by_kind, indent=2),
        style,
        output,
    )
    return Exit.PASS


def _with_origin(name: str, line: str) -> str:
    """Return the line of a problem with its origin, where that is known."""
    origin = load_package("algorithms.problems").origin(name)
    return line if origin is None else f"{line} [{origin.words}]"
