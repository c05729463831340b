"""`dpaudit compare`: the differences between two reports, or what many reports and checks said over time."""

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from dpaudit.cli.common.exits import Exit, ending
from dpaudit.cli.common.options import Format, Output, OutputFormat
from dpaudit.errors import ConfigError


@ending
def compare(
    documents: Annotated[
        list[Path],
        typer.Argument(metavar="DOCUMENT...", help="Two report.json files; or more files, or folders that hold them."),
    ],
    style: OutputFormat = Format.TEXT,
    output: Output = None,
    page: Annotated[
        Path | None, typer.Option("--page", metavar="FILE", help="Write all documents over time as one HTML page.")
    ] = None,
) -> Exit:
    """Show what changed between two reports, where a change for the worse is a finding; or what many documents said
    over time.

    Two files are compared, the earlier one first. Of a folder, or of three files and more, it shows claims, proved
    epsilon, bounds from below, findings and budgets, by subject and day; it judges nothing, and the exit code is 0 if
    any document was read.
    """  # noqa: D205 - the summary of the table of commands
    from dpaudit.cli.common.output import say, write
    from dpaudit.documents.page import page as page_of
    from dpaudit.history import observations_in
    from dpaudit.history.text import history_document

    two = len(documents) == 2 and not any(document.is_dir() for document in documents)
    code = _two(documents[0], documents[1], style, output) if two else _many(documents, style, output)
    if page is not None:
        write(page, page_of(history_document(observations_in(tuple(documents)))))
        say(str(page))
    return code


def _two(before: Path, after: Path, style: Format, output: Path | None) -> Exit:
    """Write the differences between two reports."""
    from dpaudit.cli.common.output import emit
    from dpaudit.gate.baseline import read_json
    from dpaudit.gate.changes import changes_document
    from dpaudit.gate.comparison import compare as compared

    changes = compared(read_json(before), read_json(after))
    emit(
        lambda: changes_document(changes),
        lambda: [asdict(change) for change in changes],
        style,
        output,
    )
    return Exit.FINDING if any(change.direction == "worse" for change in changes) else Exit.PASS


def _many(documents: list[Path], style: Format, output: Path | None) -> Exit:
    """Write what documents said over time.

    Raises: ConfigError: one file alone, or no document that could be read.
    """
    from dpaudit.cli.common.output import emit
    from dpaudit.history import observations_in
    from dpaudit.history.text import history_data, history_document

    names = ", ".join(str(document) for document in documents)
    if len(documents) == 1 and not documents[0].is_dir():
        raise ConfigError(f"{names}: expected two report.json files, or a folder that holds reports and checks.")
    observed = observations_in(tuple(documents))
    if not observed.observations:
        lost = f" Not read: {observed.unread[0]}" if observed.unread else ""
        raise ConfigError(f"{names}: holds no report.json and no check that could be read.{lost}")
    emit(
        lambda: history_document(observed),
        lambda: history_data(observed),
        style,
        output,
    )
    return Exit.PASS
