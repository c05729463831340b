"""`dpaudit diff`: the differences between two reports."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from dpaudit.cli.common.exits import Exit, ending
from dpaudit.cli.common.options import Format, Output, OutputFormat
from dpaudit.cli.common.output import emit
from dpaudit.gate.baseline import read_json
from dpaudit.gate.changes import changes_markdown, changes_text
from dpaudit.gate.comparison import compare


@ending
def diff(
    before: Annotated[Path, typer.Argument(metavar="BEFORE", help="A report.json.")],
    after: Annotated[Path, typer.Argument(metavar="AFTER", help="A later report.json.")],
    style: OutputFormat = Format.TEXT,
    output: Output = None,
) -> Exit:
    """Show what changed between two reports; a change for the worse is a finding."""
    changes = compare(read_json(before), read_json(after))
    emit(
        lambda: changes_text(changes),
        lambda: changes_markdown(changes),
        lambda: json.dumps([asdict(change) for change in changes], indent=2, sort_keys=True),
        style,
        output,
    )
    return Exit.FINDING if any(change.direction == "worse" for change in changes) else Exit.PASS
