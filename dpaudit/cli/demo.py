"""`dpaudit demo`: proof, calibration, audit and report for one algorithm on bundled data."""

from dataclasses import replace
from importlib.resources import files
from pathlib import Path
from typing import Annotated

import numpy as np
import typer

from dpaudit.cli.common.exits import Exit, ending
from dpaudit.cli.common.output import output_folder, progress, show, write
from dpaudit.configuration.config import read_config
from dpaudit.render import story
from dpaudit.workflow import AuditExecution, attack, audits_in, audits_of, cases_of, certificate_of, write_report

_FALSE_SHARE = 0.4
"""The false claim of the fourth chapter, as a share of the true one."""


@ending
def demo(
    output: Annotated[Path, typer.Option("--output", "-o", metavar="DIR", help="The folder for the reports.")] = Path(
        "dpaudit-demo"
    ),
) -> Exit:
    """Tell the whole story in under a minute and write a report.

    CAPRI, a contextual bandit, chooses insurance plans for groups of patients: its claim is proved, its noise
    is measured against the claim, its code is attacked, and the attack is tried on a claim that is false.
    """
    folder = output_folder(output)
    paper, tight = (_copied(name, folder) for name in ("paper.toml", "tight.toml"))
    published = read_config(paper)
    first = certificate_of(published, published.audit.seed)
    show(story.on_paper(first))

    calibrated = read_config(tight)
    settings, seed = calibrated.audit, calibrated.audit.seed or 0
    second = certificate_of(calibrated, seed)
    show(story.needed(first, second))

    cases = cases_of(calibrated, settings.view)
    execution = AuditExecution(progress=progress)
    audits = audits_of(cases, second, settings, seed, execution, audits_in(calibrated))
    show(story.attacked(audits))

    false_claim = replace(second.claim, epsilon=_FALSE_SHARE * second.claim.epsilon)
    number, case = cases[0]
    rng = np.random.default_rng([seed, number])
    show(story.false_claim(attack(case, false_claim, float("inf"), settings, seed, rng, execution)))

    write_report(published, first, (), published.audit, published.audit.seed, output_folder(folder / "as-published"))
    files = write_report(calibrated, second, audits, settings, seed, folder)
    show(story.files((*files, folder / "as-published", paper, tight)))
    return Exit.PASS


def _copied(name: str, folder: Path) -> Path:
    """Return the path of a copy, in `folder`, of a bundled configuration; the user can change it and run it again."""
    write(folder / name, files("dpaudit").joinpath("demo", name).read_text(encoding="utf-8"))
    return folder / name
