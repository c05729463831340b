"""`python -m benchmarks.known_bugs`: dpaudit on defects of real software and their fixed versions."""

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from benchmarks.known_bugs.bugs import measure_bugs
from benchmarks.known_bugs.printed import bugs_document
from benchmarks.known_bugs.released import make_environment
from dpaudit.cli.common.exits import Exit, ending
from dpaudit.cli.common.options import Output, OutputFormat
from dpaudit.cli.common.output import emit, note, progress
from dpaudit.model.codec import encode

app = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)


@app.command()
@ending
def known_bugs(
    seeds: Annotated[int, typer.Option("--seeds", min=1, metavar="N", help="Seeds for each defect.")] = 20,
    seed: Annotated[int, typer.Option("--seed", min=0, metavar="S", help="Seed of all randomness.")] = 0,
    opacus_broken: Annotated[
        Path | None,
        typer.Option("--opacus-broken", metavar="PYTHON", help="The interpreter of a place with opacus==1.5.2."),
    ] = None,
    environment: Annotated[
        Path | None,
        typer.Option("--make-environment", metavar="DIR", help="Make that place in DIR first, from the index."),
    ] = None,
    style: OutputFormat = "text",
    output: Output = None,
) -> Exit:
    """Run dpaudit on a corpus of defects, each beside its fixed version.

    A flagged fixed version is a finding, and so is a defect that gets away; what could not be run is said to be not
    run.
    """
    if environment is not None:
        note(f"installing into {environment}")
        opacus_broken = make_environment(environment)
    with progress("known bugs") as advance:
        rows = measure_bugs(seeds=seeds, seed=seed, opacus_broken=opacus_broken, progress=advance)
    emit(
        lambda: bugs_document(rows),
        lambda: [encode(asdict(row)) for row in rows],
        style,
        output,
    )
    return Exit.FINDING if any(row.alarms or row.missed for row in rows) else Exit.PASS


if __name__ == "__main__":
    app(prog_name="python -m benchmarks.known_bugs")
