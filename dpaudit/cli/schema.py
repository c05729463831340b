"""`dpaudit schema`: the published JSON Schemas."""

import json
import sys
from typing import Annotated

import typer

from dpaudit import schemas
from dpaudit.cli.common.exits import Exit, ending
from dpaudit.cli.common.options import Output
from dpaudit.cli.common.output import write
from dpaudit.errors import ConfigError
from dpaudit.runtime.plugins import suggestion


@ending
def schema(
    name: Annotated[str | None, typer.Argument(metavar="[NAME]", help="One schema; their names where absent.")] = None,
    output: Output = None,
) -> Exit:
    """Print the JSON Schema (2020-12) of what dpaudit writes, complete in itself."""
    if name is None:
        text = "".join(f"{known}\n" for known in schemas.NAMES)
    elif name in schemas.NAMES:
        text = json.dumps(schemas.load(name), indent=2) + "\n"
    else:
        raise ConfigError(f"Unknown schema name={name!r}{suggestion(name, schemas.NAMES)}")
    if output is None:
        sys.stdout.write(text)
    else:
        write(output, text)
    return Exit.PASS
