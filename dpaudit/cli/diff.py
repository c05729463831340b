"""`dpaudit diff`: two reports side by side."""

from pathlib import Path
from typing import Annotated

import typer

from dpaudit.cli.exits import Exit, ending
from dpaudit.cli.options import Format, Output, OutputFormat


@ending
def diff(
    before: Annotated[Path, typer.Argument(metavar="BEFORE", help="A report.json.")],
    after: Annotated[Path, typer.Argument(metavar="AFTER", help="A later report.json.")],
    style: OutputFormat = Format.TEXT,
    output: Output = None,
) -> Exit:
    """Show what changed between two reports; a change for the worse is a finding."""
    from dpaudit.cli.output import emit
    from dpaudit.gate.baseline import read_json
    from dpaudit.gate.comparison import compare
    from dpaudit.render.gate import changes_json, changes_markdown, changes_text

    changes = compare(read_json(before), read_json(after))
    emit(
        lambda: changes_text(changes),
        lambda: changes_markdown(changes),
        lambda: changes_json(changes),
        style,
        output,
    )
    return Exit.FINDING if any(change.direction == "worse" for change in changes) else Exit.PASS
