"""`dpaudit demo`: proof, calibration, audit, usefulness and report for one algorithm on bundled data."""

from __future__ import annotations

from dataclasses import replace
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer

from dpaudit.cli.common.exits import Exit, ending

if TYPE_CHECKING:
    from dpaudit.certification.certificate import Certificate
    from dpaudit.configuration.configuration import AuditSettings, Configuration
    from dpaudit.model.audit_result import AuditResult
    from dpaudit.model.case import AuditCase
    from dpaudit.model.claim import Claim
    from dpaudit.study.usefulness import Usefulness
    from dpaudit.workflow import AuditExecution

_FALSE_SHARE = 0.2
"""The false claim of the fourth chapter, as a share of the true one."""


Reports: TypeAlias = Annotated[Path, typer.Option("--output", "-o", metavar="DIR", help="The folder for the reports.")]


@ending
def demo(
    output: Reports = Path("dpaudit-demo"),
) -> Exit:
    """Tell the whole story in under a minute and write a report.

    CAPRI, a contextual bandit, chooses insurance plans for groups of patients: its claim is proved, its noise
    is measured against the claim, its code is attacked, the attack is tried on a claim that is false, and a simulation
    says what the noise costs.
    """
    from dpaudit.cli.common.output import doing, output_folder, progress, show
    from dpaudit.configuration.config import read_config
    from dpaudit.render import story
    from dpaudit.workflow import AuditExecution, audits_in, audits_of, cases_of, certificate_of, write_report

    folder = output_folder(output)
    paper, tight = (_copied(name, folder) for name in ("paper.toml", "tight.toml"))
    published = read_config(paper)
    with doing("Proving the published claim"):
        first = certificate_of(published, published.audit.seed)
    show(story.on_paper(first))

    calibrated = read_config(tight)
    settings, seed = calibrated.audit, calibrated.audit.seed or 0
    with doing("Finding the noise that the claim needs"):
        second = certificate_of(calibrated, seed)
    show(story.needed(first, second))

    cases = cases_of(calibrated, settings.view)
    execution = AuditExecution(progress=progress)
    audits = audits_of(cases, second, settings, seed, execution, audits_in(calibrated))
    show(story.attacked(audits))

    show(story.false_claim(_attacked(cases[0], second.claim, settings, seed, execution)))

    show(story.useful(_studied(folder, calibrated, second)))
    with doing("Writing two reports"):
        beside = output_folder(folder / "as-published")
        write_report(published, first, (), published.audit, published.audit.seed, beside)
        files = write_report(calibrated, second, audits, settings, seed, folder)
    show(story.files((*files, beside, folder / "study", paper, tight)))
    return Exit.PASS


def _attacked(
    numbered: tuple[int, AuditCase], claim: Claim, settings: AuditSettings, seed: int, execution: AuditExecution
) -> AuditResult:
    """Return the audit of a numbered case against a share of the true claim, which is false."""
    import numpy as np

    from dpaudit.workflow import attack

    number, case = numbered
    false_claim = replace(claim, epsilon=_FALSE_SHARE * claim.epsilon)
    return attack(case, false_claim, float("inf"), settings, seed, np.random.default_rng([seed, number]), execution)


def _studied(folder: Path, calibrated: Configuration, certificate: Certificate) -> Usefulness:
    """Return what a study of both noises says; its files stand where the configurations look for them."""
    from dpaudit.cli.common.output import output_folder
    from dpaudit.cli.common.studies import conduct
    from dpaudit.study.study_file import read_study
    from dpaudit.study.writing import write_study
    from dpaudit.workflow import usefulness_in

    file = _copied("studies/insurance_plans.toml", folder)
    target = output_folder(folder / "study")
    write_study(conduct(read_study(file), file.parent, target), file.parent, target)
    return usefulness_in(calibrated, certificate)


def _copied(name: str, folder: Path) -> Path:
    """Return the path of a copy, in `folder`, of a bundled configuration; the user can change it and run it again."""
    from dpaudit.cli.common.output import write

    copy = folder / Path(name).name
    write(copy, files("dpaudit").joinpath("demo", name).read_text(encoding="utf-8"))
    return copy
