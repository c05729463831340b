"""`dpaudit doctor`: checks of the installation itself."""

import json
from dataclasses import asdict

from dpaudit.cli.common.exits import Exit, ending
from dpaudit.cli.common.options import Format, Output, OutputFormat
from dpaudit.cli.common.output import emit
from dpaudit.gate.self_check import check_installation
from dpaudit.gate.self_check_text import self_check_markdown, self_check_text


@ending
def doctor(style: OutputFormat = Format.TEXT, output: Output = None) -> Exit:
    """Check the installation: packages, versions, engines, noise, auditor, plug-ins.

    The engines must agree with a closed form, the auditor must catch half the noise and pass the right one. A failed
    check ends with exit code 2.
    """
    checks = check_installation()
    emit(
        lambda: self_check_text(checks),
        lambda: self_check_markdown(checks),
        lambda: json.dumps([asdict(check) for check in checks], indent=2, sort_keys=True),
        style,
        output,
    )
    return Exit.USAGE if any(check.status == "failed" for check in checks) else Exit.PASS
