"""`dpaudit list`: the names that a configuration may use, and the schemas of what dpaudit reads and writes."""

import json
from typing import Annotated, Literal, get_args

import typer

from dpaudit.cli.common.results import Result, resulting
from dpaudit.errors import ConfigError
from dpaudit.runtime.plugins import descriptions, load_package, suggestion

_CONFIG = "config"
"""The schema that is written from the code of this installation, plug-ins included; the others are files."""


PluginKind = Literal["algorithms", "mechanisms", "audits", "problems"]
Kind = Literal[PluginKind, "schemas", "schema"]
"""The kinds of things that have names."""


@resulting
def listing(
    kind: Annotated[Kind | None, typer.Argument(help="One kind only; all where absent.")] = None,
    name: Annotated[str | None, typer.Argument(metavar="[NAME]", help="With schema: which one to print.")] = None,
) -> Result:
    """List the algorithms, mechanisms, audits, problems and schemas there are, plug-ins included.

    Text and Markdown also say where a problem comes from: source, licence, and whether users are simulated.
    `dpaudit list schema NAME` prints a JSON Schema (2020-12): of what dpaudit writes, or of a configuration (config),
    for editors.
    """
    from dpaudit.render.listing import listing_document

    if kind == "schema":
        return _schema(name)
    if name is not None:
        raise ConfigError(f"Unexpected name={name!r}: only `dpaudit list schema` takes one.")
    kinds: tuple[Kind, ...] = (kind,) if kind else (*get_args(PluginKind), "schemas")
    names_by_kind: dict[str, dict[str, str]] = {shown: _described(shown) for shown in kinds}
    described = dict(names_by_kind)
    if "problems" in described:
        described["problems"] = {name: _with_origin(name, line) for name, line in described["problems"].items()}
    return Result(document=lambda: listing_document(described), data=lambda: names_by_kind)


def _with_origin(name: str, line: str) -> str:
    """Return the line of a problem with its origin, where that is known."""
    origin = load_package("algorithms.problems").origin(name)
    return line if origin is None else f"{line} [{origin.words}]"


def _described(kind: Kind) -> dict[str, str]:
    """Return the names of a kind, each with one line."""
    from dpaudit import schemas

    if kind == "schemas" or kind == "schema":
        return schemas.TITLES | {_CONFIG: "A configuration of this installation, for editors"}
    return descriptions(kind)


def _schema(name: str | None) -> Result:
    """Return one schema, which is JSON in every format.

    Raises: ConfigError: no name, or no schema of that name.
    """
    from dpaudit import schemas

    names = tuple(sorted((_CONFIG, *schemas.NAMES)))
    if name is None:
        raise ConfigError(f"Expected `dpaudit list schema NAME` with one of the names {', '.join(names)}.")
    if name not in names:
        raise ConfigError(f"Unknown schema name={name!r}{suggestion(name, names)}")
    home = "dpaudit.configuration.config_schema"
    schema = load_package(home).config_schema() if name == _CONFIG else schemas.load(name)
    return Result(text=lambda: json.dumps(schema, indent=2))
