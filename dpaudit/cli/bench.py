"""`dpaudit bench`: measurements of dpaudit on subjects whose privacy is known."""

import json
from dataclasses import asdict
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from dpaudit.cli.common.exits import Exit, ending
from dpaudit.cli.common.options import Format, Output, OutputFormat
from dpaudit.cli.common.output import emit, note, progress
from dpaudit.errors import ConfigError
from dpaudit.model.codec import encode
from dpaudit.render.benchmark import benchmark_markdown, benchmark_text
from dpaudit.render.bugs import bugs_markdown, bugs_text
from dpaudit.runtime.plugins import load_package


class Part(StrEnum):
    """The subjects of a measurement."""

    AUDITS = "audits"
    BUGS = "bugs"


@ending
def bench(
    part: Annotated[Part, typer.Argument(help="What to measure.")] = Part.AUDITS,
    runs: Annotated[int, typer.Option("--runs", min=100, metavar="N", help="Runs for each mechanism.")] = 100_000,
    significance: Annotated[
        float, typer.Option("--significance", metavar="A", help="Probability that a row's bound is wrong.")
    ] = 0.01,
    jobs: Annotated[int, typer.Option("--jobs", min=1, metavar="J", help="Processes to use.")] = 1,
    seed: Annotated[int, typer.Option("--seed", min=0, metavar="S", help="Seed of all randomness.")] = 0,
    seeds: Annotated[int, typer.Option("--seeds", min=1, metavar="N", help="bugs: seeds for each defect.")] = 20,
    opacus_broken: Annotated[
        Path | None,
        typer.Option("--opacus-broken", metavar="PYTHON", help="bugs: the interpreter of a place with opacus==1.5.2."),
    ] = None,
    make_environment: Annotated[
        Path | None,
        typer.Option("--make-environment", metavar="DIR", help="bugs: make that place in DIR first, from the index."),
    ] = None,
    style: OutputFormat = Format.TEXT,
    output: Output = None,
) -> Exit:
    """Measure the auditor on mechanisms, correct and broken, whose privacy is known; or dpaudit on a corpus of bugs.

    audits: a correct mechanism that is flagged, or any bound above its truth, is a finding. Broken mechanisms that get
    away are listed: more runs, or a sharper attack, would show them. bugs: an accused fixed version is a finding, and
    so is a defect that gets away; what could not be run is said to be not run.
    """
    if part is Part.BUGS:
        return _bugs(seeds, seed, opacus_broken, make_environment, style, output)
    if not 0 < significance < 1:
        raise ConfigError(f"Expected significance={significance} strictly between 0 and 1.")
    with progress(f"bench {part.value}") as advance:
        rows = load_package("audits.catalogue.table").measure_catalogue(
            runs=runs, seed=seed, jobs=jobs, significance=significance, progress=advance
        )
    emit(
        lambda: benchmark_text(rows),
        lambda: benchmark_markdown(rows),
        lambda: json.dumps([encode(asdict(row)) for row in rows], indent=2, sort_keys=True),
        style,
        output,
    )
    return Exit.FINDING if any(row.false_alarm for row in rows) else Exit.PASS


def _bugs(
    seeds: int, seed: int, opacus_broken: Path | None, make_environment: Path | None, style: Format, output: Path | None
) -> Exit:
    """Run the corpus of defects and write its table."""
    if make_environment is not None:
        note(f"installing into {make_environment}")
        opacus_broken = load_package("audits.known_bugs.released").make_environment(make_environment)
    with progress("bench bugs") as advance:
        rows = load_package("audits.known_bugs.bugs").measure_bugs(
            seeds=seeds, seed=seed, opacus_broken=opacus_broken, progress=advance
        )
    emit(
        lambda: bugs_text(rows),
        lambda: bugs_markdown(rows),
        lambda: json.dumps([encode(asdict(row)) for row in rows], indent=2, sort_keys=True),
        style,
        output,
    )
    return Exit.FINDING if any(row.alarms or row.missed for row in rows) else Exit.PASS
