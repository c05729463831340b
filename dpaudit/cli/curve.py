"""`dpaudit curve`: a privacy curve of a declaration with both sides, as text, JSON, CSV or SVG."""

import json
from typing import TYPE_CHECKING, Annotated, Literal, TypeAlias

from dpaudit.cli.common.exits import Exit, ending
from dpaudit.cli.common.options import Config, Output, flag, option
from dpaudit.errors import ConfigError

if TYPE_CHECKING:
    from dpaudit.accounting.curves.table import CurveTable
    from dpaudit.certification.certificate import Certificate

Kind = Literal["tradeoff", "gdp", "renyi", "zcdp", "tail", "group"]
"""The kinds of curves, written here so that the help imports nothing."""
CurveFormat = Literal["text", "json", "csv", "svg"]
"""How a curve is written."""
_ROWS = "How many rows; for 'gdp' 48 or more, for 'tail' 13 or fewer, not for 'renyi' and 'zcdp'."
Points: TypeAlias = Annotated[int, option("--points", "N", _ROWS, min=3, max=2000)]


@ending
def curve(
    config: Config,
    kind: Annotated[Kind, flag("--kind", "Which curve.")],
    style: Annotated[CurveFormat, flag("--format", "How to write it.")] = "text",
    size: Annotated[int, option("--size", "K", "Records of one person, for 'group'.", min=1, max=10_000)] = 2,
    points: Points = 48,
    output: Output = None,
) -> Exit:
    """Compute a privacy curve of a declaration with both sides proved: tradeoff, gdp, renyi, zcdp, tail, group.

    A curve judges nothing: the exit code is 0 whatever it shows. `dpaudit certify` judges the claim.
    """
    from dpaudit.cli.common.output import doing, put, show
    from dpaudit.configuration.config import read_config
    from dpaudit.render.curve import curve_document
    from dpaudit.workflow import certificate_of

    configuration = read_config(config)
    with doing("Proving the claim"):
        certificate = certificate_of(configuration, None)
    with doing("Proving the curve"), configuration.locating():
        try:
            table = certificate.curve(kind, size=size, points=points)
        except ValueError as error:
            raise ConfigError(f"{error}") from None
    if style == "text" and output is None:
        show(curve_document(table))
    else:
        put(_written(table, certificate, style), output)
    return Exit.PASS


def _written(table: "CurveTable", certificate: "Certificate", style: CurveFormat) -> str:
    """Return a curve in one of its forms."""
    from dpaudit.cli.common.output import as_text
    from dpaudit.render.curve import curve_csv, curve_data, curve_document
    from dpaudit.report.figures.bounds import bounds_figure

    match style:
        case "text":
            return as_text(curve_document(table))
        case "json":
            return json.dumps(curve_data(table, certificate), indent=2, sort_keys=True)
        case "csv":
            return curve_csv(table)
        case "svg":
            return bounds_figure(table).file()
