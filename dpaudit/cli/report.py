"""`dpaudit report`: certificate and audits in one folder, to show to somebody."""

from pathlib import Path
from typing import Annotated

import typer

from dpaudit.cli.exits import Exit, ending, worst
from dpaudit.cli.options import Config, Jobs, Runs, Seed, Significance


@ending
def report(
    config: Config,
    output: Annotated[Path, typer.Option("--output", "-o", metavar="DIR", help="The folder to write to.")],
    runs: Runs = None,
    significance: Significance = None,
    jobs: Jobs = None,
    seed: Seed = None,
    *,
    pdf: Annotated[bool, typer.Option("--pdf", help="Write report.pdf as well; needs the extra 'pdf'.")] = False,
    deployment: Annotated[
        Path | None, typer.Option("--deployment", metavar="FILE", help="What people declare: purpose, actors, ...")
    ] = None,
    ledger: Annotated[
        str | None, typer.Option("--ledger", metavar="LEDGER", help="The budget ledger of these data.")
    ] = None,
    account: Annotated[str | None, typer.Option("--account", metavar="NAME", help="The account in it.")] = None,
    previous: Annotated[
        Path | None, typer.Option("--previous", metavar="REPORT", help="An earlier report.json, to compare with.")
    ] = None,
) -> Exit:
    """Write certificate and audits as one report: HTML, Markdown and JSON.

    Prints the files it wrote, one a line. A declaration without code is reported without audits.
    """
    from dpaudit.cli.extras import extras_of
    from dpaudit.cli.output import output_folder
    from dpaudit.configuration.config import read_config
    from dpaudit.configuration.configuration import Configured
    from dpaudit.workflow import (
        audit_exit,
        audits_of,
        cases_of,
        certificate_exit,
        certificate_of,
        drawn_seed,
        settings_of,
        write_report,
    )

    configuration = read_config(config)
    extras = extras_of(configuration, pdf=pdf, deployment=deployment, ledger=ledger, account=account, previous=previous)
    folder = output_folder(output)
    settings = settings_of(configuration, runs=runs, significance=significance, jobs=jobs, seed=seed)
    subject = configuration.subject
    runs_code = isinstance(subject, Configured) and subject.problem is not None
    cases = cases_of(configuration, settings.view) if runs_code else ()
    drawn = drawn_seed(settings.seed) if runs_code else 0
    certificate = certificate_of(configuration, drawn)
    audits = audits_of(cases, certificate, settings, drawn)
    for path in write_report(
        configuration, certificate, audits, settings, drawn if runs_code else None, folder, extras
    ):
        typer.echo(path)
    return worst(certificate_exit(certificate), *map(audit_exit, audits))
