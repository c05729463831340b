"""`dpaudit doctor`: checks of the installation itself, or of a plug-in."""

from dataclasses import asdict
from typing import Annotated

import typer

from dpaudit.cli.common.exits import Exit, ending
from dpaudit.cli.common.options import Format, Output, OutputFormat


@ending
def doctor(
    plugin: Annotated[
        str | None,
        typer.Argument(metavar="[PLUGIN]", help="A mechanism or algorithm by name, or a configuration file."),
    ] = None,
    style: OutputFormat = Format.TEXT,
    output: Output = None,
) -> Exit:
    """Check one plug-in, or the installation: packages, versions, engines, noise, auditor, plug-ins.

    The engines must agree with a closed form, the auditor must catch half the noise and pass the right one. A failed
    check ends with exit code 2. With PLUGIN, its contract is tested: members, samples, law and loss of a mechanism;
    trace, replays on one tape, conditions and coverage of an algorithm. A broken contract ends with exit code 1.
    """
    from dpaudit.cli.common.output import emit
    from dpaudit.gate.checks import installation_document, plugin_document
    from dpaudit.gate.plugin_check import check_plugin
    from dpaudit.gate.self_check import check_installation

    if plugin is not None:
        found = check_plugin(plugin)
        emit(
            lambda: plugin_document(found),
            lambda: [asdict(check) for check in found],
            style,
            output,
        )
        return Exit.FINDING if any(check.status == "failed" for check in found) else Exit.PASS
    checks = check_installation()
    emit(
        lambda: installation_document(checks),
        lambda: [asdict(check) for check in checks],
        style,
        output,
    )
    return Exit.USAGE if any(check.status == "failed" for check in checks) else Exit.PASS
