"""`dpaudit doctor`: checks of the installation itself, or of a plug-in."""

from typing import Annotated

import typer

from dpaudit.cli.common.exits import Exit
from dpaudit.cli.common.results import Result, resulting


@resulting
def doctor(
    plugin: Annotated[
        str | None,
        typer.Argument(metavar="[PLUGIN]", help="A mechanism or algorithm by name, or a configuration file."),
    ] = None,
) -> Result:
    """Check one plug-in, or the installation: packages, versions, engines, noise, auditor, plug-ins.

    The engines must agree with a closed form, the auditor must catch half the noise and pass the right one. A failed
    check ends with exit code 2. With PLUGIN, its contract is tested: members, samples, law and loss of a mechanism;
    trace, replays on one tape, conditions and coverage of an algorithm. A broken contract ends with exit code 1.
    """
    from dpaudit.cli.common.output import doing
    from dpaudit.gate.checks import checks_document
    from dpaudit.gate.plugin_check import check_plugin
    from dpaudit.gate.self_check import check_installation

    with doing("Checking the installation" if plugin is None else f"Checking {plugin}"):
        checks = check_installation() if plugin is None else check_plugin(plugin)
    failed = any(check.status == "failed" for check in checks)
    return Result(
        document=lambda: checks_document(checks),
        data=lambda: [check.to_dict() for check in checks],
        code=(Exit.USAGE if plugin is None else Exit.FINDING) if failed else Exit.PASS,
    )
