"""The arguments and options that several commands share, and options that a command takes as one object."""

import inspect
from collections.abc import Callable
from dataclasses import MISSING, dataclass, fields, is_dataclass
from functools import wraps
from pathlib import Path
from typing import Annotated, Any, Literal, TypeAlias, get_type_hints

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


def option(name: str, metavar: str, help: str, **limits: Any) -> Any:  # noqa: A002 - as typer calls it
    """Return an option of the command line with a value."""
    return typer.Option(name, metavar=metavar, help=help, **limits)


def number(name: str, metavar: str, help: str) -> Any:  # noqa: A002 - as typer calls it
    """Return an option whose value is a number."""
    return typer.Option(name, metavar=metavar, help=help, parser=a_number)


def flag(name: str, help: str) -> Any:  # noqa: A002 - as typer calls it
    """Return an option that is on or off, or whose choices its type names."""
    return typer.Option(name, help=help)


Config: TypeAlias = Annotated[
    Path,
    typer.Argument(metavar="CONFIG", help="A TOML or JSON file: an algorithm, or a claim with its declaration."),
]
OutputFormat: TypeAlias = Annotated[Format, flag("--format", "How to write the result.")]
Output: TypeAlias = Annotated[
    Path | None, typer.Option("--output", "-o", metavar="FILE", help="Write the result here, not to stdout.")
]
Seed: TypeAlias = Annotated[
    int | None, option("--seed", "S", "Seed of all randomness; drawn and shown where absent.", min=0)
]
ConfiguredSeed: TypeAlias = Annotated[
    int | None,
    option(
        "--seed",
        "S",
        "Seed of all randomness, over the configuration's; drawn and shown where neither is given.",
        min=0,
    ),
]
GateSeed: TypeAlias = Annotated[
    int | None,
    option("--seed", "S", "Seed of all randomness, over the configurations'; 0 where neither is given.", min=0),
]
Runs: TypeAlias = Annotated[
    int | None, option("--runs", "N", "Runs for each case, 4 or more, over the configuration's.")
]
Significance: TypeAlias = Annotated[
    float | None, number("--significance", "A", "Probability of a false alarm, over the configuration's.")
]
Scheduler: TypeAlias = Annotated[
    str | None,
    option("--scheduler", "ADDRESS", "Run on a dask cluster: tcp://host:port; processes of this machine else."),
]
Require: TypeAlias = Annotated[
    Required, flag("--require", "The weakest verdict of an audit that passes; below it the exit code is 4.")
]
Planned: TypeAlias = Annotated[
    Path | None, option("--planned", "FILE", "Run the plan in this file; list what departs.")
]
Jobs: TypeAlias = Annotated[int | None, option("--jobs", "J", "Processes to use, over the configuration's.", min=1)]


@dataclass(frozen=True, kw_only=True)
class AuditOptions:
    """What a command line states of audits, over the configuration: the fields of `dpaudit.workflow.Stated`."""

    runs: Runs = None
    significance: Significance = None
    jobs: Jobs = None
    seed: ConfiguredSeed = None


@dataclass(frozen=True, kw_only=True)
class GateOptions(AuditOptions):
    """The same of a gate, which has a seed where none is stated."""

    seed: GateSeed = None


@dataclass(frozen=True, kw_only=True)
class ReportOptions:
    """What a report holds beside certificate and audits, and in which forms it is written."""

    pdf: Annotated[bool, flag("--pdf", "Write report.pdf as well.")] = False
    deployment: Annotated[
        Path | None, option("--deployment", "FILE", "What people declare: purpose, actors, hazards and more.")
    ] = None
    ledger: Annotated[str | None, option("--ledger", "LEDGER", "The budget ledger of these data.")] = None
    account: Annotated[str | None, option("--account", "NAME", "The account in it.")] = None
    previous: Annotated[Path | None, option("--previous", "REPORT", "An earlier report.json, to compare with.")] = None


def grouped(command: Callable[..., Any]) -> Callable[..., Any]:
    """Return a command that has, in place of each parameter of a data class, that class's fields as options."""
    own = inspect.signature(command, eval_str=True)
    groups: dict[str, Any] = {
        name: entry.annotation for name, entry in own.parameters.items() if is_dataclass(entry.annotation)
    }

    @wraps(command)
    def run(**given: Any) -> Any:
        options = {
            name: kind(**{entry.name: given.pop(entry.name) for entry in fields(kind)}) for name, kind in groups.items()
        }
        return command(**given, **options)

    shown: list[inspect.Parameter] = []
    for name, entry in own.parameters.items():
        shown += _options(groups[name]) if name in groups else [entry.replace(kind=inspect.Parameter.KEYWORD_ONLY)]
    # typer reads names and defaults from the signature, and types from the annotations; both must name single options.
    vars(run)["__signature__"] = own.replace(parameters=shown)
    run.__annotations__ = {entry.name: entry.annotation for entry in shown} | {"return": own.return_annotation}
    return run


def _options(kind: Any) -> list[inspect.Parameter]:
    """Return the fields of a data class as parameters of a command."""
    annotations = get_type_hints(kind, include_extras=True)
    return [
        inspect.Parameter(
            entry.name,
            inspect.Parameter.KEYWORD_ONLY,
            default=inspect.Parameter.empty if entry.default is MISSING else entry.default,
            annotation=annotations[entry.name],
        )
        for entry in fields(kind)
    ]
