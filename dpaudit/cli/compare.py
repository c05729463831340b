"""`dpaudit compare`: the differences between two reports, or what many reports and checks said over time."""

from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dpaudit.cli.common.exits import Exit
from dpaudit.cli.common.options import option
from dpaudit.cli.common.results import Result, resulting
from dpaudit.errors import ConfigError

if TYPE_CHECKING:
    from dpaudit.documents.document import Document


@resulting
def compare(
    documents: Annotated[
        list[Path],
        typer.Argument(metavar="DOCUMENT", help="Two report.json files; or more files, or folders that hold them."),
    ],
    page: Annotated[Path | None, option("--page", "FILE", "Write what is found as one HTML page, too.")] = None,
) -> Result:
    """Show what changed between two reports, where a change for the worse is a finding; or what many documents said
    over time.

    Two files are compared, the earlier one first. Of a folder, or of three files and more, it shows claims, proved
    epsilon, bounds from below, findings and budgets, by subject and day; it judges nothing, and the exit code is 0 if
    any document was read.
    """  # noqa: D205 - the summary of the table of commands
    two = len(documents) == 2 and not any(document.is_dir() for document in documents)
    result = _two(*documents) if two else _many(documents)
    comparison = result.document
    return (
        result if page is None or comparison is None else replace(result, then=lambda: _write_page(comparison(), page))
    )


def _write_page(comparison: "Document", page: Path) -> None:
    """Write what was found as one HTML page."""
    from dpaudit.cli.common.output import say, write
    from dpaudit.documents.page import page as page_of

    write(page, page_of(comparison))
    say(str(page))


def _two(before: Path, after: Path) -> Result:
    """Return the differences between two reports."""
    from dpaudit.configuration.files import json_object
    from dpaudit.gate.comparison import changes_document
    from dpaudit.gate.comparison import compare as compared

    changes = compared(json_object(before), json_object(after))
    worse = any(change.direction == "worse" for change in changes)
    return Result(
        document=lambda: changes_document(changes),
        data=lambda: [asdict(change) for change in changes],
        code=Exit.FINDING if worse else Exit.PASS,
    )


def _many(documents: list[Path]) -> Result:
    """Return what documents said over time.

    Raises: ConfigError: one file alone, or no document that could be read.
    """
    from dpaudit.history import observations_in
    from dpaudit.history.text import history_data, history_document

    names = ", ".join(str(document) for document in documents)
    if len(documents) == 1 and not documents[0].is_dir():
        raise ConfigError(f"{names}: expected two report.json files, or a folder that holds reports and checks.")
    observed = observations_in(tuple(documents))
    if not observed.observations:
        lost = f" Not read: {observed.unread[0]}" if observed.unread else ""
        raise ConfigError(f"{names}: holds no report.json and no check that could be read.{lost}")
    return Result(document=lambda: history_document(observed), data=lambda: history_data(observed))
