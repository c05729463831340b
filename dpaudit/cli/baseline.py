"""`dpaudit baseline`: acceptance of the issues of a check, with a reason and a date of expiry."""

from datetime import UTC, date, datetime
from pathlib import Path
from typing import Annotated

import typer

from dpaudit.cli.common.exits import Exit, ending
from dpaudit.cli.common.output import say, write
from dpaudit.errors import ConfigError
from dpaudit.gate.acceptance import accept
from dpaudit.gate.baseline import Baseline, read_baseline, read_json


@ending
def baseline(
    check: Annotated[Path, typer.Argument(metavar="CHECK", help="A check.json, as `dpaudit check -o` writes it.")],
    reason: Annotated[str, typer.Option("--reason", metavar="TEXT", help="Why this is accepted.")],
    expires: Annotated[
        str, typer.Option("--expires", metavar="DATE", help="The last day it is accepted, within a year: YYYY-MM-DD.")
    ],
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="FILE", help="The baseline to write, or to add to.")
    ] = Path("dpaudit-baseline.json"),
    rule: Annotated[str | None, typer.Option("--rule", metavar="ID", help="Accept issues of this rule only.")] = None,
) -> Exit:
    """Accept the open issues of a check until a day, for a reason; the file is meant to be reviewed like code.

    Prints the issues that it accepted, one a line.
    """
    try:
        last = date.fromisoformat(expires)
    except ValueError:
        raise ConfigError(f"Expected --expires={expires!r} as YYYY-MM-DD.") from None
    previous = read_baseline(output) if output.exists() else Baseline()
    added = accept(read_json(check), check, reason, datetime.now(UTC).date(), last, rule)
    write(output, previous.with_entries(added).to_json())
    for entry in added:
        say(f"{entry.rule} {entry.config}: {entry.subject}")
    return Exit.PASS
