"""`dpaudit report`: certificate and audits as one report in a folder."""

import shlex
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from dpaudit.cli.common.exits import Exit, ending
from dpaudit.cli.common.options import AuditOptions, Config, Planned, ReportOptions


@ending
def report(
    config: Config,
    output: Annotated[Path, typer.Option("--output", "-o", metavar="DIR", help="The folder to write to.")],
    given: AuditOptions,
    *,
    planned: Planned = None,
    asked: ReportOptions,
) -> Exit:
    """Write certificate and audits as one report: HTML, Markdown and JSON.

    Prints the files it wrote, one a line. A declaration without code is reported without audits.
    """
    from dpaudit.cli.common.extras import extras_of
    from dpaudit.cli.common.output import doing, note, output_folder, progress, say
    from dpaudit.cli.common.plans import PlannedAudits, plan_exit, read_plan
    from dpaudit.cli.common.verdicts import audit_exit, verdict_exit, worst
    from dpaudit.configuration.config import read_config
    from dpaudit.workflow import AuditExecution, Stated, certificate_of, drawn_seed, runs_code, scores_in, write_report

    configuration = read_config(config)
    extras = extras_of(configuration, asked)
    followed = read_plan(planned)
    folder = output_folder(output)
    audited = runs_code(configuration)
    work = PlannedAudits.of(configuration, followed, Stated(**vars(given)), needed=audited)
    seed = work.seed(given.seed)
    used_seed = drawn_seed(seed, note) if audited else 0
    with doing("Proving the claim"):
        certificate = certificate_of(configuration, used_seed)
    scores = scores_in(configuration, certificate)
    audits = work.results(certificate, used_seed, AuditExecution(progress=progress))
    if followed is not None:
        extras = replace(
            extras, plan=followed.plan, options=(*extras.options, f"--planned {shlex.quote(str(planned))}")
        )
    stated_seed = used_seed if audited else None
    with doing("Writing the report"):
        paths = write_report(configuration, certificate, audits, work.settings, stated_seed, folder, extras)
    for path in paths:
        say(str(path))
    found = (Exit.FINDING for held in scores if held.result.verdict == "violation")
    return worst(verdict_exit(certificate.verdict), plan_exit(audits), *map(audit_exit, audits), *found)
