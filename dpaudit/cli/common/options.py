"""The arguments and options that several commands share."""

from pathlib import Path
from typing import Annotated, Literal, TypeAlias

import typer

Format = Literal["text", "json", "md"]
"""How a result is written."""
Required = Literal["not_refuted", "consistent"]
"""The weakest verdict of an audit that passes."""
Host = Literal["github", "gitlab", "none"]
"""Where the pipeline runs."""


def a_number(text: str) -> float:
    """Return an option as a number. Raises: typer.BadParameter: it is none; the message shows it.

    >>> a_number("1e-5")
    1e-05
    """
    try:
        return float(text)
    except ValueError:
        part = text.strip().removesuffix("%")
        percent = part.replace(".", "", 1).isdigit() and part != text.strip()
        remedy = f"; {part} percent is {float(part) / 100:g}" if percent else ""
        raise typer.BadParameter(f"{text!r:.40} is no number{remedy}.") from None


Config: TypeAlias = Annotated[
    Path,
    typer.Argument(metavar="CONFIG", help="A TOML or JSON file: an algorithm, or a claim with its declaration."),
]
OutputFormat: TypeAlias = Annotated[Format, typer.Option("--format", help="How to write the result.")]
Output: TypeAlias = Annotated[
    Path | None, typer.Option("--output", "-o", metavar="FILE", help="Write the result here, not to stdout.")
]
Seed: TypeAlias = Annotated[
    int | None,
    typer.Option("--seed", min=0, metavar="S", help="Seed of all randomness; drawn and shown where absent."),
]
ConfiguredSeed: TypeAlias = Annotated[
    int | None,
    typer.Option(
        "--seed",
        min=0,
        metavar="S",
        help="Seed of all randomness, over the configuration's; drawn and shown where neither is given.",
    ),
]
GateSeed: TypeAlias = Annotated[
    int | None,
    typer.Option(
        "--seed", min=0, metavar="S", help="Seed of all randomness, over the configurations'; 0 where neither is given."
    ),
]
Runs: TypeAlias = Annotated[
    int | None, typer.Option("--runs", metavar="N", help="Runs for each case, 4 or more, over the configuration's.")
]
Significance: TypeAlias = Annotated[
    float | None,
    typer.Option(
        "--significance", metavar="A", parser=a_number, help="Probability of a false alarm, over the configuration's."
    ),
]
Scheduler: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--scheduler", metavar="ADDRESS", help="Run on a dask cluster: tcp://host:port; processes of this machine else."
    ),
]
Require: TypeAlias = Annotated[
    Required,
    typer.Option("--require", help="The weakest verdict of an audit that passes; below it the exit code is 4."),
]
Planned: TypeAlias = Annotated[
    Path | None, typer.Option("--planned", metavar="FILE", help="Run the plan in this file; list what departs.")
]
Jobs: TypeAlias = Annotated[
    int | None, typer.Option("--jobs", min=1, metavar="J", help="Processes to use, over the configuration's.")
]
