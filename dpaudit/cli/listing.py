"""`dpaudit list`: what can be named in a configuration."""

from enum import StrEnum
from typing import Annotated

import typer

from dpaudit.cli.exits import Exit, ending
from dpaudit.cli.options import Format, Output, OutputFormat


class Kind(StrEnum):
    """What there are several of."""

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
    import json

    from dpaudit.cli.output import emit
    from dpaudit.render.listing import listing_markdown, listing_text
    from dpaudit.runtime.plugins import names

    found = {held.value: names(held.value) for held in ([kind] if kind else Kind)}
    emit(
        lambda: listing_text(found),
        lambda: listing_markdown(found),
        lambda: json.dumps(found, indent=2),
        style,
        output,
    )
    return Exit.PASS
