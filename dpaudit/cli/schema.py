"""`dpaudit schema`: the published JSON Schemas, and that of a configuration."""

import json
import sys
from typing import Annotated

import typer

from dpaudit import schemas
from dpaudit.cli.common.exits import Exit, ending
from dpaudit.cli.common.options import Output
from dpaudit.cli.common.output import write
from dpaudit.configuration.config_schema import config_schema
from dpaudit.errors import ConfigError
from dpaudit.runtime.plugins import suggestion

CONFIG = "config"
"""The schema that is written from the code of this installation, plug-ins included; the others are files."""

NAMES = tuple(sorted((CONFIG, *schemas.NAMES)))


@ending
def schema(
    name: Annotated[str | None, typer.Argument(metavar="[NAME]", help="One schema; their names where absent.")] = None,
    output: Output = None,
) -> Exit:
    """Print a JSON Schema (2020-12): of what dpaudit writes, or of a configuration (config), for editors."""
    if name is None:
        text = "".join(f"{known}\n" for known in NAMES)
    elif name in NAMES:
        text = json.dumps(config_schema() if name == CONFIG else schemas.load(name), indent=2) + "\n"
    else:
        raise ConfigError(f"Unknown schema name={name!r}{suggestion(name, NAMES)}")
    if output is None:
        sys.stdout.write(text)
    else:
        write(output, text)
    return Exit.PASS
