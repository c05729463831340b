"""`python -m benchmarks.catalogue`: the auditor on mechanisms, correct and broken, whose privacy is known."""

from dataclasses import asdict
from typing import Annotated

import typer

from benchmarks.catalogue.printed import benchmark_document
from benchmarks.catalogue.table import measure_catalogue
from dpaudit.cli.common.exits import Exit, ending
from dpaudit.cli.common.options import Output, OutputFormat
from dpaudit.cli.common.output import emit, progress
from dpaudit.errors import ConfigError
from dpaudit.model.codec import encode

app = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)


@app.command()
@ending
def catalogue(
    runs: Annotated[int, typer.Option("--runs", min=100, metavar="N", help="Runs for each mechanism.")] = 100_000,
    significance: Annotated[
        float, typer.Option("--significance", metavar="A", help="Probability that a row's bound is wrong.")
    ] = 0.01,
    jobs: Annotated[int, typer.Option("--jobs", min=1, metavar="J", help="Processes to use.")] = 1,
    seed: Annotated[int, typer.Option("--seed", min=0, metavar="S", help="Seed of all randomness.")] = 0,
    style: OutputFormat = "text",
    output: Output = None,
) -> Exit:
    """Measure the auditor on mechanisms, correct and broken, whose privacy is known.

    A correct mechanism that is flagged, or any bound above its truth, is a finding. Broken mechanisms that get away
    are listed: more runs, or a sharper attack, would show them.
    """
    if not 0 < significance < 1:
        raise ConfigError(f"Expected significance={significance} strictly between 0 and 1.")
    with progress("catalogue") as advance:
        rows = measure_catalogue(runs=runs, seed=seed, jobs=jobs, significance=significance, progress=advance)
    emit(
        lambda: benchmark_document(rows),
        lambda: [encode(asdict(row)) for row in rows],
        style,
        output,
    )
    return Exit.FINDING if any(row.false_alarm for row in rows) else Exit.PASS


if __name__ == "__main__":
    app(prog_name="python -m benchmarks.catalogue")
