"""`dpaudit list`: the names that a configuration may use."""

import json
from enum import StrEnum
from typing import Annotated

import typer

from dpaudit.cli.common.exits import Exit, ending
from dpaudit.cli.common.options import Format, Output, OutputFormat
from dpaudit.cli.common.output import emit
from dpaudit.render.listing import listing_markdown, listing_text
from dpaudit.runtime.plugins import descriptions


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
    """List the algorithms, mechanisms, audits and problems there are, plug-ins included."""
    names_by_kind = {shown.value: descriptions(shown.value) for shown in ([kind] if kind else Kind)}
    emit(
        lambda: listing_text(names_by_kind),
        lambda: listing_markdown(names_by_kind),
        lambda: json.dumps(names_by_kind, indent=2),
        style,
        output,
    )
    return Exit.PASS
