"""`python -m benchmarks.wall`: releases of other libraries, audited under one error rate."""

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer

from benchmarks.wall.environments import interpreter_of, measured_elsewhere
from benchmarks.wall.evidence_folder import EvidenceFolder
from benchmarks.wall.measuring import measure
from benchmarks.wall.nightly import measure_night
from benchmarks.wall.page import wall_data, wall_document
from benchmarks.wall.private_list import read_private
from benchmarks.wall.row import Row, RowResult
from benchmarks.wall.rows import LISTS, every_row, rows_of
from dpaudit.cli.common.exits import Exit, ending
from dpaudit.cli.common.options import Output, OutputFormat, Seed, Significance
from dpaudit.cli.common.output import emit, note, progress, write
from dpaudit.documents.page import page as page_of
from dpaudit.errors import ConfigError
from dpaudit.runtime.plugins import suggestion
from dpaudit.workflow import drawn_seed

_SIGNIFICANCE = 0.01

app = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)


@app.command()
@ending
def wall(
    library: Annotated[str | None, typer.Option("--library", metavar="NAME", help="The rows of one library.")] = None,
    private: Annotated[
        Path | None, typer.Option("--private", metavar="FILE", help="A list of your own, in place of the shipped one.")
    ] = None,
    environments: Annotated[
        Path | None,
        typer.Option("--environments", metavar="DIR", help="DIR/NAME/bin/python measures the library NAME."),
    ] = None,
    page: Annotated[Path | None, typer.Option("--page", metavar="FILE", help="Write the page here, as HTML.")] = None,
    family: Annotated[
        int | None, typer.Option("--family", min=1, metavar="K", help="The number of rows that share the error rate.")
    ] = None,
    nightly: Annotated[
        Path | None, typer.Option("--nightly", metavar="DIR", help="Add a night's runs to the evidence in this folder.")
    ] = None,
    significance: Significance = None,
    seed: Seed = None,
    style: OutputFormat = "text",
    output: Output = None,
) -> Exit:
    """Audit releases of other libraries, known bugs among them, under one error rate.

    The error rate is that of the whole shipped list, also where one library is measured. A library that is not
    installed here is not run, and the page says so. A row that was held to be sound and is flagged, or a known defect
    that gets away, is a finding.
    """
    level = _SIGNIFICANCE if significance is None else significance
    if not 0 < level < 1:
        raise ConfigError(f"Expected significance={level} strictly between 0 and 1.")
    if library is not None and library not in LISTS:
        raise ConfigError(f"Unknown library {library!r}{suggestion(library, tuple(LISTS))}")
    used_seed = drawn_seed(seed, note)
    if private is not None:
        rows = tuple(row for row in read_private(private) if library in (None, row.library))
        size = family or max(1, len(rows))
        results = _here(rows, size, level, used_seed, nightly)
    else:
        size = family or len(every_row())
        chosen = tuple(LISTS) if library is None else (library,)
        parts = [_library(name, environments, size, level, used_seed, nightly) for name in chosen]
        results = tuple(row for part in parts for row in part)
    emit(
        lambda: wall_document(results, level, size),
        lambda: wall_data(results, level, size, used_seed),
        style,
        output,
    )
    if page is not None:
        write(page, page_of(wall_document(results, level, size, datetime.now(UTC).date().isoformat())))
    return _exit(results)


def _library(
    name: str, environments: Path | None, family: int, significance: float, seed: int, nightly: Path | None
) -> tuple[RowResult, ...]:
    """Return the results of one library, measured here or by an interpreter of its own."""
    interpreter = interpreter_of(name, environments)
    if environments is not None and (environments / name).exists():
        return measured_elsewhere(interpreter, name, family, significance, seed, nightly)
    return _here(rows_of(name), family, significance, seed, nightly)


def _here(
    rows: Sequence[Row], family: int, significance: float, seed: int, nightly: Path | None
) -> tuple[RowResult, ...]:
    """Return the results of rows that this process measures, on top of the evidence in the folder `nightly`."""
    with progress("wall") as advance:
        if nightly is not None:
            kept = EvidenceFolder(path=nightly, family=family, significance=significance)
            return measure_night(rows, kept, seed=seed, progress=advance)
        return measure(rows, family=family, significance=significance, seed=seed, progress=advance)


def _exit(results: Sequence[RowResult]) -> Exit:
    """Return the exit code: a surprise or a miss is a finding, a wall without a measured row is inconclusive."""
    if any(row.surprising or row.missed for row in results):
        return Exit.FINDING
    return Exit.PASS if any(row.outcome != "not run" for row in results) else Exit.INCONCLUSIVE


if __name__ == "__main__":
    app(prog_name="python -m benchmarks.wall")
