"""`dpaudit report`: certificate and audits as one report in a folder."""

from __future__ import annotations

import shlex
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dpaudit.cli.common.exits import Exit, ending
from dpaudit.cli.common.options import AuditOptions, Config, Planned, ReportOptions

if TYPE_CHECKING:
    from dpaudit.certification.certificate import Certificate
    from dpaudit.cli.common.plans import PlannedRun
    from dpaudit.model.audit_result import AuditResult
    from dpaudit.report.attacks import ScoreEvidence
    from dpaudit.workflow import Extras


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
    from dpaudit.cli.common.plans import PlannedAudits, read_plan
    from dpaudit.configuration.config import read_config
    from dpaudit.workflow import AuditExecution, Stated, certificate_of, drawn_seed, runs_code, scores_in, write_report

    configuration, followed = read_config(config), read_plan(planned)
    extras = _with_plan(extras_of(configuration, asked), followed, planned)
    folder = output_folder(output)
    audited = runs_code(configuration)
    work = PlannedAudits.of(configuration, followed, Stated(**vars(given)), needed=audited)
    seed = work.seed(given.seed)
    used_seed = drawn_seed(seed, note) if audited else 0
    with doing("Proving the claim"):
        certificate = certificate_of(configuration, used_seed)
    scores = scores_in(configuration, certificate)
    audits = work.results(certificate, used_seed, AuditExecution(progress=progress))
    stated_seed = used_seed if audited else None
    with doing("Writing the report"):
        paths = write_report(configuration, certificate, audits, work.settings, stated_seed, folder, extras)
    for path in paths:
        say(str(path))
    return _exit_of(certificate, audits, scores)


def _with_plan(extras: Extras, followed: PlannedRun | None, planned: Path | None) -> Extras:
    """Return what a report shows beside certificate and audits, with the plan that these follow, if there is one."""
    if followed is None:
        return extras
    options = (*extras.options, f"--planned {shlex.quote(str(planned))}")
    return replace(extras, plan=followed.plan, options=options)


def _exit_of(certificate: Certificate, audits: tuple[AuditResult, ...], scores: tuple[ScoreEvidence, ...]) -> Exit:
    """Return the worst of what the certificate, the audits and the plan of these, and the scores say."""
    from dpaudit.cli.common.plans import plan_exit
    from dpaudit.cli.common.verdicts import audit_exit, verdict_exit, worst

    score_exits = (Exit.FINDING for evidence in scores if evidence.result.verdict == "violation")
    return worst(verdict_exit(certificate.verdict), plan_exit(audits), *map(audit_exit, audits), *score_exits)
