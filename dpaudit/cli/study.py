"""`dpaudit study`: contenders on one problem, their regret at equal certified epsilon."""

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from dpaudit.cli.common.exits import Exit, ending
from dpaudit.cli.common.options import Scheduler, flag, option


@ending
def study(
    config: Annotated[Path, typer.Argument(metavar="CONFIG", help="A TOML file: [study], [problem], [[contender]].")],
    output: Annotated[Path, typer.Option("--output", "-o", metavar="DIR", help="The folder to write to.")] = Path(
        "study"
    ),
    jobs: Annotated[int, option("--jobs", "J", "Processes to use.", min=1)] = 1,
    scheduler: Scheduler = None,
    *,
    resume: Annotated[bool, flag("--resume", "Take the cells that an earlier run finished.")] = False,
    quick: Annotated[bool, flag("--quick", "Replace settings by those of [study.quick].")] = False,
) -> Exit:
    """Measure what privacy costs in usefulness, at equal certified epsilon.

    Prints the files that it wrote, one a line. A cell that fails is a finding; its error stands in study.json.
    """
    from dpaudit.cli.common.output import note, output_folder, say
    from dpaudit.cli.common.studies import conduct
    from dpaudit.study.study_file import read_study
    from dpaudit.study.writing import write_study

    plan = read_study(config)
    if quick:
        plan = replace(plan, settings=plan.settings.quickly())
    folder = output_folder(output)
    outcome = conduct(plan, config.parent, folder, jobs=jobs, scheduler=scheduler, resume=resume)
    for path in write_study(outcome, config.parent, folder):
        say(str(path))
    for cell in outcome.failed:
        note(f"{cell.cell.label}, T = {cell.cell.horizon}, problem {cell.cell.problem}: {cell.error}")
    return Exit.FINDING if outcome.failed else Exit.PASS
