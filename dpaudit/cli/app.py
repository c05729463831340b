"""The table of commands, in the order in which a newcomer meets them."""

from typing import Annotated

import typer

from dpaudit.cli.audit import audit
from dpaudit.cli.baseline import baseline
from dpaudit.cli.bench import bench
from dpaudit.cli.calibrate import calibrate
from dpaudit.cli.certify import certify
from dpaudit.cli.check import check
from dpaudit.cli.demo import demo
from dpaudit.cli.diff import diff
from dpaudit.cli.doctor import doctor
from dpaudit.cli.explain import explain
from dpaudit.cli.ledger import ledger
from dpaudit.cli.listing import listing
from dpaudit.cli.report import report
from dpaudit.cli.schema import schema
from dpaudit.cli.verify import verify

app = typer.Typer(
    name="dpaudit",
    help="Certify, audit and report the privacy of differentially private algorithms.",
    epilog="Exit codes: 0 pass, 1 finding, 2 usage or configuration, 3 internal error, 4 inconclusive.",
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


def _version(wanted: bool) -> None:  # noqa: FBT001 - typer's callback
    """Print the version and stop."""
    if wanted:
        from dpaudit.runtime.provenance import distribution_version

        typer.echo(distribution_version("dpaudit"))
        raise typer.Exit


@app.callback()
def common(
    *,
    version: Annotated[
        bool, typer.Option("--version", is_eager=True, callback=_version, help="Show the version and stop.")
    ] = False,
) -> None:
    """Certify, audit and report the privacy of differentially private algorithms."""


app.command()(certify)
app.command()(audit)
app.command()(report)
app.command()(verify)
app.command()(calibrate)
app.command()(explain)
app.command(name="list")(listing)
app.command()(check)
app.command()(baseline)
app.command()(diff)
app.command()(schema)
app.command()(doctor)
app.command()(bench)
app.command()(demo)
app.add_typer(ledger, name="ledger")
