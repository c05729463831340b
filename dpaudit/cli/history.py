"""`dpaudit history`: what many reports and checks said over time."""

import json
from pathlib import Path
from typing import Annotated

import typer

from dpaudit.cli.common.exits import Exit, ending
from dpaudit.cli.common.options import Format, Output, OutputFormat
from dpaudit.cli.common.output import emit, say, write
from dpaudit.errors import ConfigError
from dpaudit.history import observations_below
from dpaudit.history.page import history_page
from dpaudit.history.text import history_data, history_markdown, history_text


@ending
def history(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="A folder with report.json and check files.")],
    style: OutputFormat = Format.TEXT,
    output: Output = None,
    page: Annotated[Path | None, typer.Option("--page", metavar="FILE", help="Write one HTML page as well.")] = None,
) -> Exit:
    """Show what many reports and checks said over time.

    Claims, proved epsilon, bounds from below, findings and budgets, by subject and day. It reads documents and judges
    nothing: the exit code is 0 if any document was read. `dpaudit diff` compares two reports and fails on a change
    for the worse.
    """
    observed = observations_below(folder)
    if not observed.observations:
        lost = f" Not read: {observed.unread[0]}" if observed.unread else ""
        raise ConfigError(f"{folder}: holds no report.json and no check that could be read.{lost}")
    emit(
        lambda: history_text(observed),
        lambda: history_markdown(observed),
        lambda: json.dumps(history_data(observed), indent=2, sort_keys=True, allow_nan=False),
        style,
        output,
    )
    if page is not None:
        write(page, history_page(observed))
        say(str(page))
    return Exit.PASS
